// What the report says, first: the run and its GPU, a headline for every document, the verdicts in words.
import { h, longName, type Child } from '../dom';
import type { Documents, DocumentTypes } from '../documents';
import * as format from '../format';
import { hardwareModel, limitersText } from '../models';
import type { Context, Section } from '../section';
import { timed } from './autotune';
import { measured } from './comparison';
import { gateTone } from './gate';
import { bottlenecksOf, summaryText, verdictBadge } from './verdicts';
import { inTerms } from '../words';

/** One document in a sentence. */
export interface Headline {
  document: string;
  text: string;
  tone: 'good' | 'warn' | 'bad' | 'plain';
  link: string | null; ///< id of the section with the rest
}

const tones = { bitwise: 'good', within_tolerance: 'good', differs: 'bad', not_deterministic: 'warn', proves_nothing: 'warn' } as const;

function comparisonHeadline(document: DocumentTypes['comparison']): Headline {
  const by = (verdict: string): number => document.kernels.filter((kernel) => kernel.verdict === verdict).length;
  const parts = ['FASTER', 'SLOWER', 'SAME', 'UNDECIDED'].filter((verdict) => by(verdict) > 0).map((verdict) => `${by(verdict)} ${verdict}`);
  return {
    document: 'comparison', link: 'comparison', tone: gateTone(document),
    text: `${format.counted(document.kernels.length, 'kernel')} compared${parts.length > 0 ? `: ${parts.join(', ')}` : ''}; ${document.sentence}`,
  };
}

function inspectionHeadline(document: DocumentTypes['inspection']): Headline {
  const failed = document.gates.filter((gate) => !gate.passed).length;
  const gates = document.gates.length === 0 ? '' : failed > 0 ? `; ${failed} of ${format.counted(document.gates.length, 'gate')} failed` : `; ${format.counted(document.gates.length, 'gate')} passed`;
  return { document: 'inspection', link: 'inspection', tone: failed > 0 ? 'bad' : 'plain', text: `${document.file.name}: ${format.counted(document.kernels.length, 'compiled kernel')}${gates}` };
}

function autotuneHeadline(document: DocumentTypes['autotune']): Headline {
  const best = document.best;
  if (!best) return { document: 'autotune', link: 'autotune', tone: 'bad', text: `no configuration worked: ${document.stopped_because}` };
  const gain = best.gain ? `, ${format.times(best.gain.ratio)} as ${timed(document) ? 'fast' : 'good'} as ${document.default?.declared ? 'the default' : 'the first configuration'}` : '';
  return { document: 'autotune', link: 'autotune', tone: 'good', text: `best of ${format.counted(document.history.length, 'evaluation')}: ${measured(best.value, document.objective.unit)}${gain}` };
}

function optimizationHeadline(document: DocumentTypes['optimization']): Headline {
  const { outcome, sentence } = document.decision;
  return { document: 'optimization', link: 'optimization', tone: outcome === 'accepted' ? 'good' : 'plain', text: `${document.source.kernel ?? document.source.name}: ${format.words(outcome)}${sentence ? `; ${sentence}` : ''}` };
}

function doctorHeadline(document: DocumentTypes['doctor']): Headline {
  const ready = document.commands.filter((command) => command.readiness === 'ready').length;
  return { document: 'doctor', link: 'doctor', tone: ready === document.commands.length ? 'good' : 'warn', text: `${ready} of ${document.commands.length} commands are ready on this machine` };
}

function replayHeadline(document: DocumentTypes['replay']): Headline {
  const { timing, execution, kernel } = document;
  const median = timing.median === null ? 'time unknown' : `median ${format.duration(timing.median)}`;
  return { document: 'replay', link: 'replay', tone: 'plain', text: `${kernel.demangled || kernel.name}: ${format.counted(execution.iterations, 'iteration')}, ${median}` };
}

function ranksHeadline({ job, stragglers }: DocumentTypes['ranks']): Headline {
  return { document: 'ranks', link: 'ranks', tone: stragglers.causes.length > 0 ? 'warn' : 'plain', text: `${format.counted(job.ranks, 'rank')}, ${format.counted(job.operations, 'operation')}. ${stragglers.sentence}` };
}

function occupancyText(occupancy: DocumentTypes['occupancy']): string {
  const { name, model } = hardwareModel<{ occupancy: number; limiters: string[] }>(occupancy.models);
  return `${occupancy.architecture}: ${format.percent(model.occupancy)} occupancy (${name} model), limited by ${limitersText(model)}`;
}

/** A headline for every document that has one, in the page's order. */
export function headlines(docs: Documents): Headline[] {
  return docs.all.flatMap((entry): Headline[] => {
    const is = <N extends keyof DocumentTypes>(name: N): DocumentTypes[N] | null => (entry.name === name ? (entry.document as unknown as DocumentTypes[N]) : null);
    const comparison = is('comparison'), inspection = is('inspection'), autotune = is('autotune'), optimization = is('optimization'), doctor = is('doctor');
    const certificate = is('certificate'), replay = is('replay'), capture = is('capture'), isolate = is('isolate'), reservation = is('reservation'), occupancy = is('occupancy'), ranks = is('ranks');
    if (comparison) return [comparisonHeadline(comparison)];
    if (inspection) return [inspectionHeadline(inspection)];
    if (autotune) return [autotuneHeadline(autotune)];
    if (optimization) return [optimizationHeadline(optimization)];
    if (doctor) return [doctorHeadline(doctor)];
    if (replay) return [replayHeadline(replay)];
    if (certificate) return [{ document: 'certificate', link: 'replay', tone: tones[certificate.verdict], text: `${certificate.kernel.demangled || certificate.kernel.name}: ${certificate.sentence}` }];
    if (capture) return [{ document: 'capture', link: 'replay', tone: capture.integrity?.sound === false ? 'bad' : 'plain', text: `capture of ${capture.kernel.name}: ${format.counted(capture.totals.regions, 'region')}, ${format.bytes(capture.totals.bytes)}${capture.integrity?.sound === false ? `; ${capture.integrity.problem ?? 'not sound'}` : ''}` }];
    if (isolate) return [{ document: 'isolate', link: 'replay', tone: isolate.captured ? 'good' : 'warn', text: isolate.captured ? `${isolate.capture?.kernel ?? 'a dispatch'} was captured` : `nothing was captured: ${isolate.reason ?? 'no reason given'}` }];
    if (reservation) return [{ document: 'reservation', link: 'replay', tone: reservation.verdict === 'exact' ? 'good' : 'warn', text: `address ranges: ${reservation.summary.exact} exact, ${reservation.summary.relocated} relocated, ${reservation.summary.failed} failed` }];
    if (ranks) return [ranksHeadline(ranks)];
    if (occupancy) return [{ document: 'occupancy', link: 'occupancy', tone: 'plain', text: occupancyText(occupancy) }];
    return [];
  });
}

function tile(label: string, value: Child, detail?: Child): HTMLElement {
  return h('div', { class: 'tile' }, h('div', { class: 'tile-label' }, label), h('div', { class: 'tile-value' }, value), detail ? h('div', { class: 'tile-detail' }, detail) : null);
}

/** "AMD Instinct MI300X", "2 x A, B": the products of several agents, the unnamed as unknown. */
function products(agents: DocumentTypes['analysis']['agents']): string {
  const names = agents.map((agent) => agent.product ?? format.UNKNOWN);
  return [...new Set(names)].map((name) => { const same = names.filter((one) => one === name).length; return same > 1 ? `${same} x ${name}` : name; }).join(', ') || format.UNKNOWN;
}

function analysisTiles(document: DocumentTypes['analysis'], profile: DocumentTypes['profile'] | undefined, { value }: Context): HTMLElement[] {
  const { totals } = document;
  const gpu = document.agents.filter((agent) => agent.type === 'GPU');
  const critical = document.critical_path;
  return [
    tile('Run', format.duration(totals.span_ns), 'first to last GPU operation'),
    tile('GPU busy', totals.span_ns > 0 ? format.percent(totals.gpu_busy_ns / totals.span_ns) : format.UNKNOWN, `${format.duration(totals.gpu_busy_ns)} of it`),
    tile(inTerms('Dispatches'), format.count(totals.dispatches), `of ${format.counted(totals.kernels, 'kernel')}`),
    critical ? tile('Critical path', format.duration(critical.critical_path_ns), `${format.known(critical.attribution.kernel.share, format.percent)} in kernels, ${format.known(critical.attribution.host.share, format.percent)} in the host`) : tile('Critical path', value(null, String, document.missing, 'critical_path')),
    tile(gpu.length > 1 ? 'GPUs' : 'GPU', gpu.length > 1 ? products(gpu) : (profile?.gpu.product ?? products(gpu)), gpu.length <= 1 && profile ? [profile.gpu.architecture, profile.gpu.compute_units === null ? '' : inTerms(`, ${profile.gpu.compute_units} CUs`)] : gpu.length > 1 ? `${gpu.length} GPUs` : null),
  ];
}

/** The kernel that the analysis chose, and why it is that one. */
function selectedKernel(document: DocumentTypes['analysis'], profile: DocumentTypes['profile'] | undefined, context: Context): HTMLElement | null {
  const selected = document.selected_kernel;
  if (!selected) return null;
  const row = document.kernels.find((kernel) => kernel.name === selected.name);
  const facts: [string, Child][] = [
    ['Longest dispatch', format.duration(selected.longest_dispatch_ns)],
    ['All its dispatches', row ? `${format.duration(row.total_ns)}, ${format.known(row.share, format.percent)} of all kernel time` : format.UNKNOWN],
  ];
  if (profile) {
    facts.push(['From run to run', context.value(profile.stability.label, (label) => `${label}${profile.stability.cv === null ? '' : ` (CV ${format.percent(profile.stability.cv)})`}`, profile.missing, 'stability.label')]);
    facts.push(['Occupancy', context.value(profile.occupancy?.theoretical, (share) => `${format.percent(share)} (${profile.occupancy?.model ?? ''} model)`, profile.missing, 'occupancy.theoretical')]);
  }
  return h('div', { class: 'selected' }, h('h3', {}, 'The kernel with the longest dispatch'), longName(selected.name), factList(facts));
}

/** Labels and figures, in columns. */
export function factList(facts: readonly (readonly [string, Child])[]): HTMLElement {
  return h('dl', { class: 'facts' }, facts.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))));
}

function synthetic(docs: Documents): string[] {
  const notes = docs.all.map(({ document }) => (document as Record<string, unknown>)['synthetic']).filter((note): note is string => typeof note === 'string');
  for (const { document } of docs.every('comparison')) for (const side of [document.a, document.b]) if (side.synthetic) notes.push(side.synthetic);
  return [...new Set(notes)];
}

function verdictList(docs: Documents): HTMLElement | null {
  const found = bottlenecksOf(docs);
  if (!found || found.kernels.length === 0) return null;
  const shown = found.kernels.slice(0, 5);
  return h('div', {}, h('h3', {}, 'What limits the kernels'),
    h('ul', { class: 'verdict-list' }, shown.map((kernel) => h('li', {}, verdictBadge(kernel.verdict, kernel.label), ' ', longName(kernel.name), h('p', {}, summaryText(kernel))))),
    found.kernels.length > shown.length ? h('p', {}, h('a', { href: '#verdicts' }, `All ${found.kernels.length} verdicts, with evidence`)) : h('p', {}, h('a', { href: '#verdicts' }, 'The evidence')));
}

export const summary: Section = {
  id: 'summary',
  title: 'Summary',
  applies: (docs) => docs.all.length > 0,
  mount(host, context) {
    const { docs } = context;
    for (const note of synthetic(docs)) host.append(h('p', { class: 'banner', role: 'note' }, h('strong', {}, 'SYNTHETIC'), ` ${note}`));
    const analysis = docs.first('analysis');
    const profile = docs.companion('profile');
    const several = (['analysis', 'profile'] as const).map((name) => docs.every(name)).filter((list) => list.length > 1);
    if (several.length > 0)
      host.append(context.note(`Several runs are in this page. Summary, verdicts, kernels, occupancy and activity show the first: ${several.map((list) => `${list[0]!.file ?? list[0]!.name} (${list.length - 1} more)`).join(', ')}. The others are under Documents and environment.`));
    if (analysis && analysis.recordings.length > 0) host.append(h('div', { class: 'tiles' }, analysisTiles(analysis, profile, context)));
    else if (analysis) host.append(context.note('No recording of a run was given: times of dispatches, the GPU and the critical path are unknown.', 'Record one: rocm-perf profile -- ./app'));
    const lines = headlines(docs);
    if (lines.length > 0)
      host.append(h('ul', { class: 'headlines' }, lines.map((line) => h('li', { class: line.tone }, h('span', { class: 'headline-name' }, line.document), ' ', line.link ? h('a', { href: `#${line.link}` }, line.text) : line.text))));
    if (analysis) host.append(selectedKernel(analysis, profile, context) ?? '');
    host.append(verdictList(docs) ?? '');
  },
};
