// One verdict per kernel, in words: the figures it rests on with their thresholds, what speaks against it, the runner-up, what could be
// gained, the measurement that would settle what is open, advice, and how the verdict changed with every source of data.
import { h, longName, type Child } from '../dom';
import type { Documents, DocumentTypes } from '../documents';
import * as format from '../format';
import type { Section } from '../section';
import { outcomeBadge } from './comparison';

export type Bottlenecks = NonNullable<DocumentTypes['analysis']['bottlenecks']>;
export type Verdict = Bottlenecks['kernels'][number];
type Evidence = Verdict['evidence'][number];

/** The verdicts of the page: those of the analysis, else those of the roofline. */
export function bottlenecksOf(docs: Documents): Bottlenecks | null {
  return docs.first('analysis')?.bottlenecks ?? (docs.companion('roofline')?.bottlenecks as Bottlenecks | null | undefined) ?? null;
}

const KINDS: Record<string, string> = {
  'memory-bandwidth-bound': 'memory', 'latency-bound': 'latency', 'under-occupied': 'occupancy', 'divergence-limited': 'divergence',
  'compute-throughput-limited': 'compute', 'launch-bound': 'launch', 'insufficient-data': 'unsure',
};

/** The verdict as a coloured word. */
export function verdictBadge(verdict: string, label: string): HTMLElement {
  return h('span', { class: `badge badge-${KINDS[verdict] ?? 'unsure'}` }, label);
}

/** A figure of a feature in its unit: shares as percent, times and bytes scaled. */
export function featureValue(value: number, unit: string): string {
  if (unit === 'share') return format.percent(value);
  if (unit === 'ns') return format.duration(value);
  if (unit === 'bytes') return format.bytes(value);
  return unit === 'count' || unit === 'ratio' ? format.number(value) : `${format.number(value)} ${unit}`;
}

function evidenceTable(rows: readonly Evidence[]): HTMLElement {
  return h('div', { class: 'table-box', tabindex: 0 }, h('table', { class: 'data evidence' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Figure'), h('th', { scope: 'col', class: 'num' }, 'Value'), h('th', { scope: 'col', class: 'num' }, 'Threshold'), h('th', { scope: 'col' }, 'Why this threshold'), h('th', { scope: 'col' }, 'Where it is from'))),
    h('tbody', {}, rows.map((row) => h('tr', {}, h('td', {}, row.label), h('td', { class: 'num' }, featureValue(row.value, row.unit)),
      h('td', { class: 'num' }, `${row.comparison === 'at_least' ? '≥' : row.comparison === 'below' ? '<' : format.words(row.comparison)} ${featureValue(row.threshold, row.unit)}`), h('td', { class: 'why' }, row.why), h('td', { class: 'why' }, row.from))))));
}

/** The summary without the verdict's own name, which stands beside it. */
export function summaryText(kernel: Verdict): string {
  return kernel.summary.startsWith(`${kernel.label}: `) ? kernel.summary.slice(kernel.label.length + 2) : kernel.summary;
}

function part(title: string, ...content: Child[]): HTMLElement {
  return h('div', { class: 'part' }, h('h4', {}, title), content);
}

function gain(bound: NonNullable<Verdict['bound']>): HTMLElement {
  const words = [bound.kernel_factor === null ? 'In the kernel: unknown.' : `In the kernel: at most ${format.times(bound.kernel_factor)}.`,
    bound.end_to_end_ns === null ? 'In the whole run: unknown.' : `In the whole run: at most ${format.duration(bound.end_to_end_ns)}${bound.end_to_end_share === null ? '' : `, ${format.percent(bound.end_to_end_share)}`}.`];
  return part('What could be gained at most', h('p', {}, words.join(' ')), h('ul', {}, bound.parts.map((one) => h('li', {}, h('span', { class: 'muted' }, `${one.from}: `), one.text)), bound.missing.map((one) => h('li', { class: 'muted' }, `${one.field}: ${one.reason}`))));
}

function label(all: Bottlenecks, verdict: string): string {
  return all.kernels.find((kernel) => kernel.verdict === verdict)?.label ?? verdict.replaceAll('-', ' ');
}

/** All that is known about a verdict. */
export function verdictDetails(kernel: Verdict, all: Bottlenecks): HTMLElement {
  const next = kernel.next;
  const history = kernel.history.filter((step, index) => index === 0 || step.change !== null);
  return h('div', { class: 'verdict' },
    kernel.evidence.length > 0 ? part('It rests on', evidenceTable(kernel.evidence)) : part('It rests on', h('p', { class: 'muted' }, 'no rule held')),
    kernel.against.length > 0 ? part('What speaks against it', evidenceTable(kernel.against)) : null,
    kernel.cross_checks.length > 0 ? part('The sources against each other', h('ul', {}, kernel.cross_checks.map((check) => h('li', {}, outcomeBadge(check.agrees ? 'agree' : 'contradict', check.agrees ? 'good' : 'bad'), ` ${check.text}`)))) : null,
    kernel.runner_up ? part('Runner-up', h('p', {}, `${label(all, kernel.runner_up)} (${scoreOf(kernel, kernel.runner_up)})`)) : null,
    kernel.confidence_reasons.length > 0 ? part(`Why the confidence is ${kernel.confidence}`, h('ul', {}, kernel.confidence_reasons.map((reason) => h('li', {}, reason)))) : null,
    kernel.bound ? gain(kernel.bound) : null,
    next ? part('The next measurement', h('p', {}, next.command ? h('code', {}, next.command) : null, ` ${next.why}`)) : null,
    kernel.advice.length > 0 ? part('Advice', h('ul', {}, kernel.advice.map((one) => h('li', {}, one.text, one.lines.length > 0 ? h('div', {}, one.lines.map((line) => h('code', { class: 'field' }, lineText(line)))) : null)))) : null,
    history.length > 1 ? part('What each source of data changed', h('ol', { class: 'history' }, history.map((step) => h('li', {}, h('span', { class: 'muted' }, `${format.words(step.with)}: `), step.change ?? label(all, step.verdict))))) : null);
}

function scoreOf(kernel: Verdict, verdict: string): string {
  const candidate = kernel.candidates.find((one) => one.verdict === verdict);
  return candidate ? `score ${candidate.score} against ${kernel.score}` : '';
}

function lineText(line: unknown): string {
  if (typeof line === 'string') return line;
  const place = line as { file?: string; path?: string; line?: number; text?: string | null };
  return `${place.file ?? place.path ?? ''}:${place.line ?? ''}${place.text ? ` ${place.text}` : ''}`;
}

const OPEN = 1; // cards that stand open at first

export const verdicts: Section = {
  id: 'verdicts',
  title: 'Verdicts',
  applies: (docs) => (bottlenecksOf(docs)?.kernels.length ?? 0) > 0,
  mount(host, { docs, format: text, selection }) {
    const all = bottlenecksOf(docs)!;
    host.append(h('p', { class: 'lead' }, 'What limits each kernel, by rules whose thresholds stand with the figures. A verdict names what was not measured and could change it.'));
    const cards = all.kernels.map((kernel, index) => {
      const card = h('details', { class: 'card in-print', open: index < OPEN, 'data-kernel': kernel.name },
        h('summary', {}, h('span', { class: 'card-head' }, verdictBadge(kernel.verdict, kernel.label), h('span', { class: 'muted' }, `confidence ${kernel.confidence}, score ${kernel.score}`)), longName(kernel.name), h('span', { class: 'card-text' }, summaryText(kernel))));
      const fill = (): void => {
        if (card.open && card.childElementCount === 1) card.append(verdictDetails(kernel, all));
      };
      card.addEventListener('toggle', fill);
      window.addEventListener('beforeprint', fill); // main.ts's listener, which opens the card, is the earlier one
      fill();
      return card;
    });
    host.append(...cards);
    if (all.left_out > 0) host.append(h('p', { class: 'muted' }, `${text.counted(all.left_out, 'further kernel')} with less time: in the document.`));
    selection.onChange((name, from) => {
      if (from === 'verdicts' || name === null) return;
      const card = cards.find((one) => one.dataset['kernel'] === name);
      if (card) card.open = true;
    });
  },
};
