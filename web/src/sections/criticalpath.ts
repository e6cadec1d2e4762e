// Where the time of the run went (dag.json): attribution of the critical path, what each kernel would give the whole run, the
// path's longest stretches, parallelism, bubbles with their causes, slack, and what the graph rests on.
import './criticalpath.css';
import { axisStyle, tooltipBox } from '../chart';
import { h, longName } from '../dom';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { eachDocument, kernelName, namedAxis, placeText, scopeNotes, shareText, SPENT_KINDS, spentKind, stackedBar, swatch, type Dag } from './criticalpath-parts';
import { inTerms } from '../words';

type Spent = Dag['path']['segments'][number]['spent'];
type Attributed = { time_ns: number; share: number | null };

/** The seven kinds with their time, from the five parts and the three of the host. */
function attributed(dag: Dag): Record<string, Attributed> {
  const { kernel, copy, launch_latency, host, idle } = dag.attribution;
  return { kernel, copy, launch_latency, host_call: host.calls, sync_return: host.sync_return, host_code: host.code, idle };
}

function attribution(host: HTMLElement, dag: Dag, { format }: Context): void {
  const parts = attributed(dag);
  const largest = [...SPENT_KINDS].sort((a, b) => parts[b.key]!.time_ns - parts[a.key]!.time_ns)[0]!;
  const bar = stackedBar(SPENT_KINDS.map((kind) => ({ title: kind.title, value: parts[kind.key]!.time_ns, colour: kind.colour })), dag.critical_path_ns,
    `Critical path of ${format.duration(dag.critical_path_ns)}: ${SPENT_KINDS.map((kind) => `${kind.title} ${shareText(parts[kind.key]!.share)}`).join(', ')}`);
  bar.dataset['bar'] = 'attribution';
  host.append(
    h('p', {}, 'From the first start to the last end the run took ', h('strong', {}, format.duration(dag.critical_path_ns)),
      '. Every nanosecond of its longest path is of one of these', parts[largest.key]!.share === null ? null : ['; most of it is ', h('strong', {}, `${largest.title} (${shareText(parts[largest.key]!.share)})`)], '.'),
    bar,
    h('div', { class: 'table-box', tabindex: 0 }, h('table', { class: 'data attribution' },
      h('caption', { class: 'hidden' }, 'What the critical path was spent on'),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Spent on'), h('th', { scope: 'col', class: 'num' }, 'Time'), h('th', { scope: 'col', class: 'num' }, 'Share'), h('th', { scope: 'col', class: 'meaning' }, 'That is'))),
      h('tbody', {}, SPENT_KINDS.map((kind) => h('tr', { title: inTerms(kind.meaning), 'data-spent': kind.key, 'data-ns': parts[kind.key]!.time_ns },
        h('td', { class: 'kind' }, swatch(kind.colour), kind.title), h('td', { class: 'num' }, format.duration(parts[kind.key]!.time_ns)),
        h('td', { class: 'num' }, shareText(parts[kind.key]!.share)), h('td', { class: 'muted meaning' }, inTerms(kind.meaning))))))),
    h('p', { class: 'muted' }, `Host in all: ${format.duration(dag.attribution.host.time_ns)} (${shareText(dag.attribution.host.share)}).`),
  );
}

type Kernel = Dag['kernels'][number];
type Gain = NonNullable<Kernel['gains']>[number];

/** The gain of a kernel at one of the factors that the document has. */
const gainAt = (kernel: Kernel, factor: number | null): Gain | undefined => kernel.gains?.find((gain) => gain.factor === factor);

function gains(host: HTMLElement, dag: Dag, context: Context, suffix: string): void {
  const { format } = context;
  if (dag.kernels.length === 0) {
    host.append(context.note('No dispatches are in the graph.'));
    return;
  }
  const column = (title: string, factor: number | null) => ({
    title, numeric: true, key: (kernel: Kernel) => gainAt(kernel, factor)?.gain_ns,
    show: (kernel: Kernel) => {
      const gain = gainAt(kernel, factor);
      if (!gain) return h('span', { class: 'unknown has-reason', title: 'It is not among the kernels with the most path time: ask with --what-if', tabindex: 0 }, format.UNKNOWN);
      return h('span', { 'data-ns': gain.gain_ns }, format.duration(gain.gain_ns), gain.gain_share === null ? null : h('span', { class: 'muted' }, ` ${format.percent(gain.gain_share)}`));
    },
  });
  host.append(
    h('h3', {}, 'What the whole run gains from a faster kernel'),
    h('p', { class: 'lead' }, 'All dispatches of the kernel faster, everything else as recorded: a kernel beside the critical path gives nothing.'),
    createTable({
      id: `path-kernels${suffix}`, caption: 'Kernels on the critical path', rows: dag.kernels, sortBy: 1, page: 15, filter: (kernel) => kernel.name, filterLabel: 'Filter kernels',
      columns: [
        { title: 'Kernel', show: (kernel) => kernelName(context, kernel.name, 'critical-path'), key: (kernel) => kernel.name, wide: true },
        { title: 'On the path', numeric: true, key: (kernel) => kernel.path_ns, show: (kernel) => [format.duration(kernel.path_ns), ' ', h('span', { class: 'muted' }, shareText(kernel.path_share))] },
        { title: 'Dispatches', hint: 'on the path, of all', numeric: true, key: (kernel) => kernel.dispatches, show: (kernel) => `${format.count(kernel.on_path)} of ${format.count(kernel.dispatches)}` },
        column('1.5x', 1.5), column('2x', 2), column('infinite', null),
        { title: 'Median slack', hint: 'how much later a dispatch could start without a later end of the run', numeric: true, key: (kernel) => kernel.median_slack_ns, show: (kernel) => format.duration(kernel.median_slack_ns) },
      ],
    }).element,
  );
}

function spentBar(spent: Spent, length: number): HTMLElement {
  const parts = SPENT_KINDS.map((kind) => ({ title: kind.title, value: spent[`${kind.key}_ns`], colour: kind.colour }));
  return stackedBar(parts, length, parts.filter((part) => part.value > 0).map((part) => part.title).join(', '));
}

function path(host: HTMLElement, dag: Dag, { format }: Context, suffix: string): void {
  const { segments, stretches } = dag.path;
  const folded = stretches - segments.length;
  host.append(h('details', { class: 'fold in-print' }, h('summary', {}, `The path itself: ${format.counted(segments.length, 'part')}${folded > 0 ? ` (${format.count(folded)} short stretches folded into them)` : ''}`),
    createTable({
      id: `path-parts${suffix}`, caption: 'The critical path in time order', rows: segments, page: 40,
      columns: [
        { title: 'From', numeric: true, key: (part) => part.from_ns, show: (part) => format.duration(part.from_ns) },
        { title: 'Length', numeric: true, key: (part) => part.to_ns - part.from_ns, show: (part) => format.duration(part.to_ns - part.from_ns) },
        { title: 'Where', show: (part) => placeText(dag, part.place, part.process, part.id) },
        { title: 'Entered by', show: (part) => (part.entered_by === null ? 'begin of the run' : format.words(part.entered_by)) },
        { title: 'Spent on', show: (part) => spentBar(part.spent, part.to_ns - part.from_ns) },
        { title: 'Most time in', wide: true, show: (part) => part.names.map((name) => h('div', {}, longName(name.name), h('span', { class: 'muted' }, ` ${format.duration(name.time_ns)}`))) },
      ],
    }).element));
}

function parallelism(host: HTMLElement, dag: Dag, context: Context, suffix: string): void {
  const { format } = context;
  const { bins, bin_ns, levels } = dag.parallelism;
  if (bins.length === 0) return;
  host.append(h('h3', {}, 'How much ran side by side'),
    h('p', { class: 'lead' }, levels.map((level) => `${level.running === 0 ? 'nothing' : level.running} for ${format.duration(level.time_ns)} (${shareText(level.share)})`).join(', '), ' of the run.'));
  context.chart(host, {
    id: `parallelism${suffix}`, height: 190,
    label: `Dispatches and copies running side by side over the ${format.duration(dag.critical_path_ns)} of the run, in ${bins.length} bins`,
    option: (colours) => ({
      grid: { left: 8, right: 14, top: 48, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: colours.text }, data: [inTerms('dispatches'), 'copies'] },
      tooltip: {
        trigger: 'axis',
        formatter: (points: unknown) => {
          const at = (points as { dataIndex: number }[])[0]!.dataIndex, bin = bins[at]!;
          return tooltipBox(`${format.duration(at * bin_ns)} to ${format.duration((at + 1) * bin_ns)}`, [['dispatches, on average', format.number(bin.dispatches)], ['copies, on average', format.number(bin.copies)], ['anything running', format.percent(bin.busy)]]);
        },
      },
      xAxis: { type: 'category', boundaryGap: true, data: bins.map((_, i) => format.duration(i * bin_ns)), ...axisStyle(colours), splitLine: { show: false } },
      yAxis: { type: 'value', ...namedAxis('running', colours) },
      series: [
        { name: inTerms('dispatches'), type: 'bar', stack: 'all', barCategoryGap: '0%', itemStyle: { color: colours.series[0] }, data: bins.map((bin) => bin.dispatches) },
        { name: 'copies', type: 'bar', stack: 'all', itemStyle: { color: colours.series[5] }, data: bins.map((bin) => bin.copies) },
      ],
    }),
    table: () => ({ columns: ['from', 'dispatches', 'copies', 'busy'], rows: bins.map((bin, i) => [format.duration(i * bin_ns), format.number(bin.dispatches), format.number(bin.copies), format.percent(bin.busy)]) }),
  });
}

function bubbles(host: HTMLElement, dag: Dag, context: Context, suffix: string): void {
  const { format } = context;
  const { count, total_ns, longest } = dag.bubbles;
  host.append(h('h3', {}, 'Bubbles: nothing ran on any GPU'));
  if (count === 0) {
    host.append(h('p', {}, 'There are none.'));
    return;
  }
  host.append(
    h('p', { class: 'lead' }, `${format.counted(count, 'bubble')}, ${format.duration(total_ns)} in all`, count > longest.length ? `; the longest ${longest.length}:` : ':'),
    createTable({
      id: `bubbles${suffix}`, caption: 'The longest bubbles', rows: longest, sortBy: 1, page: 10,
      columns: [
        { title: 'At', numeric: true, key: (bubble) => bubble.from_ns, show: (bubble) => format.duration(bubble.from_ns) },
        { title: 'Length', numeric: true, key: (bubble) => bubble.to_ns - bubble.from_ns, show: (bubble) => h('span', { 'data-ns': bubble.to_ns - bubble.from_ns }, format.duration(bubble.to_ns - bubble.from_ns)) },
        { title: 'Cause', key: (bubble) => bubble.cause, show: (bubble) => h('span', { class: 'kind' }, swatch(spentKind(bubble.cause).colour), spentKind(bubble.cause).title) },
        { title: 'Spent on', show: (bubble) => spentBar(bubble.spent, bubble.to_ns - bubble.from_ns) },
        { title: 'Call with the most of it', show: (bubble) => (bubble.call === null ? h('span', { class: 'muted' }, 'none') : [longName(bubble.call.name), h('span', { class: 'muted' }, ` ${format.duration(bubble.call.time_ns)}`)]) },
        { title: 'Between', wide: true, show: (bubble) => [h('div', { class: 'muted' }, bubble.before === null ? 'from the begin of the run' : ['after ', longName(bubble.before.name)]), h('div', { class: 'muted' }, bubble.after === null ? 'to the end' : ['before ', longName(bubble.after.name)])] },
      ],
    }).element,
  );
}

function slack(host: HTMLElement, dag: Dag, { format }: Context, suffix: string): void {
  if (dag.top_slack.length === 0) return;
  host.append(h('details', { class: 'fold in-print' }, h('summary', {}, 'Operations with the most slack: what could run later, or slower, at no cost'),
    createTable({
      id: `slack${suffix}`, caption: 'Operations with the most slack', rows: dag.top_slack, sortBy: 3, page: 20,
      columns: [
        { title: 'Operation', show: (one) => longName(one.name), key: (one) => one.name, wide: true },
        { title: 'Start', numeric: true, key: (one) => one.start_ns, show: (one) => format.duration(one.start_ns) },
        { title: 'Duration', numeric: true, key: (one) => one.duration_ns, show: (one) => format.duration(one.duration_ns) },
        { title: 'Slack', numeric: true, key: (one) => one.slack_ns, show: (one) => format.duration(one.slack_ns) },
        { title: 'Where', show: (one) => placeText(dag, one.place, one.process, one.id) },
      ],
    }).element));
}

function foundations(host: HTMLElement, dag: Dag, { format }: Context, suffix: string): void {
  const { graph } = dag;
  const facts = [
    graph.without_launch ? `${format.count(graph.without_launch)} ${inTerms('dispatches')} and copies have no known launching call` : null,
    graph.unknown_events ? `${format.count(graph.unknown_events)} waits are for events whose record is not in the trace` : null,
    graph.blind_graph_launches ? `of ${format.counted(graph.blind_graph_launches, 'graph launch')} no work was recorded` : null,
    dag.other_machines.length ? `${format.counted(dag.other_machines.length, 'other machine')} kept apart: clocks of machines are not aligned` : null,
  ].filter((fact) => fact !== null);
  host.append(h('details', { class: 'fold in-print' }, h('summary', {}, `What this rests on: ${format.count(graph.dispatches)} dispatches, ${format.counted(graph.calls, 'call')}, ${format.counted(graph.edges, 'order')}`),
    facts.length ? h('ul', {}, facts.map((fact) => h('li', {}, fact))) : null,
    createTable({
      id: `rules${suffix}`, caption: 'Kinds of order in the graph', rows: graph.rules.filter((rule) => rule.edges > 0 || rule.contradicted > 0), sortBy: 1, page: 20,
      columns: [
        { title: 'Order', show: (rule) => format.words(rule.rule), key: (rule) => rule.rule },
        { title: 'Edges', numeric: true, key: (rule) => rule.edges, show: (rule) => format.count(rule.edges) },
        { title: 'Left out', hint: 'the calls demand them and the times deny them', numeric: true, key: (rule) => rule.contradicted, show: (rule) => format.count(rule.contradicted) },
        { title: 'Proven', key: (rule) => (rule.proven ? 1 : 0), show: (rule) => (rule.proven ? 'proven' : 'inferred') },
        { title: 'Why', show: (rule) => rule.reason, wide: true },
      ],
    }).element));
}

export const criticalPath: Section = {
  id: 'critical-path',
  title: 'Critical path',
  applies: (docs) => docs.has('dag'),
  mount(host, context) {
    eachDocument(host, context, 'dag', (part, dag, suffix) => {
      part.append(...(scopeNotes(context, dag).filter((note) => note !== null) as HTMLElement[]));
      attribution(part, dag, context);
      gains(part, dag, context, suffix);
      path(part, dag, context, suffix);
      parallelism(part, dag, context, suffix);
      bubbles(part, dag, context, suffix);
      slack(part, dag, context, suffix);
      foundations(part, dag, context, suffix);
    });
  },
};
