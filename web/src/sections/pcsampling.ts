// PC samples (pc_sampling of analysis.json): how sure they make, why waves did not issue, and the instructions with most samples,
// beside the cycles of a thread trace where one has the same instruction of the same kernel.
import { h, longName, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { eachDocument } from './criticalpath-parts';

type Analysis = DocumentTypes['analysis'];
type Sampling = NonNullable<Analysis['pc_sampling']>;
type Kernel = Sampling['kernels'][number];
type Hot = Kernel['hot'][number];
type Estimate = Hot['share'];

/** "12.5 % (10.1 to 15.3)": a share with its 95 % interval. */
function shareText(estimate: Estimate, { format }: Context): Child {
  if (estimate === null) return h('span', { class: 'unknown' }, format.UNKNOWN);
  const bounds = estimate.low === null || estimate.high === null ? null : h('span', { class: 'muted' }, ` (${format.number(100 * estimate.low, 3)} to ${format.number(100 * estimate.high, 3)})`);
  return [format.percent(estimate.value), bounds];
}

/** How many there are, and what they are worth. */
function seen(host: HTMLElement, sampling: Sampling, kernel: Kernel, context: Context): void {
  const { format, note, value } = context;
  const set = sampling.sets[kernel.set]!;
  const fact = (title: string, ...content: Child[]): HTMLElement => h('li', {}, h('span', { class: 'muted' }, `${title} `), ...content);
  host.append(
    h('p', {}, longName(kernel.name)),
    h('p', {}, h('span', { class: 'muted' }, 'Confidence '), h('strong', {}, kernel.confidence), kernel.confidence_reasons.length ? h('span', { class: 'muted' }, `: ${kernel.confidence_reasons.join('; ')}`) : null, '.'),
    h('p', { class: 'muted' }, 'Shares are of its samples, with their 95 % interval: how often waves were there, never how long.'),
    h('ul', {},
      fact('Samples', `${format.count(kernel.samples)} of ${format.count(set.samples)}; ${format.count(set.kernel_unknown)} are of no known kernel`),
      set.others.length ? fact('Counted only', set.others.map((one) => `${one.name} (${format.count(one.samples)})`).join(', ')) : null,
      fact('Ticks', format.count(kernel.ticks)),
      fact('Delivered', value(kernel.quality.delivered, format.percent, kernel.missing, 'quality.delivered'), ' of those expected'),
      fact('Dispatches with samples', value(kernel.quality.dispatches_sampled, format.count, kernel.missing, 'quality.dispatches_sampled'), ' of ', value(kernel.quality.dispatches, format.count, kernel.missing, 'quality.dispatches'))));
  for (const refusal of kernel.refusals) host.append(note(`Nothing is concluded: ${refusal}.`));
}

function reasons(host: HTMLElement, kernel: Kernel, context: Context, suffix: string): void {
  const { format } = context;
  if (kernel.issued === null) return void host.append(context.note('These samples say where waves were, not whether or why they stalled.'));
  const rows = [{ name: 'issued', samples: kernel.issued.samples, of_all: kernel.issued.share, of_stalled: null as Estimate }, ...kernel.reasons];
  host.append(h('h3', {}, 'Why waves did not issue'), createTable({
    id: `sampled-reasons${suffix}`, caption: 'Reasons of samples', rows, sortBy: 1,
    columns: [
      { title: 'Reason', key: (one) => one.name, show: (one) => one.name },
      { title: 'Share', hint: 'of all samples', numeric: true, key: (one) => one.of_all?.value, show: (one) => shareText(one.of_all, context) },
      { title: 'Of stalled', numeric: true, key: (one) => one.of_stalled?.value, show: (one) => (one.of_stalled === null ? '' : format.percent(one.of_stalled.value)) },
      { title: 'Samples', numeric: true, key: (one) => one.samples, show: (one) => format.count(one.samples) },
    ],
  }).element);
}

/** Cycles of the traced instruction with the same text, of a trace of the same kernel. */
function tracedCycles(analysis: Analysis, kernel: Kernel): Map<string, number> {
  const traced = analysis.thread_traces?.kernels.find((one) => one.name === kernel.name || (one.mangled_name !== null && one.mangled_name === kernel.mangled_name));
  const cycles = new Map<string, number>();
  for (const one of traced?.hot ?? []) cycles.set(one.text, (cycles.get(one.text) ?? 0) + (one.cost_share ?? 0));
  return cycles;
}

function instructions(host: HTMLElement, analysis: Analysis, kernel: Kernel, context: Context, suffix: string): void {
  const { format } = context;
  const cycles = tracedCycles(analysis, kernel);
  const line = (one: Hot): string => one.chain[0] ?? '';
  host.append(h('h3', {}, 'Instructions with most samples'), createTable({
    id: `sampled-instructions${suffix}`, caption: 'Instructions with most samples', rows: kernel.hot, sortBy: 1, page: 20,
    filter: (one) => `${one.text} ${line(one)}`, filterLabel: 'Filter instructions',
    columns: [
      { title: 'Instruction', wide: true, key: (one) => one.text, show: (one) => [h('code', {}, one.text), one.tied_with_previous ? h('span', { class: 'muted', title: 'cannot be told from the one with more samples' }, ' ~') : null, one.waits_for.length ? h('span', { class: 'muted' }, ` for ${one.waits_for.at(-1)}`) : null] },
      { title: 'Share', hint: 'of the kernel’s samples', numeric: true, key: (one) => one.share?.value, show: (one) => shareText(one.share, context) },
      { title: 'Issued', numeric: true, key: (one) => one.issued_share?.value, show: (one) => (one.issued_share === null ? '' : format.percent(one.issued_share.value)) },
      { title: 'Most stalls', key: (one) => one.reasons[0]?.name, show: (one) => one.reasons[0]?.name ?? '' },
      ...(cycles.size ? [{ title: 'Traced cycles', hint: 'share of the cycles of the traced waves', numeric: true, key: (one: Hot) => cycles.get(one.text), show: (one: Hot) => (cycles.has(one.text) ? format.percent(cycles.get(one.text)!) : '') }] : []),
      { title: 'Source', key: line, show: (one) => line(one).replace(/^.*[/\\]/, '') },
    ],
  }).element);
  if (kernel.never_sampled !== null) host.append(h('p', { class: 'muted' }, `${format.count(kernel.never_sampled)} instructions of its code have no samples.`));
}

export const pcSampling: Section = {
  id: 'pc-samples',
  title: 'PC samples',
  applies: (docs) => docs.every('analysis').some(({ document }) => (document.pc_sampling?.kernels.length ?? 0) > 0),
  mount(host, context) {
    eachDocument(host, context, 'analysis', (part, analysis, suffix) => {
      const sampling = analysis.pc_sampling;
      if (!sampling || sampling.kernels.length === 0) return;
      const box = h('div');
      const show = (index: number): void => {
        const kernel = sampling.kernels[index]!;
        box.replaceChildren();
        seen(box, sampling, kernel, context);
        reasons(box, kernel, context, suffix);
        instructions(box, analysis, kernel, context, suffix);
      };
      if (sampling.kernels.length > 1) {
        const select = h('select', { 'aria-label': 'Sampled kernel', onchange: () => show(Number(select.value)) }, sampling.kernels.map((kernel, i) => h('option', { value: i }, `${kernel.name} (${kernel.samples} samples)`)));
        part.append(select);
      }
      part.append(box);
      show(0);
    });
  },
};
