// Repeated phases of the run (steps, tokens) from dag.json: how long each took, how regular they are, what the slowest did
// differently.
import './criticalpath.css';
import { axisStyle, tooltipBox } from '../chart';
import { h, longName } from '../dom';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { eachDocument, type Dag } from './criticalpath-parts';

type Segments = NonNullable<Dag['segments']>;

function summary(host: HTMLElement, segments: Segments, { format, value }: Context): void {
  const { period } = segments;
  const found = segments.source === 'ranges' ? 'user ranges' : 'repetition in the sequence of dispatches';
  host.append(
    h('p', {}, h('strong', {}, format.counted(segments.count, 'segment')), ` found from ${found}, `, segments.source === 'ranges' ? 'named ' : 'each beginning with ', longName(segments.pattern), '.',
      segments.warm_up > 0 ? ` The first ${segments.warm_up} are warm-up and in no figure below.` : ''),
    h('p', {}, `From one to the next ${format.duration(period.median_ns)} (median of ${period.count}; ${format.duration(period.min_ns)} to ${format.duration(period.max_ns)}), coefficient of variation `,
      value(period.cv, (cv) => format.percent(cv)), period.cv === null ? ' (fewer than two)' : '', `. ${format.percent(segments.regularity)} have the usual dispatches`,
      segments.dispatches_outside > 0 ? `; ${format.count(segments.dispatches_outside)} dispatches are in no segment.` : '.'));
}

function chart(host: HTMLElement, segments: Segments, context: Context, suffix: string): void {
  const { format } = context;
  const { list, slowest } = segments;
  if (list === null) {
    host.append(context.note(`There are more than 1000 segments: the document does not list them.`, 'rocm-perf critical-path --full lists all.'));
    return;
  }
  if (list.length === 0) return;
  const length = (i: number): number => list[i]!.end_ns - list[i]!.start_ns;
  context.chart(host, {
    id: `segments${suffix}`, height: 220, label: `Length of each of ${list.length} segments, and how much of it the GPU was busy`,
    caption: 'Bars: length of each segment; dots: time in which anything ran on a GPU. Warm-up is pale, the slowest outlined.',
    option: (colours) => ({
      grid: { left: 8, right: 14, top: 30, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: colours.text }, data: ['length', 'GPU busy'] },
      tooltip: {
        trigger: 'axis',
        formatter: (points: unknown) => {
          const i = (points as { dataIndex: number }[])[0]!.dataIndex, one = list[i]!;
          return tooltipBox(one.label ?? `segment ${i}`, [['length', format.duration(length(i))], ['to the next', format.duration(one.period_ns)], ['dispatches', format.count(one.dispatches)], ['kernel time', format.duration(one.kernel_time_ns)], ['GPU busy', format.duration(one.busy_ns)], ['warm-up', one.warm_up ? 'yes' : 'no']]);
        },
      },
      xAxis: { type: 'category', data: list.map((_, i) => String(i)), ...axisStyle(colours), splitLine: { show: false } },
      yAxis: { type: 'value', ...axisStyle(colours), axisLabel: { ...(axisStyle(colours)['axisLabel'] as object), formatter: (ns: number) => format.duration(ns) } },
      series: [
        {
          name: 'length', type: 'bar', barMaxWidth: 42, itemStyle: { color: colours.series[0] },
          data: list.map((one, i) => ({ value: length(i), itemStyle: { opacity: one.warm_up ? 0.4 : 1, borderColor: i === slowest?.segment ? colours.bad : 'transparent', borderWidth: i === slowest?.segment ? 2 : 0 } })),
        },
        { name: 'GPU busy', type: 'scatter', symbolSize: 7, itemStyle: { color: colours.series[1] }, data: list.map((one) => one.busy_ns) },
      ],
    }),
    table: () => ({
      columns: ['segment', 'label', 'start', 'length', 'GPU busy', 'dispatches', 'warm-up'],
      rows: list.map((one, i) => [i, one.label ?? '', format.duration(one.start_ns), format.duration(length(i)), format.duration(one.busy_ns), one.dispatches, one.warm_up ? 'yes' : 'no']),
    }),
  });
}

function slowestPart(host: HTMLElement, segments: Segments, context: Context, suffix: string): void {
  const { format } = context;
  const { slowest, list } = segments;
  if (slowest === null) {
    host.append(context.note('All segments are warm-up: none is the slowest.'));
    return;
  }
  const label = list?.[slowest.segment]?.label;
  const longer = (difference: NonNullable<Segments['slowest']>['differences'][number]): number => difference.time_ns - difference.usual_time_ns;
  host.append(h('h3', {}, `The slowest: segment ${slowest.segment}${label ? ` (${label})` : ''}`),
    h('p', { class: 'lead' }, 'What differs in it from the median of the steady ones. ', h('code', {}, `--segment ${slowest.segment}`), ' restricts every analysis to it.'),
    slowest.differences.length === 0 ? h('p', {}, 'Nothing does.') : createTable({
      id: `differences${suffix}`, caption: 'Differences of the slowest segment', rows: slowest.differences, page: 12,
      columns: [
        { title: 'What', wide: true, key: (one) => one.name ?? one.kind, show: (one) => (one.name === null ? 'idle: nothing ran' : longName(one.name)) },
        { title: 'Here', numeric: true, key: (one) => one.time_ns, show: (one) => format.duration(one.time_ns) },
        { title: 'Usually', numeric: true, key: (one) => one.usual_time_ns, show: (one) => format.duration(one.usual_time_ns) },
        { title: 'Difference', numeric: true, key: longer, show: (one) => `${longer(one) > 0 ? '+' : ''}${format.duration(longer(one))}` },
        { title: 'Count', hint: 'here, usually', numeric: true, key: (one) => one.count, show: (one) => (one.kind === 'idle' ? '' : `${format.count(one.count)} / ${format.number(one.usual_count)}`) },
      ],
    }).element);
}

export const segments: Section = {
  id: 'segments',
  title: 'Steps of the run',
  applies: (docs) => docs.every('dag').some(({ document }) => document.segments !== null),
  mount(host, context) {
    eachDocument(host, context, 'dag', (part, dag, suffix) => {
      if (dag.segments === null) return;
      summary(part, dag.segments, context);
      chart(part, dag.segments, context, suffix);
      slowestPart(part, dag.segments, context, suffix);
    });
  },
};
