// What the ranks did by time: a lane for each, in it the operations with the most waiting, each with its wait and its transfer.
import { tooltipBox, type ChartHandle } from '../chart';
import { h } from '../dom';
import * as format from '../format';
import type { Context } from '../section';
import { staysOf, type Ranks, type Stay, type View } from './ranks-model';
import { LEGEND, named, rankAxis, roomForLegend, timeAxis, uncertain } from './ranks-words';

interface Api {
  value(dimension: number): number;
  coord(point: number[]): [number, number];
  size(size: number[]): [number, number];
}
interface Params {
  dataIndex: number;
  coordSys: { x: number; width: number };
}

/** What the pointer or the keyboard shows of one stay. */
function tip(ranks: Ranks, stay: Stay): HTMLElement {
  const { operation, member } = stay;
  return tooltipBox(`${named(ranks, member.rank)}: ${format.words(operation.kind)}${operation.bytes === null ? '' : `, ${format.bytes(operation.bytes)}`}`, [
    ['enters', format.duration(stay.from)],
    ['waits', member.wait_ns === null ? format.UNKNOWN : uncertain(member.wait_ns, member.wait_error_ns ?? 0)],
    ['moves data', stay.ready === null ? format.UNKNOWN : format.duration(stay.to - stay.ready)],
    ['waited for', operation.last === null ? 'undecided' : named(ranks, operation.last)],
    ...(operation.complete ? [] : [['', 'not all of its ranks were recorded'] as const]),
  ]);
}

/** Keys of the focused drawing move and zoom it. */
function keys(event: KeyboardEvent, range: [number, number]): [number, number] | null {
  const [from, to] = range, width = to - from, middle = (from + to) / 2;
  const clamp = (low: number, wide: number): [number, number] => [Math.max(0, Math.min(low, 100 - wide)), Math.max(0, Math.min(low, 100 - wide)) + wide];
  switch (event.key) {
    case '+': case '=': return clamp(middle - width * 0.3, Math.max(width * 0.6, 0.05));
    case '-': return clamp(middle - Math.min(100, width / 0.6) / 2, Math.min(100, width / 0.6));
    case 'ArrowLeft': return clamp(from - width / 5, width);
    case 'ArrowRight': return clamp(from + width / 5, width);
    case '0': return [0, 100];
    default: return null;
  }
}

/** Null: the document has no operation to draw. `fit` draws anew what is chosen. */
export function timeline(host: HTMLElement, ranks: Ranks, current: () => View, context: Context): { fit(): void } | null {
  host.append(h('h3', {}, 'The ranks by time'));
  if (ranks.operations.length === 0) {
    host.append(context.note('Of no operation it is known who waits.'));
    return null;
  }
  const more = ranks.job.operations - ranks.operations.length;
  const other = h('p', { class: 'muted' });
  let found = staysOf(ranks, current().ranks);
  const names = (): string[] => found.lanes.map((rank) => named(ranks, rank));
  const marked = (): Set<number> => new Set(ranks.stragglers.causes.map((cause) => found.lanes.indexOf(cause.rank)).filter((lane) => lane >= 0));
  const first = Math.min(0, ...ranks.operations.map((one) => Math.min(...one.members.map((member) => member.entry_ns))));
  const end = Math.max(ranks.path?.makespan_ns ?? 0, ...ranks.operations.map((one) => Math.max(...one.members.map((member) => member.entry_ns + member.duration_ns))));
  const chart: ChartHandle = context.chart(host, {
    id: 'ranks-timeline', height: 0, renderer: 'canvas', label: `${format.counted(ranks.operations.length, 'operation')} of ${format.counted(ranks.ranks.length, 'rank')} by time, with their waits`,
    caption: `${more > 0 ? `The ${format.count(ranks.operations.length)} of ${format.count(ranks.job.operations)} operations with the most waiting` : 'All operations'}; between them ranks work${more > 0 ? ', or are in operations that are not shown' : ''}. Drag the bar below to zoom, or focus the drawing: + and − zoom, arrows move, 0 shows all.`,
    option: (colours, width) => {
      const bar = (kind: 'wait' | 'transfer' | 'unknown' | 'last', colour: string) => (params: Params, api: Api) => {
        const [x0, y] = api.coord([api.value(1), api.value(0)]), [x1] = api.coord([api.value(2), api.value(0)]);
        const height = Math.max(3, Math.min(14, api.size([0, 1])[1] * 0.62)), left = params.coordSys.x, right = left + params.coordSys.width;
        const from = Math.max(left, Math.min(x0, right)), to = Math.max(left, Math.min(Math.max(x1, x0 + 0.6), right));
        if (kind === 'last') return x0 < left || x0 > right ? null : { type: 'polygon' as const, shape: { points: [[x0 - 4, y - height / 2 - 4], [x0 + 4, y - height / 2 - 4], [x0, y - height / 2 + 3]] }, style: { fill: colour } };
        return to <= from ? null : { type: 'rect' as const, shape: { x: from, y: y - height / 2, width: to - from, height }, style: { fill: colour } };
      };
      const series = (id: 'wait' | 'transfer' | 'unknown' | 'last', name: string, colour: string, rows: [Stay, number, number][]): Record<string, unknown> => ({
        id, name, type: 'custom', encode: { x: [1, 2], y: 0 }, itemStyle: { color: colour }, renderItem: bar(id, colour), clip: true,
        data: rows.map(([stay, from, to]) => [stay.lane, from, to]), stays: rows.map(([stay]) => stay),
      });
      const { stays } = found;
      const known = stays.filter((stay) => stay.ready !== null), unknown = stays.filter((stay) => stay.ready === null);
      const drawn = [
        series('wait', 'waiting', colours.warn, known.filter((stay) => stay.ready! > stay.from).map((stay) => [stay, stay.from, stay.ready!])),
        series('transfer', 'moving data', colours.series[0]!, known.map((stay) => [stay, stay.ready!, stay.to])),
        ...(unknown.length > 0 ? [series('unknown', 'moving or waiting: unknown', colours.series[7]!, unknown.map((stay) => [stay, stay.from, stay.to]))] : []),
        series('last', 'comes last: the others wait for it', colours.bad, stays.filter((stay) => stay.last).map((stay) => [stay, stay.from, stay.from])),
      ];
      return {
        grid: { left: 8, right: 16, top: roomForLegend(width), bottom: 58, containLabel: true },
        legend: { ...LEGEND, textStyle: { color: colours.text } },
        tooltip: { formatter: (point: unknown) => {
          const { seriesIndex, dataIndex } = point as { seriesIndex: number; dataIndex: number };
          return tip(ranks, (drawn[seriesIndex]!['stays'] as Stay[])[dataIndex]!);
        } },
        dataZoom: [
          { id: 'zoom', type: 'slider', xAxisIndex: 0, bottom: 4, height: 18, filterMode: 'none', borderColor: colours.line, fillerColor: `${colours.accent}33`, handleStyle: { color: colours.accent }, moveHandleSize: 0, textStyle: { color: colours.muted, fontSize: 10 }, labelFormatter: (ns: number) => format.duration(Number(ns.toPrecision(4))) },
          { id: 'pointer', type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, moveOnMouseWheel: false, preventDefaultMouseMove: false },
        ],
        xAxis: { ...timeAxis(colours, 'time from the begin of the job'), min: first, max: end },
        yAxis: rankAxis(colours, names(), marked()),
        series: drawn as never,
      };
    },
    table: () => ({
      columns: ['rank', 'operation', 'enters', 'waits', 'moves data', 'waited for'],
      rows: [...found.stays].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, 200).map((stay) => [named(ranks, stay.member.rank), format.words(stay.operation.kind), format.duration(stay.from), format.known(stay.member.wait_ns, format.duration), format.known(stay.ready, (ready) => format.duration(stay.to - ready)), stay.operation.last === null ? 'undecided' : named(ranks, stay.operation.last)]),
    }),
  });
  const canvas = chart.figure.querySelector<HTMLElement>('.chart')!;
  canvas.tabIndex = 0;
  canvas.addEventListener('keydown', (event) => {
    const zoom = (chart.instance.getOption()['dataZoom'] as { start: number; end: number }[])[0]!;
    const next = event.ctrlKey || event.altKey || event.metaKey ? null : keys(event, [zoom.start, zoom.end]);
    if (next === null) return;
    event.preventDefault();
    chart.instance.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: next[0], end: next[1] });
  });
  host.append(other);
  return {
    fit() {
      found = staysOf(ranks, current().ranks);
      other.textContent = [
        current().ranks.length < ranks.ranks.length && current().rows.of !== 'ranks' ? `Of ${format.count(ranks.ranks.length)} ranks those are drawn that others wait for, that the critical path runs over, and that wait the most.` : '',
        found.otherClocks > 0 ? `${format.counted(found.otherClocks, 'rank')} not drawn: their clocks cannot be compared with the others'.` : '',
      ].filter(Boolean).join(' ');
      other.hidden = other.textContent === '';
      chart.setHeight(112 + (found.lanes.length > 24 ? 15 : 24) * found.lanes.length);
      chart.redraw();
    },
  };
}

