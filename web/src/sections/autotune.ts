// A search for the fastest configuration: how it converged, the winner with its gain, which parameters matter, what was never run and why.
import { axisStyle, tooltipBox } from '../chart';
import { h, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import * as format from '../format';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { measured, outcomeBadge } from './comparison';
import { factList } from './summary';

type Autotune = DocumentTypes['autotune'];
type Evaluation = Autotune['history'][number];
type Gain = { ratio: number; low: number | null; high: number | null };

/** "BM=32 BN=64". */
export function configurationText(configuration: Record<string, unknown>): string {
  return Object.entries(configuration).map(([name, value]) => `${name}=${String(value)}`).join(' ');
}

const gainText = (gain: Gain): string => `${format.times(gain.ratio)}${gain.low === null || gain.high === null ? '' : ` (${format.fixed(gain.low, 2)} to ${format.fixed(gain.high, 2)})`}`;
const unitOf = (document: Autotune): string | null => document.objective.unit;

/** Whether the objective is a time: "faster" is said of nothing else. */
export const timed = ({ objective }: Autotune): boolean => !objective.maximize && objective.kind !== 'metric' && ['ns', 'us', 'ms', 's'].includes(objective.unit ?? '');

/** "48 configurations"; of a space too large to list, "a sample of 10,000 of 2,000,000 configurations". */
export function spaceText({ space }: Pick<Autotune, 'space'>): string {
  if (!space.sampled) return format.counted(space.listed, 'configuration');
  return `a sample of ${format.count(space.listed)}${space.product === null ? '' : ` of ${format.count(space.product)}`} configurations`;
}

type Metric = Autotune['metrics'][number];

/** "200 W (at most 400 W)": a further number of the best configuration, with its limits. */
function metricText(metric: Metric): string {
  const limits = ([['at least', metric.at_least], ['at most', metric.at_most]] as const).filter(([, limit]) => limit !== null).map(([words, limit]) => `${words} ${measured(limit!, metric.unit)}`);
  return `${metric.best === null ? format.UNKNOWN : measured(metric.best, metric.unit)}${limits.length === 0 ? '' : ` (${limits.join(', ')})`}`;
}

/** What the limits ruled out, and the best of it. */
function outsideText({ limits, ...document }: Autotune): string {
  const best = limits?.best_outside;
  return `${format.counted(limits?.outside ?? 0, 'configuration')} that worked${best ? `; the best of them, ${configurationText(best.configuration)}, has ${measured(best.value, document.objective.unit)}` : ''}`;
}

/** "gemm-mi210.json: 120 evaluations, rank correlation 0.81 over 8 results, weight 0.62": what a prior was worth. */
function priorText(prior: Autotune['priors'][number], file: string): string {
  const order = prior.rank_correlation === null ? '' : `, rank correlation ${format.fixed(prior.rank_correlation, 2)} over ${format.counted(prior.ranked, 'result')}`;
  return `${file}: ${format.counted(prior.evaluations, 'evaluation')}${order}, ${prior.weight === null ? 'the model was never fitted' : prior.weight === 0 ? 'not believed' : `weight ${format.fixed(prior.weight, 2)}`}`;
}

/** "2 for each run; predictions were off by 22 % without what compilers said, by 13 % with it (5 evaluations)". */
function builtText({ per_run, compared, error_without, error_with, error_without_mix }: NonNullable<Autotune['phases']['build_ahead']>): string {
  const off = (error: number | null): string => (error === null ? format.UNKNOWN : format.percent(Math.expm1(error)));
  return `${per_run} for each run; predictions were off by ${off(error_without)} without what compilers said, by ${off(error_with)} with it${error_without_mix === null ? '' : `, by ${off(error_without_mix)} with it but for the instructions`} (${format.counted(compared, 'evaluation')})`;
}

/** Where the runs of a race went. */
function raceText({ runs, again, raced, best, without_at_least, spread }: NonNullable<Autotune['phases']['race']>): string {
  return `${format.counted(runs, 'run')}, ${format.count(again)} of them on ${format.counted(raced, 'configuration')} that had run before, ${format.count(best)} on the best; without racing at least ${format.count(without_at_least)}${spread === null ? '' : `; runs of the best spread by ${format.percent(spread)}`}`;
}

function outcome(host: HTMLElement, document: Autotune, { value }: Context): void {
  const { best, phases } = document;
  if (!best) {
    host.append(h('p', { class: 'result bad' }, h('strong', {}, document.limits?.outside ? 'No configuration that worked is within the limits. ' : 'No configuration worked. '), document.stopped_because));
    return;
  }
  const final = phases.confirm.final;
  const decision = { separated: `It is ${timed(document) ? 'faster' : 'better'} than the runner-up`, tie: `It cannot be told from ${format.counted(final.tied.length, 'other finalist')}`, only_one: 'It was the only finalist', not_compared: 'It was not compared with a runner-up' }[final.decision];
  host.append(
    h('p', { class: 'result good' }, h('strong', {}, configurationText(best.configuration)), `: ${measured(best.value, unitOf(document))}${best.unstable ? ' (unstable)' : ''}`),
    factList([
      [`Over ${document.default?.declared ? 'the default' : 'the first configuration'}${document.default?.within_limits ? '' : ' (not within the limits)'}`, value(best.gain, gainText, document.missing, 'best.gain')],
      ...document.metrics.map((metric) => [metric.name, metricText(metric)] as const),
      ...(document.limits ? [['Outside of the limits', outsideText(document)] as const] : []),
      ...(document.priors.length > 0 ? [['Learned from', document.priors.map((prior, at) => h('div', {}, priorText(prior, document.environment.priors[at] ?? `prior ${at + 1}`)))] as const] : []),
      ['Against the others', `${decision}${final.over_runner_up ? `: ${gainText(final.over_runner_up)}` : ''}`],
      ['Evaluations', `${format.count(document.history.length)} of ${spaceText(document)}`],
      ...(phases.build_ahead && phases.build_ahead.compared > 0 ? [['Built ahead', builtText(phases.build_ahead)] as const] : []),
      ...(phases.race ? [['Raced', raceText(phases.race)] as const] : []),
      ['It stopped because', document.stopped_because],
      ['Still to be gained', value(document.expected_gain_left, (share) => `${format.percent(share)} (expected by the model)`, document.missing, 'expected_gain_left')],
      ['Model', value(phases.predict.r2, (r2) => `${phases.predict.model}, R² ${format.fixed(r2, 2)} on ${phases.predict.r2_samples} samples`, document.missing, 'phases.predict.r2')],
      ...(document.simulation ? [['The recording\'s own optimum', `${measured(document.simulation.optimum, unitOf(document))}; what was found is ${document.simulation.ratio === null ? format.UNKNOWN : format.times(document.simulation.ratio)} of it`] as const] : []),
    ]));
}

const VERDICTS = { bitwise: 'the same, bitwise', within_tolerance: 'the same within the tolerance', not_deterministic: 'the same wherever the captured code repeats itself', differs: 'something else', proves_nothing: 'nothing could be compared' } as const;

/** "type f32, at most 2 ULP". */
function toleranceText({ type, max_ulp, max_relative, max_absolute }: NonNullable<Autotune['capture']>['tolerance']): string {
  const parts = [max_ulp === null ? null : `at most ${format.count(max_ulp)} ULP`, max_relative === null ? null : `relative ${max_relative}`, max_absolute === null ? null : `absolute ${max_absolute}`].filter((part) => part !== null);
  return `${type === null ? '' : `as ${type}: `}${parts.length === 0 ? 'none, bitwise' : parts.join(', ')}`;
}

/** The launch that every configuration was proven and timed on. */
function captured(host: HTMLElement, document: Autotune, { value }: Context): void {
  const { capture } = document;
  if (!capture) return;
  const changed = Object.entries({ 'work-group': capture.launch.workgroup, grid: capture.launch.grid, 'work-groups': capture.launch.blocks, 'dynamic LDS': capture.launch.dynamic_lds }).filter(([, expression]) => expression !== null);
  host.append(
    h('h3', {}, 'The captured launch'),
    factList([
      ['Kernel', h('span', { class: 'mono' }, capture.demangled || capture.kernel)],
      ['GPU', `${capture.isa} (${capture.platform})`],
      ['Captured code', [measured(capture.value, unitOf(document)), h('span', { class: 'muted' }, ` median of ${format.counted(capture.samples, 'sample')}, CV `), value(capture.cv, format.percent, document.missing, 'capture.cv')]],
      ['The best over it', value(capture.gain, gainText, document.missing, 'capture.gain')],
      ['Its proof', capture.proof ? capture.proof.sentence : format.UNKNOWN],
      ['Tolerance', toleranceText(capture.tolerance)],
      ['Launched as', changed.length === 0 ? 'captured' : h('span', { class: 'mono' }, changed.map(([name, expression]) => `${name} = ${expression}`).join('; '))],
      ['Dispatches', `${format.count(capture.iterations)} of each measurement`],
    ]));
}

function convergence(host: HTMLElement, document: Autotune, id: string, { chart }: Context): void {
  const history = document.history;
  if (history.length === 0) return;
  const worked = history.filter((entry) => entry.value !== null);
  const values = worked.map((entry) => entry.value!);
  const wide = values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 8;
  const shown = (value: number): string => measured(value, unitOf(document));
  const phases = [['baseline', 'default'], ['warm_start', 'warm start'], ['seed', 'first samples'], ['confirm', 'picked by the model']] as const;
  chart(host, {
    id: `${id}-convergence`, height: 280, label: `Value of ${format.counted(history.length, 'evaluation')} in order, and the best so far`,
    option: (colours) => ({
      grid: { left: 64, right: 18, top: 34, bottom: 42 },
      legend: { top: 0, left: 0, type: 'scroll', textStyle: { color: colours.text }, itemHeight: 8 },
      tooltip: { trigger: 'item', formatter: (item) => { const entry = (item as unknown as { data: { entry?: Evaluation } }).data.entry; return (entry ? tooltipBox(`Evaluation ${entry.order}`, [...Object.entries(entry.configuration).map(([name, value]) => [name, String(value)] as const), ['Value', entry.value === null ? format.words(entry.outcome) : shown(entry.value)], ['Predicted', entry.predicted === null ? 'not by the model' : shown(entry.predicted)], ['Samples', entry.samples]]) : h('span', {}, 'best so far')) as unknown as string; } },
      xAxis: { ...axisStyle(colours), type: 'value', min: 0, max: history.length + 1, name: 'evaluation', nameLocation: 'middle', nameGap: 26, splitLine: { show: false } },
      yAxis: { ...axisStyle(colours), type: wide ? 'log' : 'value', scale: true, axisLabel: { color: colours.muted, fontSize: 11, formatter: (value: number) => shown(value) } },
      series: [
        ...phases.map(([phase, name], index) => ({ id: phase, name, type: 'scatter' as const, symbolSize: 7, itemStyle: { color: colours.series[index === 0 ? 1 : index === 3 ? 0 : index + 2], opacity: 0.85 }, data: worked.filter((entry) => entry.phase === phase).map((entry) => ({ value: [entry.order, entry.value!], entry })) })).filter((series) => series.data.length > 0),
        { id: 'best', name: 'best so far', type: 'line' as const, step: 'end' as const, symbol: 'none', lineStyle: { color: colours.text, width: 1.5 }, itemStyle: { color: colours.text }, data: history.map((entry) => [entry.order, entry.best_so_far ?? '-']) },
      ],
    }),
    table: () => ({ columns: ['#', 'Value', 'Best so far', 'Configuration'], rows: history.map((entry) => [entry.order, entry.value === null ? entry.outcome : shown(entry.value), format.known(entry.best_so_far, shown), configurationText(entry.configuration)]) }),
    caption: history.length > worked.length ? `${format.counted(history.length - worked.length, 'evaluation')} without a value: in the table below.` : null,
  });
}

/** Of two objectives: what nothing is better than in both. */
function front(host: HTMLElement, document: Autotune, id: string): void {
  const { front: found, metrics } = document;
  if (!found) return;
  const second = metrics.find((metric) => metric.name === found.metric)!;
  const last = found.hypervolume.at(-1) ?? 0;
  host.append(
    h('h3', {}, 'The front: nothing is better in both'),
    h('p', { class: 'muted' }, `It dominates ${format.percent(last)} of what lies between its best values and ${measured(found.reference[0]!, unitOf(document))}, ${measured(found.reference[1]!, second.unit)}${found.recorded ? `; the whole recording ${format.percent(found.recorded.hypervolume)}` : ''}.`),
    createTable<(typeof found.points)[number]>({
      id: `${id}-front`, caption: 'The front', rows: found.points, page: 15,
      columns: [
        { title: 'Value', numeric: true, key: (point) => point.value, show: (point) => measured(point.value, unitOf(document)) },
        { title: found.metric, numeric: true, key: (point) => point.metric, show: (point) => measured(point.metric, second.unit) },
        { title: 'Configuration', wide: true, key: (point) => configurationText(point.configuration), show: (point) => h('span', { class: 'mono' }, configurationText(point.configuration)) },
        { title: '#', hint: 'evaluation', numeric: true, key: (point) => point.order, show: (point) => point.order },
      ],
    }).element);
}

function importance(host: HTMLElement, document: Autotune, id: string, { chart }: Context): void {
  const rows = document.importance ?? [];
  if (rows.length === 0) return;
  host.append(h('h3', {}, 'Which parameters matter'));
  chart(host, {
    id: `${id}-importance`, height: 30 + rows.length * 24, label: `Share of the differences that each of ${rows.length} parameters explains`,
    option: (colours, width) => ({
      grid: { left: Math.min(170, width * 0.36), right: 60, top: 4, bottom: 6 },
      tooltip: { trigger: 'item', formatter: (item) => { const row = rows[(item as { dataIndex: number }).dataIndex]!; return tooltipBox(row.parameter, [['Share', format.percent(row.share)], ['Worst over best', row.best_to_worst === null ? format.UNKNOWN : format.times(row.best_to_worst)]]) as unknown as string; } },
      xAxis: { ...axisStyle(colours), type: 'value', min: 0, show: false }, yAxis: { ...axisStyle(colours), type: 'category', inverse: true, data: rows.map((row) => row.parameter), axisLabel: { color: colours.text, fontSize: 11, interval: 0 } },
      series: [{ id: 'share', type: 'bar', barWidth: 12, data: rows.map((row) => row.share), itemStyle: { color: colours.accent, borderRadius: 2 }, label: { show: true, position: 'right', color: colours.muted, fontSize: 11, formatter: (item) => format.percent(item.value as number) } }],
    }),
    table: () => ({ columns: ['Parameter', 'Share', 'Worst over best'], rows: rows.map((row) => [row.parameter, format.percent(row.share), row.best_to_worst === null ? format.UNKNOWN : format.times(row.best_to_worst)]) }),
  });
}

function evaluations(document: Autotune, id: string, { value }: Context): HTMLElement {
  return createTable<Evaluation>({
    id: `${id}-history`, caption: 'Evaluations', rows: document.history, page: 15, filter: (entry) => `${configurationText(entry.configuration)} ${entry.outcome} ${entry.phase}`, filterLabel: 'Filter by value or outcome',
    mark: (entry) => (document.best && configurationText(entry.configuration) === configurationText(document.best.configuration) ? 'chosen' : ''),
    columns: [
      { title: '#', numeric: true, key: (entry) => entry.order, show: (entry) => entry.order },
      { title: 'Configuration', wide: true, key: (entry) => configurationText(entry.configuration), show: (entry) => h('span', { class: 'mono' }, configurationText(entry.configuration)) },
      { title: 'Outcome', key: (entry) => entry.outcome, show: (entry): Child => [outcomeBadge(format.words(entry.outcome), entry.outcome === 'correct' ? 'good' : 'bad'), entry.detail ? h('div', { class: 'muted' }, entry.detail) : null] },
      ...(document.capture ? [{ title: 'Proof', hint: 'what it computes, before it is timed', key: (entry: Evaluation) => entry.proof?.verdict ?? null, show: (entry: Evaluation): Child => (entry.proof ? h('span', { title: entry.proof.sentence }, VERDICTS[entry.proof.verdict]) : h('span', { class: 'muted' }, 'none')) }] : []),
      { title: 'Value', numeric: true, key: (entry) => entry.value, show: (entry) => (entry.value === null ? h('span', { class: 'muted' }, 'failed') : measured(entry.value, unitOf(document))) },
      ...document.metrics.map((metric, at) => ({ title: metric.name, numeric: true, key: (entry: Evaluation) => entry.metrics[at] ?? null, show: (entry: Evaluation): Child => { const number = entry.metrics[at] ?? null; return number === null ? h('span', { class: 'muted' }, 'none') : [measured(number, metric.unit), entry.within_limits ? null : h('span', { class: 'muted', title: 'outside of a limit' }, ' !')]; } })),
      { title: 'CV', hint: 'spread of the samples', numeric: true, key: (entry) => entry.cv, show: (entry) => [value(entry.cv, format.percent), entry.unstable ? h('span', { class: 'muted', title: 'unstable' }, ' !') : null] },
      { title: 'Samples', numeric: true, key: (entry) => entry.samples, show: (entry) => entry.samples },
      { title: 'Phase', key: (entry) => entry.phase, show: (entry) => `${format.words(entry.phase)}${entry.local ? ', neighbour' : ''}` },
    ],
  }).element;
}

function neverRun(document: Autotune): Child {
  const { prune } = document.phases;
  const rows: [string, number | null][] = [...[...prune.by_restriction, ...prune.by_device_limit].map((one): [string, number | null] => [one.rule, one.combinations]),
    ['the model predicts them slow', prune.model_slow], ['the model predicts them to fail', prune.model_failing], ['built, and not run', prune.built_not_run], ['cannot be launched', prune.not_launchable], ['not in the recording', prune.not_recorded], ['never reached', prune.never_reached]];
  const shown = rows.filter(([, count]) => count !== 0);
  return shown.length === 0 ? null : [h('h3', {}, 'What was never run, and why'), h('ul', {}, shown.map(([why, count]) => h('li', {}, `${format.known(count, format.count)}: ${why}`)))];
}

export const autotune: Section = {
  id: 'autotune',
  title: 'Autotuner',
  applies: (docs) => docs.has('autotune'),
  mount(host, context) {
    context.docs.every('autotune').forEach(({ document, file }, index) => {
      const id = `autotune-${index}`;
      if (index > 0) host.append(h('h3', {}, file ?? `Search ${index + 1}`));
      outcome(host, document, context);
      captured(host, document, context);
      convergence(host, document, id, context);
      front(host, document, id);
      importance(host, document, id, context);
      host.append(h('div', {}, neverRun(document)), h('h3', {}, 'Every evaluation'), evaluations(document, id, context));
    });
  },
};
