// The critical path across ranks: its hops by time, on which ranks it lies, what changing the job would gain.
import { tooltipBox } from '../chart';
import { h } from '../dom';
import * as format from '../format';
import type { Context } from '../section';
import { createTable } from '../table';
import { pathLanes, type PathRow, type Ranks } from './ranks-model';
import { LEGEND, named, rankAxis, reason, timeAxis, uncertain } from './ranks-words';

type Path = NonNullable<Ranks['path']>;

function drawing(host: HTMLElement, ranks: Ranks, found: Path, context: Context): void {
  const { lanes, rows } = pathLanes(found, ranks.ranks);
  const left = found.hop_count - found.hops.length;
  const doubts = [
    left > 0 ? `The longest ${format.count(found.hops.length)} of ${format.count(found.hop_count)} hops are drawn.` : '',
    found.left_out_ranks > 0 ? `${format.counted(found.left_out_ranks, 'rank')} cannot be on it: their clocks cannot be compared.` : '',
    found.residuals > 0 ? `${format.counted(found.residuals, 'exit')} of operations came before what they must follow; that moves the end by ${format.duration(found.shifted_ns)}.` : '',
  ].filter(Boolean);
  context.chart(host, {
    id: 'ranks-path', height: 92 + 24 * lanes.length, renderer: rows.length > 200 ? 'canvas' : 'svg', label: `The critical path: ${format.counted(found.hop_count, 'hop')} over ${format.counted(found.ranks.length, 'rank')}`,
    caption: `Where the job's ${uncertain(found.makespan_ns, found.error_ns ?? 0)} went: work of a rank, or the transfer of an operation after its last rank came.${doubts.length > 0 ? ` ${doubts.join(' ')}` : ''}`,
    option: (colours) => {
      const parts = [['work', 'work of a rank', colours.series[0]!, rows.filter(({ hop }) => !hop.collective)], ['transfer', 'transfer of an operation', colours.series[1]!, rows.filter(({ hop }) => hop.collective)]] as const;
      return {
        grid: { left: 8, right: 16, top: 30, bottom: 24, containLabel: true },
        legend: { ...LEGEND, textStyle: { color: colours.text } },
        tooltip: {
          formatter: (point: unknown) => {
            const { seriesIndex, dataIndex } = point as { seriesIndex: number; dataIndex: number };
            const { hop } = parts[seriesIndex]![3][dataIndex]!;
            return tooltipBox(hop.collective ? `transfer: ${named(ranks, hop.from_rank)} to ${named(ranks, hop.rank)}` : `work of ${named(ranks, hop.rank)}`, [
              ['time', format.duration(hop.to_ns - hop.from_ns)], ['from', format.duration(hop.from_ns)], ...(hop.kernel === null ? [] : [['most of it', `${hop.kernel} (${format.duration(hop.kernel_time_ns)})`] as const])]);
          },
        },
        xAxis: { ...timeAxis(colours, 'time from the begin of the job'), min: 0, max: found.makespan_ns },
        yAxis: rankAxis(colours, lanes, new Set()),
        series: parts.map(([id, name, colour, part]) => ({
          id, name, type: 'custom' as const, encode: { x: [1, 2], y: 0 }, itemStyle: { color: colour },
          renderItem: (_: unknown, api: { value(d: number): number; coord(p: number[]): [number, number] }) => {
            const [x0, y] = api.coord([api.value(1), api.value(0)]), [x1] = api.coord([api.value(2), api.value(0)]), before = api.value(3);
            const box = { type: 'rect' as const, shape: { x: x0, y: y - 7, width: Math.max(1, x1 - x0), height: 14 }, style: { fill: colour } };
            if (before < 0 || before === api.value(0)) return box;
            return { type: 'group' as const, children: [{ type: 'line' as const, shape: { x1: x0, y1: api.coord([api.value(1), before])[1], x2: x0, y2: y }, style: { stroke: colours.muted, lineWidth: 1 } }, box] };
          },
          data: part.map((row: PathRow) => [row.lane, row.from, row.to, row.before ?? -1]),
        })) as never,
      };
    },
    table: () => ({ columns: ['rank', 'what', 'from', 'time', 'kernel'], rows: rows.slice(0, 200).map(({ hop, from, to }) => [named(ranks, hop.rank), hop.collective ? `transfer from ${named(ranks, hop.from_rank)}` : 'work', format.duration(from), format.duration(to - from), hop.kernel ?? '']) }),
  });
}

/** The part of the path, or why there is none. */
export function path(host: HTMLElement, ranks: Ranks, context: Context): void {
  host.append(h('h3', {}, 'The critical path across ranks'));
  const found = ranks.path;
  if (!found) {
    host.append(h('p', {}, reason(ranks.missing, 'path')));
    return;
  }
  host.append(h('p', {}, found.sentence));
  drawing(host, ranks, found, context);
  if (found.ranks.length > 1) {
    host.append(createTable<Path['ranks'][number]>({
      id: 'ranks-on-path', caption: 'Ranks on the path', rows: found.ranks, page: 8, sortBy: 3,
      columns: [
        { title: 'On the path', key: (one) => ranks.ranks[one.rank]!.label, show: (one) => named(ranks, one.rank) },
        { title: 'Work', numeric: true, key: (one) => one.work_ns, show: (one) => format.duration(one.work_ns) },
        { title: 'Transfer', numeric: true, key: (one) => one.transfer_ns, show: (one) => format.duration(one.transfer_ns) },
        { title: 'Of the job', numeric: true, key: (one) => one.work_ns + one.transfer_ns, show: (one) => format.percent(found.makespan_ns > 0 ? (one.work_ns + one.transfer_ns) / found.makespan_ns : 0) },
        { title: 'Hops', numeric: true, key: (one) => one.hops, show: (one) => format.count(one.hops) },
      ],
    }).element);
  }
  if (found.what_if.length > 0) host.append(h('h4', {}, 'What would be gained'), h('ul', { class: 'ranks-gains' }, found.what_if.map((one) => h('li', {}, one.sentence))));
  if (found.assumptions.length > 0) host.append(h('details', { class: 'in-print' }, h('summary', {}, 'What this assumes'), h('ul', {}, found.assumptions.map((text) => h('li', {}, text)))));
}
