// Many ranks of one job, from ranks.json: first the answer (who, why, what it gains), then ranks by time with their waits, who waits for
// whom, why, the collectives, the path across ranks. Of more ranks than one can tell apart the charts gather them (ranks-model.ts).
import { h, longName, type Child } from '../dom';
import * as format from '../format';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { charts } from './ranks-charts';
import type { Rank, Ranks } from './ranks-model';
import { path } from './ranks-path';
import { named, reason, uncertain } from './ranks-words';
import { factList } from './summary';

type Collective = Ranks['collectives'][number];

const TABLE = 16; // rows shown at first

/** What figures rest on, where it is less than all. */
function doubts(job: Ranks['job']): string[] {
  const found: string[] = [];
  if (job.missing_rank_count > 0) found.push(`${format.counted(job.missing_rank_count, 'rank')} not recorded: ${job.missing_ranks.slice(0, 20).join(', ')}${job.missing_rank_count > 20 ? ' and more' : ''}. Whom others waited for is the last of those recorded.`);
  if (!job.numbered) found.push('The recordings do not number the ranks: they are in the order of host, process and GPU.');
  if (job.clocks > 1) found.push(`The clocks fall into ${format.count(job.clocks)} sets that nothing recorded ties together: times of ranks of different sets are not compared.`);
  if (job.violations > 0) found.push(`${format.counted(job.violations, 'operation')} with an exit before what it must follow, by up to ${format.duration(job.largest_violation_ns)}: more than the error of the clocks allows.`);
  for (const one of job.unmatched) found.push(`${format.counted(one.operations, 'operation')} of ${format.counted(one.ranks, 'rank')} not matched: ${one.sentence}.`);
  return found;
}

function answer(host: HTMLElement, ranks: Ranks, { value }: Context): void {
  const { answer: words, job, missing } = ranks;
  const open = job.kernel_time_ns - job.judged_time_ns;
  const rows: [string, keyof Ranks['answer']][] = [['Why', 'why'], ['What mending it gains', 'worth'], ['Slow or waiting', 'collective'], ['Who waits', 'victim']];
  const facts: [string, Child][] = [
    ['Ranks recorded', job.size === null ? h('span', {}, `${format.count(job.ranks)} of `, value(job.size, format.count, missing, 'job.size')) : `${format.count(job.ranks)} of ${format.count(job.size)}`],
    ['Nodes', value(job.nodes.length > 0 ? job.nodes.length : null, format.count, missing, 'ranks[].host')],
    ['Operations', format.count(job.operations)],
    ['Decided who came last', `${format.count(job.decided)} of ${format.count(job.operations)}`],
    ['In communication kernels', format.duration(job.kernel_time_ns)],
    ['Of it waiting', value(job.wait_ns, (wait) => uncertain(wait, job.wait_error_ns ?? 0), missing, 'job.wait_ns')],
    ...(open > 0 ? [['Waiting or moving: unknown', format.duration(open)] as [string, Child]] : []),
    ['The job takes', value(ranks.path, (found) => uncertain(found.makespan_ns, found.error_ns ?? 0), missing, 'path')],
  ];
  host.append(h('p', { class: `result${ranks.stragglers.causes.length > 0 ? ' warn' : ''}` }, h('strong', {}, words.who)),
    h('dl', { class: 'ranks-answer' }, rows.map(([title, key]) => [h('dt', {}, title), h('dd', { 'data-answer': key }, words[key] ?? reason(missing, `answer.${key}`))])),
    factList(facts));
  const rest = doubts(job);
  if (rest.length > 0) host.append(h('ul', { class: 'muted ranks-doubts' }, rest.map((text) => h('li', {}, text))));
}

function table(host: HTMLElement, ranks: Ranks, { value }: Context): void {
  const causes = new Set(ranks.stragglers.causes.map((cause) => cause.rank));
  const index = new Map(ranks.ranks.map((rank, i) => [rank, i]));
  const late = (rank: Rank): boolean => causes.has(index.get(rank)!);
  const hosts = ranks.ranks.some((rank) => rank.host !== null);
  host.append(createTable<Rank>({
    id: 'ranks-table', caption: 'Ranks', rows: ranks.ranks, page: TABLE, sortBy: 1, filter: (rank) => `${rank.label} ${rank.host ?? ''}`, filterLabel: 'Filter by number or host', mark: (rank) => (late(rank) ? 'straggler' : ''),
    columns: [
      { title: 'Rank', key: (rank) => rank.label, show: (rank) => (late(rank) ? `▶ ${rank.label}` : rank.label) },
      { title: 'Made others wait', hint: 'waits of all others where it came last', numeric: true, key: (rank) => rank.delay_caused_ns, show: (rank) => value(rank.operations > 0 ? rank.delay_caused_ns : null, (delay) => uncertain(delay, rank.delay_caused_error_ns), ranks.missing, 'stragglers.delay_share') },
      { title: 'Last in', hint: 'of the operations that are decided', numeric: true, key: (rank) => rank.last_share, show: (rank) => value(rank.last_share, (share) => `${format.count(rank.last)} (${format.percent(share)})`, ranks.missing, 'ranks[].last_share') },
      { title: 'Late by', hint: 'behind the second latest, in all: what mending it alone gains there at most', numeric: true, key: (rank) => rank.lateness_ns, show: (rank) => value(rank.operations > 0 ? rank.lateness_ns : null, (late) => uncertain(late, rank.lateness_error_ns), ranks.missing, 'stragglers.last_share') },
      { title: 'Waits', numeric: true, key: (rank) => rank.wait_ns, show: (rank) => value(rank.judged_time_ns > 0 ? rank.wait_ns : null, (wait) => uncertain(wait, rank.wait_error_ns), ranks.missing, 'job.wait_ns') },
      { title: 'Moves data', hint: 'in communication kernels whose waiting is known, without it', numeric: true, key: (rank) => rank.judged_time_ns - rank.wait_ns, show: (rank) => value(rank.judged_time_ns > 0 ? rank.judged_time_ns - rank.wait_ns : null, (moves) => format.duration(Math.max(0, moves)), ranks.missing, 'job.wait_ns') },
      ...(hosts ? [{ title: 'Host', key: (rank: Rank) => rank.host, show: (rank: Rank) => value(rank.host, (name) => name, ranks.missing, 'ranks[].host') }] : []),
      { title: 'GPU', numeric: true, key: (rank) => rank.gpu, show: (rank) => rank.gpu },
    ],
  }).element);
}

function stragglers(host: HTMLElement, ranks: Ranks): void {
  const { stragglers: late } = ranks;
  host.append(h('h3', {}, 'Why they come late'), h('p', {}, late.sentence));
  if (late.causes.length > 0) host.append(h('ul', { class: 'ranks-causes' }, late.causes.map((cause) => h('li', {}, h('strong', {}, `${named(ranks, cause.rank)}: `), cause.sentence, cause.kernel ? h('div', { class: 'muted' }, longName(cause.kernel.name), ` ${format.duration(cause.kernel.time_ns)}, median rank ${format.duration(cause.kernel.median_time_ns)}`) : null))));
}

function collectives(host: HTMLElement, ranks: Ranks, { value }: Context): void {
  if (ranks.collectives.length === 0) return;
  const shown = <T>(one: T | null, show: (one: T) => Child, field: string): Node => value(one, show, ranks.missing, `collectives[].${field}`);
  host.append(h('h3', {}, 'Slow or waiting'), createTable<Collective>({
    id: 'ranks-collectives', caption: 'Collectives', rows: ranks.collectives, page: 12, details: (one) => one.sentence, detailsLabel: (one) => one.name,
    columns: [
      { title: 'Operation', key: (one) => one.name, show: (one) => one.name },
      { title: 'It is', key: (one) => one.verdict, show: (one) => format.words(one.verdict) },
      { title: 'Waiting', hint: 'of the kernel time; the interval is what its error allows', numeric: true, key: (one) => one.wait_share, show: (one) => shown(one.wait_share, (share) => h('span', { title: one.wait_share_low === null || one.wait_share_high === null ? null : `${format.percent(one.wait_share_low)} to ${format.percent(one.wait_share_high)}` }, format.percent(share)), 'wait_share') },
      { title: 'Kernel time', hint: 'over all ranks', numeric: true, key: (one) => one.kernel_time_ns, show: (one) => format.duration(one.kernel_time_ns) },
      { title: 'Count', numeric: true, key: (one) => one.operations, show: (one) => format.count(one.operations) },
      { title: 'Transfer', hint: 'median', numeric: true, key: (one) => one.transfer_median_ns, show: (one) => shown(one.transfer_median_ns, format.duration, 'transfer_median_ns') },
      { title: 'Bus bandwidth', hint: 'from the time of the transfer, without waiting', numeric: true, key: (one) => one.bus_gb_per_s, show: (one) => shown(one.bus_gb_per_s, (rate) => format.rate(rate * 1e9, 'B/s'), 'bus_gb_per_s') },
    ],
  }).element);
}

export const ranks: Section = {
  id: 'ranks',
  title: 'Ranks',
  applies: (docs) => docs.has('ranks'),
  mount(host, context) {
    const document = context.docs.first('ranks')!;
    answer(host, document, context);
    stragglers(host, document);
    charts(host, document, context);
    table(host, document, context);
    collectives(host, document, context);
    path(host, document, context);
  },
};
