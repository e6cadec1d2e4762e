// A list of many lines of which only those in view are in the page: fixed height of lines, keys, one chosen line, lines that are
// marked. Used for the two sides of a thread trace.
import { h, uniqueId, type Child } from '../dom';

/** CSS pixels of a line. */
export const LINE = 21;
/** Lines drawn beyond each end of the view. */
const MARGIN = 8;

export interface ListOptions {
  label: string;
  size: number;
  /** What a line holds; also sets its class and style. */
  line: (index: number, element: HTMLElement) => Child;
  /** Whether a line can be chosen. */
  choosable: (index: number) => boolean;
  onChoose: (index: number) => void;
  onHover: (index: number) => void; ///< -1: none
}

/** The list and what it shows. */
export class VirtualList {
  readonly element: HTMLElement;
  private readonly inner = h('div', { class: 'vlist-inner' });
  private readonly id = uniqueId('vlist');
  private options: ListOptions;
  private chosen = -1;
  private marked: ReadonlySet<number> = new Set();
  private hovered: ReadonlySet<number> = new Set();

  constructor(options: ListOptions) {
    this.options = options;
    this.element = h('div', { class: 'vlist', tabindex: 0, role: 'listbox', 'aria-label': options.label, onscroll: () => this.draw(), onkeydown: (event: KeyboardEvent) => this.key(event) }, this.inner);
    this.inner.addEventListener('click', (event) => this.choose(this.indexOf(event.target), true));
    this.inner.addEventListener('pointermove', (event) => this.options.onHover(this.indexOf(event.target)));
    this.inner.addEventListener('pointerleave', () => this.options.onHover(-1));
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.reset(options);
  }

  /** Other lines, from the top. */
  reset(options: ListOptions): void {
    this.options = options;
    this.chosen = -1;
    this.marked = new Set();
    this.inner.style.height = `${options.size * LINE}px`;
    this.element.style.height = `${options.size * LINE + 2}px`;  // at most what the style sheet allows
    this.element.setAttribute('aria-label', options.label);
    this.element.scrollTop = 0;
    this.draw();
  }

  /** Chooses a line as a click does. `tell`: calls onChoose. */
  choose(index: number, tell: boolean): void {
    if (index < 0 || index >= this.options.size || !this.options.choosable(index)) return;
    this.chosen = index;
    this.reveal(index);
    this.draw();
    if (tell) this.options.onChoose(index);
  }
  /** Marks lines, and shows the first of them unless one is in view. */
  mark(indices: readonly number[], reveal: boolean): void {
    this.marked = new Set(indices);
    const [first, past] = this.inView();
    if (reveal && indices.length > 0 && !indices.some((index) => index >= first && index < past)) this.reveal(indices[0]!, true);
    this.draw();
  }
  /** Lines that go with what the pointer is over on the other side. */
  hover(indices: readonly number[]): void {
    if (indices.length === 0 && this.hovered.size === 0) return;
    this.hovered = new Set(indices);
    this.draw();
  }
  get current(): number {
    return this.chosen;
  }

  private inView(): [number, number] {
    const first = Math.floor(this.element.scrollTop / LINE);
    return [first, first + Math.ceil((this.element.clientHeight || 400) / LINE)];
  }

  private reveal(index: number, middle = false): void {
    const height = this.element.clientHeight, top = index * LINE;
    if (middle) this.element.scrollTop = top - height / 2 + LINE;
    else if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + LINE > this.element.scrollTop + height) this.element.scrollTop = top + LINE - height;
  }

  private indexOf(target: EventTarget | null): number {
    const line = target instanceof Element ? target.closest<HTMLElement>('[data-line]') : null;
    return line ? Number(line.dataset['line']) : -1;
  }

  /** Draws what is in view anew. */
  draw(): void {
    const [first, past] = this.inView();
    const from = Math.max(0, first - MARGIN), to = Math.min(this.options.size, past + MARGIN);
    const lines: HTMLElement[] = [];
    for (let index = from; index < to; ++index) {
      const choosable = this.options.choosable(index);
      const line = h('div', { class: 'vline', 'data-line': index, style: `top:${index * LINE}px`, ...(choosable ? { role: 'option', id: `${this.id}-${index}`, 'aria-selected': String(index === this.chosen), 'aria-posinset': index + 1, 'aria-setsize': this.options.size } : { role: 'presentation' }) });
      const content = this.options.line(index, line);
      line.append(...([content].flat(3) as (Node | string)[]).filter((one) => one !== null && one !== undefined));
      line.toggleAttribute('data-marked', this.marked.has(index));
      line.toggleAttribute('data-hovered', this.hovered.has(index));
      lines.push(line);
    }
    this.inner.replaceChildren(...lines);
    const shown = this.chosen >= from && this.chosen < to;
    if (shown) this.element.setAttribute('aria-activedescendant', `${this.id}-${this.chosen}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / LINE) - 1), last = this.options.size - 1;
    const at = this.chosen < 0 ? Math.floor(this.element.scrollTop / LINE) - 1 : this.chosen;
    const goals: Record<string, [number, 1 | -1]> = {
      ArrowDown: [at + 1, 1], ArrowUp: [at - 1, -1], PageDown: [Math.min(at + page, last), -1], PageUp: [Math.max(at - page, 0), 1], Home: [0, 1], End: [last, -1],
    };
    const goal = goals[event.key];
    if (!goal) return;
    event.preventDefault();
    let [index, step] = goal;
    while (index >= 0 && index <= last && !this.options.choosable(index)) index += step;
    this.choose(index, true);
  }
}
