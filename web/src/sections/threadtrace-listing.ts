// The two sides of a thread trace: instructions and source lines with their cycles, linked both ways.
import { h, uniqueId, type Child } from '../dom';
import * as format from '../format';
import { filesByCost, heat, hottest, lineOfRow, lineSums, lineText, listing, sourceEntries, waitsOf, type HeatKind, type LineSums, type ListingEntry, type SourceEntry, type TracedKernel } from './threadtrace-model';
import { VirtualList, type ListOptions } from './threadtrace-list';

const HEATS: { kind: HeatKind; title: string; meaning: string }[] = [
  { kind: 'cost', title: 'all cycles', meaning: 'latency and idle before it' },
  { kind: 'stall', title: 'stall cycles', meaning: 'not issued' },
  { kind: 'wait_caused', title: 'waits caused', meaning: 'cycles that waits spent on its result' },
];

/** Instructions beside their source. */
export class ThreadTraceListing {
  readonly element: HTMLElement;
  private readonly entries: ListingEntry[];
  private readonly entryOf: number[] = [];
  private readonly sums: LineSums[];
  private readonly files: { source: number; cost: number }[];
  private readonly code: VirtualList;
  private readonly source: VirtualList | null;
  private readonly detail = h('div', { class: 'trace-detail', role: 'status', 'aria-live': 'polite' });
  private heatKind: HeatKind = 'cost';
  private most = 0;
  private mostOfLine = 0;
  private lines: SourceEntry[] = [];
  private file: HTMLSelectElement | null = null;

  constructor(private readonly kernel: TracedKernel) {
    this.entries = listing(kernel);
    this.entries.forEach((entry, index) => entry.label === null && (this.entryOf[entry.place] = index));
    this.sums = lineSums(kernel);
    this.files = filesByCost(kernel, this.sums);
    this.measure();
    this.code = new VirtualList(this.codeOptions());
    this.source = this.files.length > 0 ? new VirtualList(this.sourceOptions(this.files[0]!.source)) : null;
    this.element = this.build();
  }

  private build(): HTMLElement {
    const choose = h('select', {
      'aria-label': 'Heat shows', onchange: () => {
        this.heatKind = choose.value as HeatKind;
        this.measure();
        this.code.draw();
        this.source?.draw();
      },
    }, HEATS.map((one) => h('option', { value: one.kind, title: one.meaning }, `Heat: ${one.title}`)));
    const next = h('button', { type: 'button', class: 'tool', onclick: () => this.nextHot() }, 'Next hot instruction');
    const codeSide = h('div', { class: 'trace-side' }, h('div', { class: 'trace-title' }, 'Instructions', h('span', { class: 'muted' }, 'share · stall of it · hits')), this.code.element);
    if (this.source === null) return h('div', { class: 'trace' }, h('div', { class: 'table-tools' }, choose, next), h('div', { class: 'trace-sides alone' }, codeSide), this.detail);
    this.file = h('select', { 'aria-label': 'Source file', onchange: () => this.showFile(Number(this.file!.value), true) },
      this.files.map(({ source }) => h('option', { value: source, title: this.kernel.sources?.[source]?.path }, this.kernel.sources?.[source]?.path.split('/').pop() ?? '?')));
    const sourceSide = h('div', { class: 'trace-side' }, h('div', { class: 'trace-title' }, 'Source', this.file), this.source.element);
    const sides = h('div', { class: 'trace-sides', 'data-side': 'code' }, codeSide, sourceSide);
    return h('div', { class: 'trace' }, h('div', { class: 'table-tools' }, choose, next), tabs(sides, [['code', 'Instructions', codeSide], ['source', 'Source', sourceSide]]), sides, this.detail);
  }

  private measure(): void {
    const values = this.kernel.rows[this.heatKind];
    this.most = values.reduce((most, value) => Math.max(most, value), 0);
    this.mostOfLine = this.sums.reduce((most, sum) => Math.max(most, sum[this.heatKind]), 0);
  }

  /** "12.3 %" of what the kernel has in all; its own sum for waits. */
  private share(cycles: number): string {
    const whole = this.kernel.cycles.cost;
    if (cycles === 0 || whole <= 0) return '';
    return cycles / whole < 0.0005 ? '< 0.1 %' : format.percent(cycles / whole);
  }

  private heatCell(value: number, most: number): HTMLElement {
    const part = heat(value, most);
    return h('span', { class: 'heat num', style: part > 0 ? `--heat:${(100 * part).toFixed(1)}%` : null }, this.share(value));
  }

  private codeOptions(): ListOptions {
    const { rows } = this.kernel;
    return {
      label: 'Instructions with their share of the cycles', size: this.entries.length,
      choosable: (index) => this.entries[index]!.label === null,
      line: (index, element): Child => {
        const entry = this.entries[index]!;
        if (entry.label !== null) {
          element.classList.add('label');
          return h('span', { class: 'mono' }, `${entry.label}:`);
        }
        const { place } = entry;
        if (rows.hits[place] === 0) element.classList.add('cold');
        const cost = rows.cost[place]!, stall = rows.stall[place]!;
        return [
          this.heatCell(rows[this.heatKind][place]!, this.most),
          h('span', { class: 'num stall' }, cost > 0 && stall > 0 ? format.percent(stall / cost) : ''),
          h('span', { class: 'num hits' }, rows.hits[place] ? format.count(rows.hits[place]!) : ''),
          h('span', { class: `class ${classGroup(rows.class[place]!)}`, title: format.words(rows.class[place]!) }),
          h('span', { class: 'mono text', title: rows.text[place] }, rows.text[place]),
        ];
      },
      onChoose: (index) => this.chooseRow(this.entries[index]!.place),
      onHover: (index) => {
        const entry = index < 0 ? undefined : this.entries[index];
        const line = entry && entry.label === null ? lineOfRow(this.kernel, entry.place) : -1;
        this.source?.hover(line < 0 ? [] : this.lines.flatMap((one, at) => (one.line === line ? [at] : [])));
      },
    };
  }

  private sourceOptions(source: number): ListOptions {
    this.lines = sourceEntries(this.kernel, source);
    return {
      label: `Source lines of ${this.kernel.sources?.[source]?.path ?? 'an unknown file'}`, size: this.lines.length,
      choosable: (index) => this.lines[index]!.line >= 0,
      line: (index, element): Child => {
        const { number, text, line } = this.lines[index]!;
        if (number < 0) {
          element.classList.add('label');
          return h('span', { class: 'muted' }, '…');
        }
        const sum = line < 0 ? null : this.sums[line]!;
        if (sum === null) element.classList.add('cold');
        return [
          this.heatCell(sum?.[this.heatKind] ?? 0, this.mostOfLine),
          h('span', { class: 'num lineno' }, number === 0 ? '' : number),
          text === null ? h('span', { class: 'unknown' }, number === 0 ? 'instructions without a line' : 'not in the trace’s copy') : h('span', { class: 'mono text', title: text }, text),
        ];
      },
      onChoose: (index) => this.chooseLine(this.lines[index]!.line),
      onHover: (index) => {
        const line = index < 0 ? -1 : this.lines[index]!.line;
        this.code.hover(line < 0 ? [] : this.sums[line]!.rows.map((place) => this.entryOf[place]!));
      },
    };
  }

  private showFile(source: number, told: boolean): void {
    if (this.file && !told) this.file.value = String(source);
    this.source?.reset(this.sourceOptions(source));
  }

  /** An instruction was chosen: its source line, its figures, its waits. */
  private chooseRow(place: number): void {
    const line = lineOfRow(this.kernel, place);
    if (this.source && line >= 0) {
      const source = this.kernel.lines[line]![0]!;
      if (!this.lines.some((one) => one.line === line)) this.showFile(source, false);
      this.source.mark(this.lines.flatMap((one, at) => (one.line === line ? [at] : [])), true);
    } else this.source?.mark([], false);
    this.code.mark([], false);
    this.describeRow(place);
  }

  private chooseLine(line: number): void {
    if (line < 0) return;
    const sum = this.sums[line]!;
    this.code.mark(sum.rows.map((place) => this.entryOf[place]!), true);
    this.source?.mark([], false);
    this.detail.replaceChildren(h('strong', {}, lineText(this.kernel, line, true)), h('p', {}, `${format.counted(sum.rows.length, 'instruction')}: ${format.count(sum.cost)} cycles${this.share(sum.cost) ? ` (${this.share(sum.cost)})` : ''}, ${format.count(sum.stall)} of them stalled; waits for its results took ${format.count(sum.wait_caused)}.`));
  }

  private describeRow(place: number): void {
    const { rows, chains } = this.kernel;
    const chain = rows.chain[place];
    const figures = ([['hits', rows.hits], ['latency', rows.latency], ['stall', rows.stall], ['idle before it', rows.idle], ['cost', rows.cost], ['waits caused', rows.wait_caused]] as const)
      .map(([title, values]) => h('span', { class: 'figure' }, h('span', { class: 'muted' }, title), ` ${format.count(values[place]!)}`));
    const { causes, waits } = waitsOf(this.kernel, place);
    const others = (title: string, list: [number, number][]): Child => list.length === 0 ? null : h('p', {}, `${title} `, list.slice(0, 6).map(([other, cycles], i) => [i > 0 ? ', ' : '', this.jump(other), h('span', { class: 'muted' }, ` ${format.count(cycles)} cycles`)]), list.length > 6 ? ` and ${list.length - 6} more` : null);
    this.detail.replaceChildren(
      h('strong', { class: 'mono' }, rows.text[place]), h('span', { class: 'muted' }, ` ${format.words(rows.class[place]!)}, at 0x${rows.vaddr[place]!.toString(16)} of code object ${rows.code_object[place]}`),
      h('p', { class: 'trace-figures' }, figures, h('span', { class: 'muted' }, ' cycles of the traced waves')),
      chain === null || chain === undefined ? h('p', { class: 'muted' }, 'No source line is known for it.')
        : h('p', {}, h('span', { class: 'muted' }, 'From '), chains[chain]!.map((line, i) => [i > 0 ? h('span', { class: 'muted' }, ' inlined at ') : '', h('code', {}, lineText(this.kernel, line))])),
      ...([others('Waited for', causes), others('Waited for by', waits)].filter((one) => one !== null) as Node[]));
  }

  private jump(place: number): HTMLElement {
    if (place < 0) return h('span', { class: 'muted' }, 'an instruction that is not listed');
    return h('button', { type: 'button', class: 'jump mono', onclick: () => this.code.choose(this.entryOf[place]!, true) }, this.kernel.rows.text[place]);
  }

  /** Chooses the next of the 20 hottest, from the top again behind the last. */
  private nextHot(): void {
    const hot = hottest(this.kernel, this.heatKind, 20);
    const at = hot.findIndex((place) => this.entryOf[place] === this.code.current);
    const place = hot[(at + 1) % Math.max(hot.length, 1)];
    if (place !== undefined) this.code.choose(this.entryOf[place]!, true);
  }
}

/** Tabs of the two sides, for narrow screens. */
function tabs(sides: HTMLElement, entries: [string, string, HTMLElement][]): HTMLElement {
  const group = uniqueId('tab');
  const buttons = entries.map(([key, title]) => h('button', {
    type: 'button', role: 'tab', id: `${group}-${key}`, 'aria-selected': String(key === sides.dataset['side']), onclick: () => show(key),
    onkeydown: (event: KeyboardEvent) => {
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      const other = entries[(entries.findIndex(([one]) => one === key) + 1) % entries.length]![0];
      show(other);
      document.getElementById(`${group}-${other}`)?.focus();
    },
  }, title));
  const show = (key: string): void => {
    sides.dataset['side'] = key;
    buttons.forEach((button, i) => button.setAttribute('aria-selected', String(entries[i]![0] === key)));
  };
  for (const [key, , side] of entries) side.dataset['name'] = key;
  return h('div', { class: 'trace-tabs', role: 'tablist', 'aria-label': 'Sides' }, buttons);
}

/** Classes that have a colour in common. */
function classGroup(name: string): string {
  if (/^(vmem|scratch|smem)/.test(name)) return 'memory';
  if (name === 'waitcnt' || name === 'barrier') return 'waits';
  if (name === 'valu' || name === 'matrix') return 'vector';
  return name === 'lds' ? 'lds' : 'rest';
}
