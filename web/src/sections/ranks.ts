// Many ranks of one job, from ranks.json: the answer in words, ranks by time with their waits, who waits for whom, the path across ranks.
// With more ranks than one can tell apart the charts gather them (ranks-model.ts), and tables show the first of their rows.
import { axisStyle, tooltipBox } from '../chart';
import { h, longName, type Child } from '../dom';
import * as format from '../format';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { bundlesOf, cellsOf, meansOf, pathLanes, type Bundles, type Rank, type Ranks } from './ranks-model';
import { factList } from './summary';

type Path = NonNullable<Ranks['path']>;
type Collective = Ranks['collectives'][number];

const BAR = 22; // CSS pixels of a row
const DENSE = 11;
const TABLE = 16; // rows shown at first

/** A time with its error: "1.20 ms ± 3 us". */
const uncertain = (value: number, error: number): string => (error > 0 ? `${format.duration(value)} ± ${format.duration(error)}` : format.duration(value));
const named = (ranks: Ranks, index: number): string => `rank ${ranks.ranks[index]?.label ?? index}`;
const BUNDLED = { ranks: '', nodes: ' Each row is a node: the mean of its ranks; what they made others wait is added up.', 'groups of nodes': ' Each row is several neighbours: the mean of the ranks; what they made others wait is added up.' };

function answer(host: HTMLElement, ranks: Ranks, { value }: Context): void {
  const { answer: words, job } = ranks;
  const sentences: Child[] = [words.victim, words.why, words.worth, words.collective].filter((text) => text !== null).map((text) => h('li', {}, text));
  host.append(h('p', { class: 'result' }, h('strong', {}, words.who)), h('ul', {}, sentences),
    factList([
      ['Ranks recorded', job.size !== null && job.size !== job.ranks ? `${format.count(job.ranks)} of ${format.count(job.size)}` : format.count(job.ranks)],
      ['Nodes', format.count(job.nodes.length)],
      ['Operations', `${format.count(job.operations)}, decided who is waited for: ${format.count(job.decided)}`],
      ['In communication kernels', format.duration(job.kernel_time_ns)],
      ['Of it waiting', uncertain(job.wait_ns, job.wait_error_ns)],
      ['The job', value(ranks.path, (path) => format.duration(path.makespan_ns), ranks.missing, 'path')],
    ]));
  if (job.missing_rank_count > 0) host.append(h('p', { class: 'muted' }, `${format.counted(job.missing_rank_count, 'rank')} not recorded: ${job.missing_ranks.slice(0, 20).join(', ')}${job.missing_rank_count > 20 ? ' and more' : ''}. Whom others waited for is the last of those recorded.`));
  for (const one of job.unmatched) host.append(h('p', { class: 'muted' }, `${format.counted(one.operations, 'operation')} of ${format.counted(one.ranks, 'rank')} not matched: ${one.sentence}`));
}

function times(host: HTMLElement, ranks: Ranks, bundles: Bundles, context: Context): void {
  const sums = meansOf(bundles, ranks.ranks);
  const names = bundles.list.map((bundle) => bundle.label);
  host.append(h('h3', {}, 'Time in communication, by rank'));
  context.chart(host, {
    id: 'ranks-times', height: 60 + (names.length > 24 ? DENSE : BAR) * names.length, label: `Time that ${format.counted(ranks.ranks.length, 'rank')} moved data, waited, and made others wait`,
    caption: `A rank that waits long is not the cause: the one that makes others wait is. What it made them wait is the mean over the other ranks.${BUNDLED[bundles.of]}`,
    option: (colours) => ({
      grid: { left: 8, right: 16, top: 30, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: colours.text } },
      tooltip: {
        trigger: 'axis', axisPointer: { type: 'shadow' },
        formatter: (points: unknown) => {
          const i = (points as { dataIndex: number }[])[0]!.dataIndex, one = sums[i]!;
          return tooltipBox(names[i], [['moving data', format.duration(one.transfer)], ['waiting', format.duration(one.wait)], ['made each other rank wait', format.duration(one.caused)], ['ranks', format.count(bundles.list[i]!.ranks.length)]]);
        },
      },
      xAxis: { type: 'value', ...axisStyle(colours), axisLabel: { ...(axisStyle(colours)['axisLabel'] as object), formatter: (ns: number) => format.duration(ns) } },
      yAxis: { type: 'category', inverse: true, data: names, ...axisStyle(colours), splitLine: { show: false } },
      series: [
        { name: 'moving data', type: 'bar', stack: 'own', itemStyle: { color: colours.series[0] }, data: sums.map((one) => one.transfer) },
        { name: 'waiting', type: 'bar', stack: 'own', itemStyle: { color: colours.warn }, data: sums.map((one) => one.wait) },
        { name: 'made others wait', type: 'bar', itemStyle: { color: colours.bad }, data: sums.map((one) => one.caused) },
      ],
    }),
    table: () => ({ columns: ['ranks', 'moving data', 'waiting', 'made each other rank wait'], rows: sums.map((one, i) => [names[i]!, format.duration(one.transfer), format.duration(one.wait), format.duration(one.caused)]) }),
  });
  host.append(createTable<Rank>({
    id: 'ranks-table', caption: 'Ranks', rows: ranks.ranks, page: TABLE, sortBy: 5, filter: (rank) => `${rank.label} ${rank.host ?? ''}`, filterLabel: 'Filter by number or host',
    columns: [
      { title: 'Rank', key: (rank) => rank.label, show: (rank) => rank.label },
      { title: 'Host', wide: true, key: (rank) => rank.host, show: (rank) => rank.host ?? format.UNKNOWN },
      { title: 'GPU', numeric: true, key: (rank) => rank.gpu, show: (rank) => rank.gpu },
      { title: 'Waits', numeric: true, key: (rank) => rank.wait_ns, show: (rank) => uncertain(rank.wait_ns, rank.wait_error_ns) },
      { title: 'Last in', hint: 'of the operations that are decided', numeric: true, key: (rank) => rank.last_share, show: (rank) => context.value(rank.last_share, (share) => `${format.count(rank.last)} (${format.percent(share)})`) },
      { title: 'Made others wait', numeric: true, key: (rank) => rank.delay_caused_ns, show: (rank) => uncertain(rank.delay_caused_ns, rank.delay_caused_error_ns) },
      { title: 'Late by', hint: 'behind the second latest: what mending it alone gains there at most', numeric: true, key: (rank) => rank.lateness_ns, show: (rank) => uncertain(rank.lateness_ns, rank.lateness_error_ns) },
    ],
  }).element);
}

function matrix(host: HTMLElement, ranks: Ranks, bundles: Bundles, context: Context): void {
  host.append(h('h3', {}, 'Who waits for whom'));
  const cells = cellsOf(bundles, ranks.waits_for);
  if (cells.length === 0) {
    host.append(context.note('Nobody waits, or it is not decided for whom.'));
    return;
  }
  const names = bundles.list.map((bundle) => bundle.label);
  const most = cells[0]!.wait;
  const left = ranks.waits_for_left_out > 0 ? ` ${format.counted(ranks.waits_for_left_out, 'pair')} with less waiting are left out of the document.` : '';
  context.chart(host, {
    id: 'ranks-matrix', height: Math.min(760, 110 + Math.max(names.length * 12, 8 * 22)), renderer: names.length > 16 ? 'canvas' : 'svg', label: `Waiting of each rank for each other, ${format.counted(cells.length, 'pair')}`,
    caption: `Rows wait, columns come last: a dark column is a rank that many wait for.${bundles.of === 'ranks' ? '' : ' Neighbouring ranks are gathered.'}${left}`,
    option: (colours) => ({
      grid: { left: 8, right: 16, top: 8, bottom: 56, containLabel: true },
      tooltip: {
        formatter: (point: unknown) => {
          const cell = cells[(point as { dataIndex: number }).dataIndex]!;
          return tooltipBox(`${names[cell.waits]} waits for ${names[cell.last]}`, [['waiting', format.duration(cell.wait)], ['operations', format.count(cell.operations)]]);
        },
      },
      xAxis: { type: 'category', data: names, name: 'comes last', nameLocation: 'middle', nameGap: 28, ...axisStyle(colours), splitLine: { show: false } },
      yAxis: { type: 'category', data: names, inverse: true, name: '', ...axisStyle(colours), splitLine: { show: false } },
      visualMap: { min: 0, max: most, calculable: false, orient: 'horizontal', left: 'center', bottom: 0, itemHeight: 90, itemWidth: 10, text: [format.duration(most), '0'], textStyle: { color: colours.muted, fontSize: 11 }, inRange: { color: [colours.surface, colours.warn, colours.bad] } },
      series: [{ type: 'heatmap', data: cells.map((cell) => [cell.last, cell.waits, cell.wait]), itemStyle: { borderColor: colours.line, borderWidth: names.length > 24 ? 0 : 0.5 } }],
    }),
    table: () => ({ columns: ['waits', 'for', 'waiting', 'operations'], rows: cells.slice(0, 200).map((cell) => [names[cell.waits]!, names[cell.last]!, format.duration(cell.wait), cell.operations]) }),
  });
}

function stragglers(host: HTMLElement, ranks: Ranks): void {
  const { stragglers: late } = ranks;
  host.append(h('h3', {}, 'Why they come late'), h('p', {}, late.sentence));
  if (late.causes.length > 0) host.append(h('ul', {}, late.causes.map((cause) => h('li', {}, h('strong', {}, `${named(ranks, cause.rank)}: `), cause.sentence, cause.kernel ? h('div', { class: 'muted' }, longName(cause.kernel.name), ` ${format.duration(cause.kernel.time_ns)}, median rank ${format.duration(cause.kernel.median_time_ns)}`) : null))));
}

function collectives(host: HTMLElement, ranks: Ranks, { value }: Context): void {
  if (ranks.collectives.length === 0) return;
  const field = (one: Collective, name: string): string => `collectives[${ranks.collectives.indexOf(one)}].${name}`;
  host.append(h('h3', {}, 'Slow or waiting'), createTable<Collective>({
    id: 'ranks-collectives', caption: 'Collectives', rows: ranks.collectives, page: 12, details: (one) => one.sentence, detailsLabel: (one) => one.name,
    columns: [
      { title: 'Operation', wide: true, key: (one) => one.name, show: (one) => one.name },
      { title: 'Count', numeric: true, key: (one) => one.operations, show: (one) => format.count(one.operations) },
      { title: 'Kernel time', numeric: true, key: (one) => one.kernel_time_ns, show: (one) => format.duration(one.kernel_time_ns) },
      { title: 'Waiting', numeric: true, key: (one) => one.wait_share, show: (one) => value(one.wait_share, format.percent, ranks.missing, field(one, 'wait_share')) },
      { title: 'Transfer', hint: 'median', numeric: true, key: (one) => one.transfer_median_ns, show: (one) => value(one.transfer_median_ns, format.duration, ranks.missing, field(one, 'transfer_median_ns')) },
      { title: 'Bus bandwidth', numeric: true, key: (one) => one.bus_gb_per_s, show: (one) => value(one.bus_gb_per_s, (rate) => format.rate(rate * 1e9, 'B/s'), ranks.missing, field(one, 'bus_gb_per_s')) },
      { title: 'It is', key: (one) => one.verdict, show: (one) => format.words(one.verdict) },
    ],
  }).element);
}

function path(host: HTMLElement, ranks: Ranks, found: Path, context: Context): void {
  const { lanes, rows } = pathLanes(found, ranks.ranks);
  const left = found.hop_count - found.hops.length;
  host.append(h('h3', {}, 'The critical path across ranks'));
  context.chart(host, {
    id: 'ranks-path', height: 70 + 24 * lanes.length, renderer: rows.length > 200 ? 'canvas' : 'svg', label: `The critical path: ${format.counted(found.hop_count, 'hop')} over ${format.counted(found.ranks.length, 'rank')}`,
    caption: `Where the job's ${uncertain(found.makespan_ns, found.error_ns ?? 0)} went: work of a rank, or the transfer of an operation after its last rank came.${left > 0 ? ` The longest ${format.count(found.hops.length)} of ${format.count(found.hop_count)} hops are drawn.` : ''}`,
    option: (colours) => ({
      grid: { left: 8, right: 16, top: 8, bottom: 8, containLabel: true },
      tooltip: {
        formatter: (point: unknown) => {
          const { hop } = rows[(point as { dataIndex: number }).dataIndex]!;
          return tooltipBox(hop.collective ? `transfer: ${named(ranks, hop.from_rank)} to ${named(ranks, hop.rank)}` : `work of ${named(ranks, hop.rank)}`, [
            ['time', format.duration(hop.to_ns - hop.from_ns)], ['from', format.duration(hop.from_ns - found.begin_ns)], ...(hop.kernel === null ? [] : [['most of it', hop.kernel] as const])]);
        },
      },
      xAxis: { type: 'value', min: 0, max: found.makespan_ns, ...axisStyle(colours), axisLabel: { ...(axisStyle(colours)['axisLabel'] as object), formatter: (ns: number) => format.duration(ns) } },
      yAxis: { type: 'category', inverse: true, data: lanes, ...axisStyle(colours), splitLine: { show: false } },
      series: [{
        type: 'custom', encode: { x: [1, 2], y: 0 },
        renderItem: (params, api) => {
          const [x0, y] = api.coord([api.value(1), api.value(0)]) as [number, number], [x1] = api.coord([api.value(2), api.value(0)]) as [number, number];
          const collective = rows[params.dataIndex]!.hop.collective;
          return { type: 'rect', shape: { x: x0, y: y - 7, width: Math.max(1, x1 - x0), height: 14 }, style: { fill: collective ? colours.series[1]! : colours.series[0]! } };
        },
        data: rows.map((row) => [row.lane, row.from, row.to]),
      }],
    }),
    table: () => ({ columns: ['rank', 'what', 'from', 'time', 'kernel'], rows: rows.slice(0, 200).map(({ hop, from, to }) => [named(ranks, hop.rank), hop.collective ? `transfer from ${named(ranks, hop.from_rank)}` : 'work', format.duration(from), format.duration(to - from), hop.kernel ?? '']) }),
  });
  if (found.what_if.length > 0) host.append(h('h4', {}, 'What would be gained'), h('ul', {}, found.what_if.map((one) => h('li', {}, one.sentence))));
  if (found.assumptions.length > 0) host.append(h('details', {}, h('summary', {}, 'What this assumes'), h('ul', {}, found.assumptions.map((text) => h('li', {}, text)))));
}

export const ranks: Section = {
  id: 'ranks',
  title: 'Ranks',
  applies: (docs) => docs.has('ranks'),
  mount(host, context) {
    const document = context.docs.first('ranks')!;
    const bundles = bundlesOf(document.ranks);
    answer(host, document, context);
    times(host, document, bundles, context);
    matrix(host, document, bundles, context);
    stragglers(host, document);
    collectives(host, document, context);
    if (document.path) path(host, document, document.path, context);
  },
};
