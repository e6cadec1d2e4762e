// A timeline that one moves in: wheel, drag, pinch and keys; the slice under the pointer with its figures; search; choosing a
// kernel. Printed as a whole. Drawing: timeline-canvas.ts.
import { tooltipBox } from '../chart';
import { h, longName, uniqueId, type Child } from '../dom';
import * as format from '../format';
import type { KernelSelection } from '../section';
import { onTheme } from '../theme';
import { spentKind } from './criticalpath-parts';
import { TimelineCanvas, type Look } from './timeline-canvas';
import { clampView, firstWhere, isMerged, matchingNames, neighbour, sliceAt, stretchAt, totalsOf, zoomed, type TimelineModel } from './timeline-model';

const HOW = 'Arrow keys left and right move, plus and minus zoom, 0 shows all; up and down choose a lane, N and P the next and previous operation, Enter zooms to it, Escape leaves it.';
/** CSS pixels between the pointer and a slice that still is the one meant. */
const REACH = 3;
/** Zoom of one key press or button. */
const STEP = 0.6;

/** A timeline with its tools. `from`: id of the section, for the selection. */
export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas: TimelineCanvas;
  private readonly look: Look;
  private readonly box: HTMLElement;
  private readonly tip = h('div', { class: 'timeline-tip', hidden: true });
  private readonly chosen = h('div', { class: 'timeline-chosen', role: 'status', 'aria-live': 'polite' });
  private readonly found = h('span', { class: 'table-count', role: 'status' });
  private readonly search: HTMLInputElement;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private moved = 0;
  private pending = false;
  private width = 0;

  constructor(private readonly model: TimelineModel, private readonly selection: KernelSelection, private readonly from: string) {
    this.canvas = new TimelineCanvas(model);
    this.look = { view: { from: 0, to: Math.max(model.span, 1) }, matches: null, onlyPath: false, lane: -1, slice: -1 };
    this.search = h('input', { type: 'search', class: 'filter', placeholder: 'Find a kernel, copy or call', 'aria-label': 'Find in the timeline', autocomplete: 'off', spellcheck: 'false', oninput: () => this.find(this.search.value) });
    const how = uniqueId('timeline-how');
    this.box = h('div', { class: 'timeline-box', tabindex: 0, role: 'group', 'aria-label': 'Timeline', 'aria-describedby': how, onkeydown: (event: KeyboardEvent) => this.key(event) },
      h('div', { class: 'timeline-head' }, this.canvas.head), this.canvas.body, this.tip);
    this.element = h('div', { class: 'timeline' }, this.tools(), this.box, this.chosen, h('p', { class: 'muted timeline-how', id: how }, 'Drag to move. The wheel zooms with Ctrl held, or once the timeline has the focus. ', HOW));
    this.listen();
  }

  /** To be called when the element is in the page. */
  start(): void {
    new ResizeObserver(() => this.fit(this.box.clientWidth)).observe(this.box);
    this.fit(this.box.clientWidth || 600);
    onTheme(() => this.canvas.draw(this.look));  // at once: printing does not wait for a frame
    this.selection.onChange((kernel, from) => {
      if (from !== this.from) this.follow(kernel);
    });
    let kept = { ...this.look };
    window.addEventListener('beforeprint', () => {
      kept = { ...this.look };
      this.setView(0, this.model.span, true);
      this.fit(Math.min(690, this.width));
    });
    window.addEventListener('afterprint', () => {
      this.setView(kept.view.from, kept.view.to, true);
      this.fit(this.box.clientWidth);
    });
  }

  private tools(): HTMLElement {
    const button = (text: string, label: string, act: () => void): HTMLElement => h('button', { type: 'button', class: 'tool', 'aria-label': label, title: label, onclick: act }, text);
    const only = h('input', {
      type: 'checkbox', id: uniqueId('only-path'), onchange: () => {
        this.look.onlyPath = only.checked;
        this.redraw();
      },
    });
    return h('div', { class: 'timeline-tools table-tools' }, this.search, this.found,
      this.model.path ? h('label', { class: 'check' }, only, ' only the critical path') : null,
      h('span', { class: 'timeline-buttons' }, button('◀', 'Move left', () => this.pan(-0.4)), button('▶', 'Move right', () => this.pan(0.4)), button('−', 'Zoom out', () => this.zoom(1 / STEP)), button('+', 'Zoom in', () => this.zoom(STEP)), button('All', 'Show all', () => this.setView(0, this.model.span))));
  }

  private listen(): void {
    const { head, body } = this.canvas;
    for (const canvas of [head, body]) {
      canvas.addEventListener('pointerdown', (event) => this.down(event, canvas));
      canvas.addEventListener('pointermove', (event) => this.move(event, canvas));
      for (const name of ['pointerup', 'pointercancel'] as const) canvas.addEventListener(name, (event) => this.up(event, canvas));
      canvas.addEventListener('pointerleave', () => (this.tip.hidden = true));
      canvas.addEventListener('dblclick', (event) => this.zoom(STEP * STEP, this.canvas.timeAt(event.offsetX, this.look.view)));
      canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    }
  }

  private fit(width: number): void {
    if (width <= 0) return;
    this.width = width;
    this.canvas.resize(width);
    this.canvas.draw(this.look);
  }

  private redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.canvas.draw(this.look);
    });
  }

  private setView(from: number, to: number, now = false): void {
    this.look.view = clampView({ from, to }, this.model.span);
    this.element.dataset['from'] = String(this.look.view.from);
    this.element.dataset['to'] = String(this.look.view.to);
    if (now) this.canvas.draw(this.look);
    else this.redraw();
  }
  private pan(part: number): void {
    const { from, to } = this.look.view;
    this.setView(from + part * (to - from), to + part * (to - from));
  }
  private zoom(factor: number, about = (this.look.view.from + this.look.view.to) / 2): void {
    const view = zoomed(this.look.view, this.model.span, about, factor);
    this.setView(view.from, view.to);
  }

  private wheel(event: WheelEvent): void {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const focused = this.box.contains(document.activeElement);
    if (!sideways && !event.ctrlKey && !event.metaKey && !focused) return;  // the page scrolls
    event.preventDefault();
    if (sideways) this.pan((event.deltaX || event.deltaY) / this.canvas.room);
    else this.zoom(Math.exp(Math.min(Math.max(event.deltaY, -240), 240) / 400), this.canvas.timeAt(event.offsetX, this.look.view));
  }

  private down(event: PointerEvent, canvas: HTMLCanvasElement): void {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 1) this.moved = 0;
    canvas.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent, canvas: HTMLCanvasElement): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(event.offsetX, event.offsetY, canvas);
      return;
    }
    const { view } = this.look;
    const perPixel = (view.to - view.from) / this.canvas.room;
    const [one, two] = [...this.pointers.values()];
    if (one && two) {
      const other = before === one ? two : one;
      const now = Math.abs(event.offsetX - other.x), then = Math.abs(before.x - other.x);
      if (now > 4 && then > 4) this.zoom(then / now, this.canvas.timeAt((event.offsetX + other.x) / 2, view));
      this.moved += Infinity;
    } else {
      this.moved += Math.abs(event.offsetX - before.x);
      if (this.moved > REACH) {
        this.tip.hidden = true;
        this.setView(view.from - (event.offsetX - before.x) * perPixel, view.to - (event.offsetX - before.x) * perPixel);
      }
    }
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  }

  private up(event: PointerEvent, canvas: HTMLCanvasElement): void {
    if (!this.pointers.delete(event.pointerId) || event.type === 'pointercancel' || this.moved > REACH) return;
    if (canvas !== this.canvas.body) return;
    const lane = this.canvas.laneAt(event.offsetY);
    this.choose(lane, lane < 0 ? -1 : this.sliceUnder(lane, event.offsetX), false);
  }

  private sliceUnder(lane: number, x: number): number {
    const { view } = this.look;
    return sliceAt(this.model.lanes[lane]!, this.canvas.timeAt(x, view), (REACH * (view.to - view.from)) / this.canvas.room);
  }

  private hover(x: number, y: number, canvas: HTMLCanvasElement): void {
    let content: HTMLElement | null = null;
    if (x >= this.canvas.gutter && canvas === this.canvas.body) {
      const lane = this.canvas.laneAt(y);
      const slice = lane < 0 ? -1 : this.sliceUnder(lane, x);
      if (slice >= 0) content = this.figures(lane, slice);
    } else if (x >= this.canvas.gutter && this.canvas.onPath(y)) {
      const stretch = stretchAt(this.model.path!, this.canvas.timeAt(x, this.look.view));
      if (stretch >= 0) content = this.stretchFigures(stretch);
    }
    this.tip.hidden = content === null;
    if (content === null) return;
    this.tip.replaceChildren(content);
    const top = canvas.offsetTop + y + 18, left = Math.min(x + 12, this.width - this.tip.offsetWidth - 6);
    this.tip.style.transform = `translate(${Math.max(0, left)}px, ${top + this.tip.offsetHeight > this.box.scrollTop + this.box.clientHeight && y > this.tip.offsetHeight + 24 ? top - this.tip.offsetHeight - 30 : top}px)`;
  }

  /** What a slice is, in figures. */
  private figures(laneIndex: number, slice: number): HTMLElement {
    const lane = this.model.lanes[laneIndex]!;
    const length = lane.end[slice]! - lane.start[slice]!, count = lane.count[slice]!, busy = lane.busyOf[slice]!;
    const merged = isMerged(this.model, lane, slice);
    const rows: [string, Child][] = [['lane', lane.label], ['start', exact(lane.start[slice]!)], ['duration', exact(length)]];
    if (merged) rows.push(['merged', `${format.counted(count, 'operation')}, most time in this name`], ['busy', `${exact(busy)}${length > 0 ? ` (${format.percent(busy / length)})` : ''}`]);
    else if (count > 1) rows.push(['with calls inside', format.count(count)]);
    if (this.model.path) rows.push(['on the critical path', lane.pathOf[slice]! === 0 ? 'no' : exact(lane.pathOf[slice]!)]);
    return tooltipBox(longName(this.model.names[lane.name[slice]!]!), rows);
  }

  private stretchFigures(index: number): HTMLElement {
    const stretch = this.model.path![index]!;
    const kind = spentKind(this.model.spentKinds[stretch.spent]!);
    const length = stretch.to - stretch.from;
    const rows: [string, Child][] = [['from', exact(stretch.from)], ['length', exact(length)], ['lane', this.model.lanes[stretch.lane]?.label ?? 'none that is shown']];
    if (stretch.time < length) rows.push(['merged', `${exact(stretch.time)} of it is ${kind.title}`]);
    return tooltipBox(`critical path: ${kind.title}`, rows);
  }

  private choose(lane: number, slice: number, intoView: boolean): void {
    Object.assign(this.look, { lane, slice });
    this.chosen.replaceChildren();
    const row = this.model.lanes[lane];
    if (row && slice >= 0) {
      const name = row.name[slice]!;
      this.chosen.append(this.figures(lane, slice));
      if (this.model.kinds[name] === 'dispatch') this.selection.select(this.model.names[name]!, this.from);
      if (intoView) this.show(row.start[slice]!, row.end[slice]!);
    } else if (row) {
      this.chosen.append(`${row.label}: ${format.counted(row.operations, 'operation')}, ${format.duration(row.busy)} busy, ${format.duration(row.path)} on the critical path`);
    }
    if (intoView && row) this.scrollTo(lane);
    this.redraw();
  }

  /** Moves the view so that it holds a time, as little as needed. */
  private show(from: number, to: number): void {
    const { view } = this.look;
    if (from >= view.from && to <= view.to) return;
    const half = (view.to - view.from) / 2, middle = (from + to) / 2;
    this.setView(middle - half, middle + half);
  }
  private scrollTo(lane: number): void {
    const { top, height } = this.canvas.laneBox(lane);
    const above = this.canvas.head.clientHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + height + above > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + height + above - this.box.clientHeight;
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.box || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': () => this.zoom(STEP), '=': () => this.zoom(STEP), '-': () => this.zoom(1 / STEP),
      '0': () => this.setView(0, this.model.span), Home: () => this.setView(0, this.look.view.to - this.look.view.from),
      End: () => this.setView(this.model.span - (this.look.view.to - this.look.view.from), this.model.span),
      ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1), n: () => this.next(1), p: () => this.next(-1), Enter: () => this.zoomToChosen(),
      Escape: () => {
        this.choose(-1, -1, false);
        this.box.blur();
      },
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  private step(by: number): void {
    const lane = Math.min(Math.max(this.look.lane + by, 0), this.model.lanes.length - 1);
    if (lane >= 0) this.choose(lane, -1, true);
  }

  /** The next operation of the lane, or of what was searched for; from the begin of the view at first. */
  private next(step: 1 | -1): void {
    const lane = Math.max(this.look.lane, 0), row = this.model.lanes[lane];
    if (!row) return;
    const { matches, view } = this.look;
    const at = this.look.slice >= 0 ? this.look.slice : firstWhere(row.size, (i) => row.start[i]! >= view.from) - (step > 0 ? 1 : 0);
    const slice = neighbour(row, at, step, (name) => matches === null || matches[name] === 1);
    if (slice >= 0) this.choose(lane, slice, true);
  }

  private zoomToChosen(): void {
    const row = this.model.lanes[this.look.lane];
    if (!row || this.look.slice < 0) return;
    const from = row.start[this.look.slice]!, to = row.end[this.look.slice]!, room = Math.max((to - from) * 0.6, 10);
    this.setView(from - room, to + room);
  }

  private find(text: string): void {
    this.look.matches = matchingNames(this.model.names, text);
    this.found.textContent = '';
    if (this.look.matches) {
      const { operations, inside, busy, path, merged } = totalsOf(this.model, this.look.matches);
      this.found.textContent = `${merged ? 'about ' : ''}${format.counted(operations, 'operation')}${inside > 0 ? ` (with ${format.counted(inside, 'call')} inside)` : ''}, ${format.duration(busy)} busy, ${format.duration(path)} on the path${merged ? ' (merged slices count for the name with the most time)' : ''}`;
    }
    this.redraw();
  }

  /** Another section chose a kernel, or none. */
  private follow(kernel: string | null): void {
    this.search.value = kernel ?? '';
    this.find(this.search.value);
  }
}

/** A time to the nanosecond beside its short form: "10.92 us (10,921 ns)". */
function exact(ns: number): string {
  const short = format.duration(ns);
  return short.endsWith(' ns') ? short : `${short} (${format.count(ns)} ns)`;
}
