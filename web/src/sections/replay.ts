// Capture and replay: how a dispatch was taken, what is in the capture, how it ran again, and the certificate of other code.
import { axisStyle } from '../chart';
import { h, longName, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import * as format from '../format';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { outcomeBadge } from './comparison';
import type { Tone } from './forest';
import { factList } from './summary';

type Certificate = DocumentTypes['certificate'];
type Replay = DocumentTypes['replay'];

const VERDICTS: Record<Certificate['verdict'], Tone> = { bitwise: 'good', within_tolerance: 'good', differs: 'bad', not_deterministic: 'warn', proves_nothing: 'warn' };
const list = (title: string, notes: readonly string[]): Child => (notes.length === 0 ? null : [h('h4', {}, title), h('ul', {}, notes.map((note) => h('li', {}, note)))]);
type Found = NonNullable<DocumentTypes['capture']['findings']>;
function findingList(findings: Found | null): Child {
  if (findings === null || findings.length === 0) return null;
  return [h('h4', {}, 'Findings'), h('ul', {}, findings.map((finding) => h('li', {}, outcomeBadge(String(finding.severity), finding.severity === 'error' ? 'bad' : finding.severity === 'warning' ? 'warn' : 'plain'), ` ${finding.sentence}`, finding.remedy ? h('div', { class: 'remedy' }, finding.remedy) : null)))];
}
const sizes = (grid: readonly number[], workgroup: readonly number[]): string => `grid ${format.triple(grid)}, work-group ${format.triple(workgroup)}`;

function isolateFacts(document: DocumentTypes['isolate']): Child {
  const found = document.capture;
  return [h('h3', {}, 'How it was taken'), h('p', {}, document.captured ? 'Captured.' : `Not captured: ${document.reason ?? 'no reason given'}.`, ` The program: ${document.program}.`),
    found ? [longName(found.kernel), factList([['Launch', sizes(found.grid, found.workgroup)], ['GPU time', format.known(found.captured_ns, format.duration)], ['Memory', format.bytes(found.memory_bytes)], ['Stored', format.bytes(found.stored_bytes)], ['Pages written', format.count(found.written_pages)], ['Regions not captured', format.count(found.regions_not_captured)]]), findingList(found.findings), list('Limits', found.limits)] : null];
}

function captureFacts(document: DocumentTypes['capture']): Child {
  const { kernel, machine, totals, integrity, findings } = document;
  return [h('h3', {}, 'The capture'), longName(kernel.name),
    h('p', {}, integrity === null ? 'Its integrity was not looked at.' : integrity.sound ? 'Every file is the one that was written.' : `It is not sound: ${integrity.problem ?? ''}`),
    factList([['Dispatch', format.count(kernel.ordinal)], ['Launch', sizes(kernel.grid, kernel.workgroup)], ['GPU time', format.known(kernel.captured_ns, format.duration)], ['GPU', `${machine.product_name ?? machine.agent_name} (${machine.isa})`], ['Regions', `${format.count(totals.regions)}, ${format.count(totals.not_captured)} not captured`], ['Memory', format.bytes(totals.bytes)], ['In files', format.bytes(totals.file_bytes)]]),
    findingList(findings), list('Limits', document.limits)];
}

function replayFacts(document: Replay, host: HTMLElement, id: string, context: Context): void {
  const { timing, execution, kernel, missing } = document;
  const time = (field: 'median' | 'average' | 'min' | 'max' | 'stddev' | 'captured'): Node => context.value(timing[field], format.duration, missing, `timing.${field}`);
  host.append(h('h3', {}, 'The replay'), longName(kernel.demangled || kernel.name), factList([
    ['Code', kernel.captured_code_object ? 'as captured' : 'another code object'], ['Iterations', `${format.count(execution.iterations)}, ${execution.warmup} before them`], ['Memory between them', execution.mode === 'recopy' ? `restored (${format.bytes(execution.restored_bytes_per_iteration)})` : 'carries over'],
    ['Median', time('median')], ['Min', time('min')], ['Max', time('max')], ['CV', context.value(timing.cv, format.percent, missing, 'timing.cv')], ['In the application', time('captured')], ['Median / captured', context.value(timing.ratio_to_captured, (ratio) => format.fixed(ratio, 3), missing, 'timing.ratio_to_captured')]]));
  if (timing.samples.length > 1)
    context.chart(host, {
      id: `${id}-samples`, height: 190, label: `GPU time of ${timing.samples.length} iterations in order`,
      option: (colours) => ({
        grid: { left: 66, right: 14, top: 12, bottom: 40 }, tooltip: { trigger: 'axis', valueFormatter: (value) => format.duration(value as number) },
        xAxis: { ...axisStyle(colours), type: 'category', data: timing.samples.map((_, index) => String(index + 1)), name: 'iteration', nameLocation: 'middle', nameGap: 25 },
        yAxis: { ...axisStyle(colours), type: 'value', scale: true, axisLabel: { color: colours.muted, fontSize: 11, formatter: (value: number) => format.duration(value) } },
        series: [{ id: 'samples', name: 'GPU time', type: 'scatter', symbolSize: 5, itemStyle: { color: colours.accent }, data: timing.samples }],
      }),
      table: () => ({ columns: ['Iteration', 'GPU time'], rows: timing.samples.map((sample, index) => [index + 1, format.duration(sample)]) }),
    });
  host.append(h('div', {}, list('Notes', document.notes)));
}

function certificateFacts(document: Certificate, id: string): Child {
  const { method } = document;
  const tolerance = [['ULP', method.max_ulp], ['relative', method.max_relative], ['absolute', method.max_absolute]].filter(([, value]) => value !== null).map(([name, value]) => `${value} ${name}`);
  return [h('h3', {}, 'The certificate'), h('p', { class: `result ${VERDICTS[document.verdict]}` }, h('strong', {}, `${format.words(document.verdict)}. `), document.sentence), longName(document.kernel.demangled || document.kernel.name),
    factList([['The original reproduces itself', document.original_reproduces ? 'yes' : 'no'], ['Runs of the original', format.count(method.runs)], ['Poisoned', `${method.poison}${method.poison_note ? ` (${method.poison_note})` : ''}`], ['Type', method.type ?? 'found for each region'], ['Tolerance', tolerance.join(', ') || 'none: bitwise'], ['Code object', document.code_object.captured ? 'as captured' : document.code_object.hash]]),
    document.run_failure ? h('p', { class: 'bad-text' }, document.run_failure) : null,
    document.regions.length > 0 ? createTable<Certificate['regions'][number]>({ id, caption: 'Regions', rows: document.regions, page: 20, columns: [
      { title: 'Region', key: (region) => region.base, show: (region) => [h('span', { class: 'mono' }, region.base), region.symbol ? ` ${region.symbol}` : ''] }, { title: 'Verdict', key: (region) => region.verdict, show: (region) => outcomeBadge(format.words(region.verdict), VERDICTS[region.verdict]) },
      { title: 'Type', show: (region) => region.type ?? 'bytes' }, { title: 'Compared', numeric: true, key: (region) => region.compared_bytes, show: (region) => format.bytes(region.compared_bytes) }, { title: 'Different', hint: 'elements whose bits differ', numeric: true, key: (region) => region.different, show: (region) => `${format.count(region.different)} of ${format.count(region.elements)}` },
      { title: 'Beyond tolerance', numeric: true, key: (region) => region.beyond_tolerance, show: (region) => format.count(region.beyond_tolerance) }, { title: 'Largest ULP', numeric: true, key: (region) => region.largest.ulp, show: (region) => format.known(region.largest.ulp, format.count) },
      { title: 'Unexpected writes', numeric: true, key: (region) => region.unexpected_bytes, show: (region) => format.bytes(region.unexpected_bytes) }] }).element : null,
    list('Notes', document.notes)];
}

function reservationFacts(document: DocumentTypes['reservation']): Child {
  const { summary } = document;
  return [h('h3', {}, 'Addresses'), h('p', {}, outcomeBadge(document.verdict, document.verdict === 'exact' ? 'good' : document.verdict === 'failed' ? 'bad' : 'warn'), ` ${format.counted(summary.ranges, 'range')}, ${format.bytes(summary.bytes)}: ${summary.exact} exact, ${summary.relocated} relocated, ${summary.failed} failed (asked through ${document.through}).`),
    h('ul', {}, document.environment.not_exact.slice(0, 50).map((range) => h('li', {}, h('code', {}, range.base), ` ${range.in_the_way ?? range.status ?? 'relocated'}`)))];
}

export const replay: Section = {
  id: 'replay',
  title: 'Capture and replay',
  applies: (docs) => docs.has('isolate', 'capture', 'reservation', 'replay', 'certificate'),
  mount(host, context) {
    const { docs } = context;
    for (const { document } of docs.every('isolate')) host.append(h('div', {}, isolateFacts(document)));
    for (const { document } of docs.every('capture')) host.append(h('div', {}, captureFacts(document)));
    for (const { document } of docs.every('reservation')) host.append(h('div', {}, reservationFacts(document)));
    docs.every('replay').forEach(({ document }, index) => replayFacts(document, host, `replay-${index}`, context));
    docs.every('certificate').forEach(({ document }, index) => host.append(h('div', {}, certificateFacts(document, `certificate-${index}`))));
  },
};
