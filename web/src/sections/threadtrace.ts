// A thread trace (thread_trace.json, with what analysis.json says of it): how much was seen, where the cycles of the traced waves
// went, instructions beside their source, waves by state over time.
import './criticalpath.css';
import './timeline.css';
import './threadtrace.css';
import { axisStyle, tooltipBox } from '../chart';
import { h, longName, uniqueId, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { eachDocument, namedAxis, stackedBar, swatch } from './criticalpath-parts';
import { ThreadTraceListing } from './threadtrace-listing';
import { hottest, lineOfRow, lineText, WAVE_STATES } from './threadtrace-model';
import { WaveRows } from './threadtrace-waves';

type Kernel = DocumentTypes['thread_trace']['kernels'][number];
type Analysed = NonNullable<DocumentTypes['analysis']['thread_traces']>['kernels'][number];

const TIME_PARTS = [
  { key: 'issue', title: 'issuing', colour: 'series-3' }, { key: 'wait', title: 'waiting for memory', colour: 'series-2' }, { key: 'barrier', title: 'barriers', colour: 'series-7' },
  { key: 'issue_stall', title: 'issue stalls', colour: 'series-5' }, { key: 'idle', title: 'idle between instructions', colour: 'series-8' },
] as const;

/** How much was seen, and what that is worth. */
function seen(host: HTMLElement, kernel: Kernel, analysed: Analysed | undefined, { format, value }: Context): void {
  const coverage = analysed?.coverage;
  const missing = analysed?.missing;
  const count = (field: 'waves' | 'waves_started' | 'waves_of_dispatch' | 'packets_lost' | 'trace_stalls'): Node => value(coverage?.[field], (one: number) => format.count(one), missing, `coverage.${field}`);
  const fact = (title: string, ...content: Child[]): HTMLElement => h('li', {}, h('span', { class: 'muted' }, `${title} `), ...content);
  host.append(
    h('p', { class: 'traced-kernel' }, longName(kernel.name)), h('p', {}, h('span', { class: 'muted' }, 'Dispatch '), value(kernel.dispatch_id, (id) => format.count(id), kernel.missing, 'dispatch_id'),
      h('span', { class: 'muted' }, '. Confidence '), h('strong', {}, kernel.confidence), kernel.confidence_reasons.length ? h('span', { class: 'muted' }, `: ${kernel.confidence_reasons.join('; ')}`) : null, '.'),
    h('p', { class: 'muted' }, 'Cycles are shares of what was traced: never the kernel’s total, never its run time.'));
  if (coverage)
    host.append(h('ul', { class: 'trace-facts' }, fact('Waves traced', count('waves'), ' of ', count('waves_started'), ' started on the traced engines; the dispatch has ', count('waves_of_dispatch')),
      fact('Compute units', coverage.cus.map((one) => `engine ${one.engine} unit ${one.cu}`).join(', ') || 'none'), fact('Records lost', count('packets_lost')), fact('Held up by tracing', count('trace_stalls'), ' times'),
      coverage.unattributed ? fact('Instructions without a row', format.count(coverage.unattributed)) : null));
}

/** Where the cycles went, in parts and by class. */
function whereTo(host: HTMLElement, analysed: Analysed | undefined, context: Context, suffix: string): void {
  if (!analysed) return;
  const { format } = context;
  const { time, classes } = analysed;
  if (time.cycles > 0)
    host.append(h('h3', {}, 'Where the cycles went'),
      stackedBar(TIME_PARTS.map((part) => ({ title: part.title, value: time[part.key].cycles, colour: part.colour })), time.cycles, TIME_PARTS.map((part) => `${part.title} ${time[part.key].share === null ? '' : format.percent(time[part.key].share!)}`).join(', '), (cycles) => `${format.count(cycles)} cycles`),
      h('div', { class: 'trace-legend' }, TIME_PARTS.map((part) => h('span', {}, swatch(part.colour), part.title, ' ', h('strong', { 'data-part': part.key }, time[part.key].share === null ? format.UNKNOWN : format.percent(time[part.key].share!))))));
  host.append(h('details', { class: 'fold in-print' }, h('summary', {}, 'By class of instruction'), createTable({
    id: `trace-classes${suffix}`, caption: 'Cycles by class of instruction', rows: classes, sortBy: 2, page: 20,
    columns: [
      { title: 'Class', key: (one) => one.class, show: (one) => format.words(one.class) },
      { title: 'Executions', numeric: true, key: (one) => one.hits, show: (one) => format.count(one.hits) },
      { title: 'Cycles', hint: 'latency and idle before', numeric: true, key: (one) => one.cost, show: (one) => [format.count(one.cost), one.cost_share === null ? null : h('span', { class: 'muted' }, ` ${format.percent(one.cost_share)}`)] },
      { title: 'Stall', numeric: true, key: (one) => one.stall, show: (one) => format.count(one.stall) },
      { title: 'Waits caused', hint: 'cycles that waits spent on its results', numeric: true, key: (one) => one.wait_caused, show: (one) => format.count(one.wait_caused) },
    ],
  }).element));
}

function listing(host: HTMLElement, kernel: Kernel, context: Context, suffix: string): void {
  const { format, note } = context;
  host.append(h('h3', {}, 'Instructions and source'));
  if (kernel.rows.row.length === 0) {
    host.append(note('The trace has no instructions of this kernel.'));
    return;
  }
  const say = (field: string, before: string, otherwise: string): void => {
    const why = kernel.missing.find((one) => one.field === field);
    host.append(note(`${before}${why?.reason ?? otherwise}.`, why?.remedy));
  };
  const { sources } = kernel;
  const without = sources?.findIndex((source) => source.parts === null) ?? -1;
  if (sources === null) say('sources', 'Source: ', 'no lines are known');
  else if (without >= 0) say(`sources[${without}].parts`, `Text of ${sources.filter((source) => source.parts === null).length} of ${format.counted(sources.length, 'source file')}: `, 'it is not in the trace');
  const left = kernel.rows_left_out;
  if (left.rows > 0) host.append(note(`${format.counted(left.rows, 'instruction')} with ${format.count(left.cycles.cost)} cycles are left out: those never executed first, then those with the least.`));
  const view = new ThreadTraceListing(kernel);
  host.append(view.element, h('div', { class: 'trace-legend muted' }, [['series-1', 'memory'], ['series-2', 'waits and barriers'], ['series-3', 'vector and matrix'], ['series-5', 'LDS'], ['line', 'other']].map(([colour, title]) => h('span', {}, swatch(colour!), title!))));
  const hot = hottest(kernel, 'cost', 25);
  host.append(h('details', { class: 'fold in-print' }, h('summary', {}, `The ${hot.length} instructions with the most cycles, as a table`), createTable({
    id: `trace-hot${suffix}`, caption: 'Instructions with the most cycles', rows: hot, page: 25,
    columns: [
      { title: 'Instruction', wide: true, key: (place) => kernel.rows.row[place], show: (place) => h('span', { class: 'name' }, kernel.rows.text[place]) },
      { title: 'Cycles', numeric: true, key: (place) => kernel.rows.cost[place], show: (place) => format.count(kernel.rows.cost[place]!) },
      { title: 'Stall', numeric: true, key: (place) => kernel.rows.stall[place], show: (place) => format.count(kernel.rows.stall[place]!) },
      { title: 'Hits', numeric: true, key: (place) => kernel.rows.hits[place], show: (place) => format.count(kernel.rows.hits[place]!) },
      { title: 'Waits caused', numeric: true, key: (place) => kernel.rows.wait_caused[place], show: (place) => format.count(kernel.rows.wait_caused[place]!) },
      { title: 'Source', show: (place) => (lineOfRow(kernel, place) < 0 ? h('span', { class: 'unknown' }, context.format.UNKNOWN) : h('code', {}, lineText(kernel, lineOfRow(kernel, place)))) },
    ],
  }).element));
}

/** A choice among engines, when there are several; draws the chosen one. */
function byEngine(host: HTMLElement, engines: readonly number[], draw: (host: HTMLElement, engine: number) => void): void {
  const box = h('div');
  const show = (engine: number): void => {
    box.replaceChildren();
    draw(box, engine);
  };
  if (engines.length > 1) {
    const id = uniqueId('engine');
    const select = h('select', { id, onchange: () => show(Number(select.value)) }, engines.map((engine) => h('option', { value: engine }, `Shader engine ${engine}`)));
    host.append(h('label', { for: id, class: 'hidden' }, 'Shader engine'), select);
  }
  host.append(box);
  if (engines.length > 0) show(engines[0]!);
}

function statesChart(host: HTMLElement, states: NonNullable<Kernel['states']>[number], context: Context, suffix: string): void {
  const { format } = context;
  const { begin, bin_cycles } = states;
  const shown = WAVE_STATES.filter((one) => one.key !== 'empty' && states[one.key].some((cycles) => cycles > 0));
  const bins = states.exec.length;
  context.chart(host, {
    id: `wave-states${suffix}`, height: 220, label: `Traced waves of shader engine ${states.engine} by state over ${format.count(bins * bin_cycles)} cycles`,
    option: (colours) => {
      const style = getComputedStyle(document.documentElement);
      return {
        grid: { left: 8, right: 14, top: 48, bottom: 8, containLabel: true },
        legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: colours.text }, data: shown.map((one) => ({ name: one.title, icon: 'roundRect' })) },
        tooltip: {
          trigger: 'axis',
          formatter: (points: unknown) => {
            const at = (points as { dataIndex: number }[])[0]!.dataIndex;
            return tooltipBox(`cycles ${format.count(begin + at * bin_cycles)} to ${format.count(begin + (at + 1) * bin_cycles)}`, shown.map((one) => [one.title, `${format.number(states[one.key][at]! / bin_cycles)} waves`] as const));
          },
        },
        xAxis: { type: 'category', boundaryGap: false, data: states.exec.map((_, i) => format.count(begin + i * bin_cycles)), ...axisStyle(colours), splitLine: { show: false } },
        yAxis: { type: 'value', ...namedAxis('waves', colours) },
        series: shown.map((one) => {
          const colour = style.getPropertyValue(`--${one.colour}`).trim();
          return { name: one.title, type: 'line', stack: 'all', step: 'end', symbol: 'none', lineStyle: { width: 0 }, itemStyle: { color: colour }, areaStyle: { color: colour, opacity: 0.9 }, data: states[one.key].map((cycles) => cycles / bin_cycles) };
        }),
      };
    },
    table: () => ({ columns: ['from cycle', ...shown.map((one) => one.title)], rows: states.exec.map((_, i) => [format.count(begin + i * bin_cycles), ...shown.map((one) => format.number(states[one.key][i]! / bin_cycles))]) }),
  });
}

function overTime(host: HTMLElement, kernel: Kernel, context: Context, suffix: string): void {
  const { format, note } = context;
  const missing = (field: string): void => {
    const why = kernel.missing.find((one) => one.field === field);
    if (why) host.append(note(`${format.words(field)}: ${why.reason}.`, why.remedy));
  };
  host.append(h('h3', {}, 'What the waves did over time'), h('p', { class: 'lead' }, 'In cycles of the shader; each shader engine counts them from a zero of its own.'));
  if (kernel.states && kernel.states.length > 0) byEngine(host, kernel.states.map((one) => one.engine), (box, engine) => statesChart(box, kernel.states!.find((one) => one.engine === engine)!, context, suffix));
  else missing('states');
  const { waves } = kernel;
  if (waves && waves.length > 0) {
    host.append(h('h4', {}, 'Wave by wave'), h('div', { class: 'trace-legend' }, WAVE_STATES.filter((one) => one.key !== 'empty').map((one) => h('span', { title: one.meaning }, swatch(one.colour), one.title))));
    byEngine(host, [...new Set(waves.map((wave) => wave.engine))].sort((a, b) => a - b), (box, engine) => {
      const rows = new WaveRows(waves, engine);
      box.append(rows.element);
      rows.start();
    });
    if (kernel.waves_left_out > 0) host.append(note(`${format.counted(kernel.waves_left_out, 'traced wave')} are left out.`));
    if (waves.some((wave) => !wave.exact)) host.append(h('p', { class: 'muted' }, 'Of long waves neighbouring runs are put together: where a state lies is near the truth, the sums are exact.'));
  } else missing('waves');
  if (kernel.occupancy) occupancy(host, kernel.occupancy, context, suffix);
  else missing('occupancy');
}

function occupancy(host: HTMLElement, shown: NonNullable<Kernel['occupancy']>, context: Context, suffix: string): void {
  const { format } = context;
  const bin = shown.span_cycles / Math.max(shown.bins.length, 1);
  host.append(h('h4', {}, `Waves per compute unit: ${format.count(shown.peak)} at once at most, on ${format.counted(shown.cus, 'unit')} with any`));
  context.chart(host, {
    id: `trace-occupancy${suffix}`, height: 170, label: `Waves per compute unit over ${format.count(shown.span_cycles)} cycles`,
    option: (colours) => ({
      grid: { left: 8, right: 14, top: 30, bottom: 8, containLabel: true },
      tooltip: { trigger: 'axis', formatter: (points: unknown) => { const at = (points as { dataIndex: number }[])[0]!.dataIndex; return tooltipBox(`cycles ${format.count(at * bin)} to ${format.count((at + 1) * bin)}`, [['waves per unit', format.number(shown.bins[at]!)]]); } },
      xAxis: { type: 'category', data: shown.bins.map((_, i) => format.count(i * bin)), ...axisStyle(colours), splitLine: { show: false } },
      yAxis: { type: 'value', ...namedAxis('waves per unit', colours) },
      series: [{ type: 'bar', barCategoryGap: '0%', itemStyle: { color: colours.series[0] }, data: shown.bins }],
    }),
    table: () => ({ columns: ['from cycle', 'waves per unit'], rows: shown.bins.map((waves, i) => [format.count(i * bin), format.number(waves)]) }),
  });
}

/** What an analysis says of that kernel in that dispatch; nothing when none, or more than one, of several runs does. */
function analysedAs({ docs }: Context, traces: readonly string[], kernel: Kernel): Analysed | undefined {
  const found = docs.every('analysis').flatMap(({ document }) => document.thread_traces?.kernels.filter((one) => one.name === kernel.name && one.dispatch_id === kernel.dispatch_id && document.thread_traces?.traces[one.trace] === traces[kernel.trace]) ?? []);
  return found.length === 1 ? found[0] : undefined;
}

export const threadTrace: Section = {
  id: 'thread-trace',
  title: 'Thread trace',
  applies: (docs) => docs.every('thread_trace').some(({ document }) => document.kernels.length > 0),
  mount(host, context) {
    eachDocument(host, context, 'thread_trace', (part, document, suffix) => {
      const box = h('div');
      const show = (index: number): void => {
        const kernel = document.kernels[index]!;
        const known = analysedAs(context, document.traces, kernel);
        box.replaceChildren();
        seen(box, kernel, known, context);
        whereTo(box, known, context, suffix);
        listing(box, kernel, context, suffix);
        overTime(box, kernel, context, suffix);
      };
      if (document.kernels.length > 1) {
        const select = h('select', { 'aria-label': 'Traced kernel', onchange: () => show(Number(select.value)) }, document.kernels.map((kernel, i) => h('option', { value: i }, `${kernel.name} (${document.traces[kernel.trace] ?? kernel.trace})`)));
        part.append(select);
      }
      part.append(box);
      if (document.kernels.length > 0) show(0);
    });
  },
};
