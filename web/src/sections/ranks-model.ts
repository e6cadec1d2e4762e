// What the section of ranks draws, from ranks.json: as many marks as one can tell apart, whatever the number of ranks. Many ranks are
// gathered by node, many nodes by runs of neighbours; sums stay whole.
import type { DocumentTypes } from '../documents';

export type Ranks = DocumentTypes['ranks'];
export type Rank = Ranks['ranks'][number];
export type Hop = NonNullable<Ranks['path']>['hops'][number];

/** Ranks that are drawn one by one; of more, groups, and so many at most. */
export const MOST_RANKS = 64;
export const MOST_GROUPS = 32;
/** Ranks of a drawing of those that matter, and columns of the matrix of a large job. */
const MOST_CHOSEN = 24;

/** Ranks that are drawn as one: of a node, or of several. */
export interface Bundle {
  label: string;
  ranks: number[]; ///< indices into `ranks`
}

/** What the bundles are. */
export type Bundling = 'ranks' | 'nodes' | 'groups of nodes';
export interface Bundles {
  of: Bundling;
  list: Bundle[];
  /** By rank: its place in `list`; -1: it is not drawn. */
  place: number[];
}

function finish(of: Bundling, list: Bundle[], count: number): Bundles {
  const place = new Array<number>(count).fill(-1);
  list.forEach((bundle, i) => bundle.ranks.forEach((rank) => (place[rank] = i)));
  return { of, list, place };
}

/** "host-0000" and "host-0003" as "host-0000–0003": what both begin with, up to the number, stands once. */
export function rangeLabel(first: string, last: string): string {
  let same = 0;
  while (same < first.length && first[same] === last[same]) ++same;
  while (same > 0 && /\d/.test(first[same - 1]!)) --same;
  return same === 0 ? `${first} to ${last}` : `${first}–${last.slice(same)}`;
}

const alone = (ranks: readonly Pick<Rank, 'label'>[], chosen: readonly number[]): Bundle[] => chosen.map((i) => ({ label: `rank ${ranks[i]?.label ?? i}`, ranks: [i] }));
/** These ranks, one by one. */
export const only = (ranks: readonly Pick<Rank, 'label'>[], chosen: readonly number[]): Bundles => finish('ranks', alone(ranks, chosen), ranks.length);

/** Each rank alone while that is readable; else the ranks of a node; else neighbouring nodes, equally many. */
export function bundlesOf(ranks: readonly Pick<Rank, 'label' | 'host'>[], most = MOST_RANKS, groupsAtMost = MOST_GROUPS): Bundles {
  const every = ranks.map((_, i) => i);
  if (ranks.length <= most) return only(ranks, every);
  const byHost = new Map<string, number[]>();
  ranks.forEach(({ host }, i) => {
    const name = host ?? 'unknown host';
    const there = byHost.get(name);
    if (there) there.push(i);
    else byHost.set(name, [i]);
  });
  let nodes = [...byHost].map(([label, indices]): Bundle => ({ label, ranks: indices }));
  // One host with more ranks than can be told apart (or none known): neighbours by number.
  if (nodes.length === 1) nodes = alone(ranks, every);
  else if (nodes.length <= groupsAtMost) return finish('nodes', nodes, ranks.length);
  const each = Math.ceil(nodes.length / groupsAtMost);
  const groups: Bundle[] = [];
  for (let i = 0; i < nodes.length; i += each) {
    const part = nodes.slice(i, i + each);
    groups.push({ label: part.length === 1 ? part[0]!.label : rangeLabel(part[0]!.label, part.at(-1)!.label), ranks: part.flatMap((node) => node.ranks) });
  }
  return finish('groups of nodes', groups, ranks.length);
}

/** Whom others wait for the most, most first. */
const latest = (doc: Ranks): number[] => doc.ranks.map((_, i) => i).filter((i) => doc.ranks[i]!.delay_caused_ns > 0).sort((a, b) => doc.ranks[b]!.delay_caused_ns - doc.ranks[a]!.delay_caused_ns || a - b);

/** Of a large job: those that others wait for, those that the path runs over, those that wait the most, and for comparison a middle one. */
export function ranksThatMatter(doc: Ranks, most = MOST_CHOSEN): number[] {
  const byWait = doc.ranks.map((_, i) => i).sort((a, b) => doc.ranks[b]!.wait_ns - doc.ranks[a]!.wait_ns || a - b);
  const onPath = [...(doc.path?.ranks ?? [])].sort((a, b) => b.work_ns + b.transfer_ns - a.work_ns - a.transfer_ns || a.rank - b.rank).map((one) => one.rank);
  const part = Math.floor((most - 1) / 3);
  const chosen = new Set([...doc.stragglers.causes.map((cause) => cause.rank), ...latest(doc).slice(0, part), ...onPath.slice(0, part), ...byWait.slice(0, part), byWait[Math.floor(byWait.length / 2)]!]);
  return [...chosen].slice(0, most).sort((a, b) => a - b);
}

/** A choice of ranks to draw. */
export interface View {
  label: string;
  rows: Bundles;
  /** Of a drawing that takes ranks one by one. */
  ranks: number[];
}

/** All ranks; of a large job also those that matter, and each group by itself. */
export function viewsOf(doc: Ranks): View[] {
  const all = bundlesOf(doc.ranks);
  const every = doc.ranks.map((_, i) => i);
  if (all.of === 'ranks') return [{ label: 'all ranks', rows: all, ranks: every }];
  const matter = ranksThatMatter(doc);
  return [
    { label: `all ${doc.ranks.length} ranks, gathered`, rows: all, ranks: matter },
    { label: `the ${matter.length} ranks that matter most`, rows: only(doc.ranks, matter), ranks: matter },
    ...all.list.filter((bundle) => bundle.ranks.length > 1).map(({ label, ranks }) => ({ label, rows: only(doc.ranks, ranks.slice(0, MOST_RANKS)), ranks: ranks.slice(0, MOST_RANKS) })),
  ];
}

/** Columns of the matrix: all ranks of a small job, of a large one those with the most waiting for them, and the others as one. */
export function culpritsOf(doc: Ranks, most = MOST_CHOSEN): Bundles {
  if (doc.ranks.length <= MOST_RANKS) return bundlesOf(doc.ranks);
  const byDelay = latest(doc);
  const chosen = byDelay.slice(0, most).sort((a, b) => a - b), rest = byDelay.slice(most);
  return finish('ranks', [...alone(doc.ranks, chosen), ...(rest.length > 0 ? [{ label: `${rest.length} more`, ranks: rest }] : [])], doc.ranks.length);
}

type Times = Pick<Rank, 'kernel_time_ns' | 'judged_time_ns' | 'wait_ns' | 'delay_caused_ns'>;

/** Sums of a bundle's ranks, ns. */
export interface BundleTimes {
  transfer: number; ///< in communication kernels whose waits are known, without these
  wait: number;
  unknown: number; ///< in kernels of which nobody can say how long they waited
  caused: number; ///< waits of others for it
}
export function timesOf(bundles: Bundles, ranks: readonly Times[]): BundleTimes[] {
  return bundles.list.map((bundle) => bundle.ranks.reduce<BundleTimes>((sum, i) => {
    const rank = ranks[i]!;
    return {
      transfer: sum.transfer + Math.max(0, rank.judged_time_ns - rank.wait_ns), wait: sum.wait + rank.wait_ns,
      unknown: sum.unknown + rank.kernel_time_ns - rank.judged_time_ns, caused: sum.caused + rank.delay_caused_ns,
    };
  }, { transfer: 0, wait: 0, unknown: 0, caused: 0 }));
}

/** On one scale, whatever the number of ranks: own times as the mean of a bundle's ranks, what it caused as the mean over all others. */
export function meansOf(bundles: Bundles, ranks: readonly Times[]): BundleTimes[] {
  const others = Math.max(1, ranks.length - 1);
  return timesOf(bundles, ranks).map((sum, i) => {
    const own = bundles.list[i]!.ranks.length;
    return { transfer: sum.transfer / own, wait: sum.wait / own, unknown: sum.unknown / own, caused: sum.caused / others };
  });
}

/** A cell of the matrix: `waits` for `last`, places of bundles. */
export interface Cell {
  waits: number;
  last: number;
  wait: number;
  operations: number;
}

/** Who waits for whom, in rows and columns, the most waiting first. Operations are counted once for each pair of ranks. */
export function cellsOf(rows: Bundles, columns: Bundles, pairs: Ranks['waits_for']): Cell[] {
  const cells = new Map<number, Cell>();
  const width = columns.list.length;
  for (const pair of pairs) {
    const waits = rows.place[pair.waits]!, last = columns.place[pair.last]!, key = waits * width + last;
    if (waits < 0 || last < 0) continue;
    const cell = cells.get(key) ?? { waits, last, wait: 0, operations: 0 };
    cell.wait += pair.wait_ns;
    cell.operations += pair.operations;
    cells.set(key, cell);
  }
  return [...cells.values()].sort((a, b) => b.wait - a.wait || a.waits - b.waits || a.last - b.last);
}

type Operation = Ranks['operations'][number];
/** A rank in an operation, ns from the job's begin: from `from` it waits up to `ready`, from there it moves data up to `to`. */
export interface Stay {
  lane: number;
  from: number;
  ready: number | null; ///< null: it is not known how long it waits
  to: number;
  last: boolean; ///< the others wait for it
  operation: Operation;
  member: Operation['members'][number];
}

/** What ranks did in the operations of the document, a lane for each; without ranks whose clock cannot be compared with most others'. */
export function staysOf(doc: Ranks, chosen: readonly number[]): { lanes: number[]; stays: Stay[]; otherClocks: number } {
  const zones = new Map<number, number>();
  for (const { clock } of doc.ranks) zones.set(clock.zone, (zones.get(clock.zone) ?? 0) + 1);
  const zone = [...zones].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0];
  const lanes = chosen.filter((rank) => doc.ranks[rank]!.clock.zone === zone);
  const place = new Map(lanes.map((rank, lane) => [rank, lane]));
  const stays: Stay[] = [];
  for (const operation of doc.operations)
    for (const member of operation.members) {
      const lane = place.get(member.rank);
      if (lane === undefined) continue;
      const from = member.entry_ns, to = from + member.duration_ns;
      stays.push({ lane, from, ready: member.wait_ns === null ? null : Math.min(to, from + member.wait_ns), to, last: operation.last === member.rank, operation, member });
    }
  return { lanes, stays, otherClocks: chosen.length - lanes.length };
}

/** A stretch of the path on one rank, or in the transfer of an operation. */
export interface PathRow {
  lane: number; ///< place in `lanes`
  before: number | null; ///< lane of the hop that ends where this one begins
  from: number; ///< ns from the job's begin
  to: number;
  hop: Hop;
}

/** The hops by rank, for a drawing with a lane for each of the `most` ranks with the most time on the path; the others share the last. */
export function pathLanes(path: NonNullable<Ranks['path']>, ranks: readonly Pick<Rank, 'label'>[], most = 16): { lanes: string[]; rows: PathRow[] } {
  const onPath = [...new Set(path.hops.map((hop) => hop.rank))];
  const time = new Map(path.ranks.map((one) => [one.rank, one.work_ns + one.transfer_ns]));
  const chosen = onPath.sort((a, b) => (time.get(b) ?? 0) - (time.get(a) ?? 0) || a - b).slice(0, most).sort((a, b) => a - b);
  const others = onPath.length - chosen.length;
  const lanes = [...chosen.map((rank) => `rank ${ranks[rank]?.label ?? rank}`), ...(others > 0 ? [`${others} more`] : [])];
  let end: number | null = null, lane = 0;
  const rows = path.hops.map((hop): PathRow => {
    const place = chosen.indexOf(hop.rank), before = end === hop.from_ns ? lane : null;
    end = hop.to_ns;
    lane = place < 0 ? lanes.length - 1 : place;
    return { lane, before, from: hop.from_ns, to: hop.to_ns, hop };
  });
  return { lanes, rows };
}
