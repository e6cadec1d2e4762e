// Two recordings against each other: a verdict with its interval per kernel, the gate, what only one side has.
import { h, longName, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import * as format from '../format';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { forestChart, type Tone } from './forest';
import { changeText, gateTone, sameRange } from './gate';
import { factList } from './summary';

type Comparison = DocumentTypes['comparison'];
type Kernel = Comparison['kernels'][number];

const toneOf = (verdict: string | null): Tone => (verdict === 'FASTER' ? 'good' : verdict === 'SLOWER' ? 'bad' : verdict === 'UNDECIDED' ? 'warn' : 'plain');

/** A verdict of two sets of samples as a coloured word. */
export function outcomeBadge(verdict: string, tone: Tone = toneOf(verdict)): HTMLElement {
  return h('span', { class: `badge badge-${tone}` }, verdict);
}

const TIMES: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** A measured value in the unit of the document; a time in the unit that suits. */
export function measured(value: number, unit: string | null): string {
  const scale = unit === null ? undefined : TIMES[unit];
  return scale !== undefined ? format.duration(value * scale) : `${format.number(value)}${unit ? ` ${unit}` : ''}`;
}

function gate(document: Comparison): HTMLElement {
  const { options } = document;
  const floor = options.min_share > 0 ? ` Kernels below a share of ${format.percent(options.min_share)} on both sides cannot fail the gate.` : '';
  return h('p', { class: `result ${gateTone(document)}` }, h('strong', {}, document.sentence),
    `. A difference up to ${changeText(options.threshold)} counts as the same; confidence ${format.percent(options.confidence)} of all ${format.counted(document.comparisons, 'comparison')} together.${floor}`);
}

/** All kernels together: ratio, interval and verdict; it can fail the gate as a kernel can. */
function together(document: Comparison, { value }: Context): readonly (readonly [string, Child])[] {
  const { total } = document;
  if (!total) return [];
  if (total.estimate) return [['All kernels together, B / A', [value(total.ratio, (ratio) => format.fixed(ratio, 3), document.missing, 'total.ratio'), ' (estimated from medians: no verdict)']]];
  return [['All kernels together, B / A', [value(total.ratio, (ratio) => format.fixed(ratio, 3), document.missing, 'total.ratio'), ' (', value(total.interval, ({ low, high }) => `${format.fixed(low, 3)} to ${format.fixed(high, 3)}`, document.missing, 'total.interval'), ') ',
    total.verdict ? outcomeBadge(total.verdict) : '', total.regression ? h('span', { class: 'regression' }, ' fails') : null]]];
}

function table(document: Comparison, id: string, { value }: Context): HTMLElement {
  return createTable<Kernel>({
    id, caption: 'Compared kernels', rows: document.kernels, filter: (kernel) => `${kernel.name} ${kernel.verdict ?? ''}`, filterLabel: 'Filter by name or verdict',
    columns: [
      { title: 'Kernel', wide: true, key: (kernel) => kernel.name, show: (kernel) => [longName(kernel.name || 'the samples'), kernel.name_b ? h('div', { class: 'muted' }, 'in B: ', longName(kernel.name_b)) : null] },
      { title: 'Verdict', key: (kernel) => kernel.verdict, show: (kernel) => [outcomeBadge(kernel.verdict ?? format.UNKNOWN), kernel.regression ? h('div', { class: 'regression' }, kernel.gated ? 'fails' : 'regression') : null, kernel.gated ? null : h('div', { class: 'muted', title: 'its share is below --min-share on both sides' }, 'not gated')] },
      { title: 'B / A', numeric: true, key: (kernel) => kernel.ratio, show: (kernel) => value(kernel.ratio, (ratio) => format.fixed(ratio, 3), document.missing, `kernels[${document.kernels.indexOf(kernel)}].ratio`) },
      { title: 'Interval', numeric: true, show: (kernel) => value(kernel.interval, ({ low, high }) => `${format.fixed(low, 3)} to ${format.fixed(high, 3)}`, document.missing, `kernels[${document.kernels.indexOf(kernel)}].interval`) },
      { title: 'A', hint: 'median of A', numeric: true, key: (kernel) => kernel.a.median, show: (kernel) => value(kernel.a.median, (median) => measured(median, document.unit)) },
      { title: 'B', hint: 'median of B', numeric: true, key: (kernel) => kernel.b.median, show: (kernel) => value(kernel.b.median, (median) => measured(median, document.unit)) },
      { title: 'Samples', hint: 'of A and of B', numeric: true, key: (kernel) => kernel.a.samples, show: (kernel) => `${kernel.a.samples}, ${kernel.b.samples}` },
      { title: 'To decide', hint: 'samples that would decide it, of each side', numeric: true, key: (kernel) => kernel.samples_to_decide, show: (kernel) => (kernel.verdict === 'UNDECIDED' ? value(kernel.samples_to_decide, format.count) : '') },
    ],
  }).element;
}

export const comparison: Section = {
  id: 'comparison',
  title: 'Comparison',
  applies: (docs) => docs.has('comparison'),
  mount(host, context) {
    context.docs.every('comparison').forEach(({ document, file }, index) => {
      if (index > 0) host.append(h('h3', {}, file ?? `Comparison ${index + 1}`));
      host.append(gate(document));
      const side = (name: 'a' | 'b'): Child => `${document.environment[name].length === 1 ? document.environment[name][0] : format.counted(document.environment[name].length, 'file')}, samples are ${document[name].samples_are === 'dispatch' ? 'dispatches' : `${document[name].samples_are}s`}`;
      host.append(factList([['A', side('a')], ['B', side('b')], ...together(document, context)]));
      forestChart(host, {
        id: `comparison-${index}`, axis: `B / A (${document.larger_is_better ? 'right of 1: B is better' : 'left of 1: B is faster'})`, same: sameRange(document.options.threshold),
        label: `Ratio of B to A with its interval for ${format.counted(Math.min(document.kernels.length, 40), 'kernel')}`,
        rows: document.kernels.slice(0, 40).map((kernel) => ({ label: kernel.name || 'the samples', ratio: kernel.ratio, low: kernel.interval?.low ?? null, high: kernel.interval?.high ?? null, tone: toneOf(kernel.verdict), verdict: kernel.verdict ?? format.UNKNOWN, tip: [] })),
      }, context);
      host.append(table(document, `comparison-${index}-table`, context));
      for (const [name, list] of [['A', document.only_in_a], ['B', document.only_in_b]] as const)
        if (list.length > 0) host.append(h('h4', {}, `Only in ${name}`), h('ul', {}, list.map((kernel) => h('li', {}, longName(kernel.name), ` ${format.known(kernel.median, (median) => measured(median, document.unit))}, ${format.counted(kernel.samples, 'sample')}`))));
      if (document.notes.length > 0) host.append(h('h4', {}, 'Notes'), h('ul', {}, document.notes.map((note) => h('li', {}, note))));
    });
  },
};
