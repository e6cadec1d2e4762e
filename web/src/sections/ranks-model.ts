// What the section of ranks draws, from ranks.json: as many marks as one can tell apart, whatever the number of ranks. Many ranks are
// gathered by node, many nodes by runs of neighbours; sums stay whole.
import type { DocumentTypes } from '../documents';

export type Ranks = DocumentTypes['ranks'];
export type Rank = Ranks['ranks'][number];
export type Hop = NonNullable<Ranks['path']>['hops'][number];

/** Rows and columns of the matrix at most, and bars. */
export const MOST_CELLS = 64;

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
  /** By rank: its place in `list`. */
  place: number[];
}

function finish(of: Bundling, list: Bundle[], count: number): Bundles {
  const place = new Array<number>(count).fill(0);
  list.forEach((bundle, i) => bundle.ranks.forEach((rank) => (place[rank] = i)));
  return { of, list, place };
}

/** Each rank alone while that is readable; else the ranks of a node; else neighbouring nodes, equally many. */
export function bundlesOf(ranks: readonly Pick<Rank, 'label' | 'host'>[], most = MOST_CELLS): Bundles {
  if (ranks.length <= most) return finish('ranks', ranks.map((rank, i) => ({ label: `rank ${rank.label}`, ranks: [i] })), ranks.length);
  const byHost = new Map<string, number[]>();
  ranks.forEach(({ host }, i) => {
    const name = host ?? 'unknown host';
    const there = byHost.get(name);
    if (there) there.push(i);
    else byHost.set(name, [i]);
  });
  let nodes = [...byHost].map(([label, indices]): Bundle => ({ label, ranks: indices }));
  // One host with more ranks than can be told apart (or none known): neighbours by number.
  if (nodes.length === 1) nodes = ranks.map((rank, i) => ({ label: `rank ${rank.label}`, ranks: [i] }));
  if (nodes.length <= most) return finish('nodes', nodes, ranks.length);
  const each = Math.ceil(nodes.length / most);
  const groups: Bundle[] = [];
  for (let i = 0; i < nodes.length; i += each) {
    const part = nodes.slice(i, i + each);
    groups.push({ label: part.length === 1 ? part[0]!.label : `${part[0]!.label} to ${part.at(-1)!.label}`, ranks: part.flatMap((node) => node.ranks) });
  }
  return finish('groups of nodes', groups, ranks.length);
}

/** Sums of a bundle's ranks, ns. */
export interface BundleTimes {
  transfer: number; ///< in communication kernels, without waiting
  wait: number;
  caused: number; ///< waits of others for it
}
export function timesOf(bundles: Bundles, ranks: readonly Pick<Rank, 'kernel_time_ns' | 'wait_ns' | 'delay_caused_ns'>[]): BundleTimes[] {
  return bundles.list.map((bundle) => bundle.ranks.reduce<BundleTimes>((sum, i) => {
    const rank = ranks[i]!;
    return { transfer: sum.transfer + Math.max(0, rank.kernel_time_ns - rank.wait_ns), wait: sum.wait + rank.wait_ns, caused: sum.caused + rank.delay_caused_ns };
  }, { transfer: 0, wait: 0, caused: 0 }));
}

/** On one scale, whatever the number of ranks: own times as the mean of a bundle's ranks, what it caused as the mean over all others. */
export function meansOf(bundles: Bundles, ranks: readonly Pick<Rank, 'kernel_time_ns' | 'wait_ns' | 'delay_caused_ns'>[]): BundleTimes[] {
  const others = Math.max(1, ranks.length - 1);
  return timesOf(bundles, ranks).map((sum, i) => {
    const own = bundles.list[i]!.ranks.length;
    return { transfer: sum.transfer / own, wait: sum.wait / own, caused: sum.caused / others };
  });
}

/** A cell of the matrix: `waits` for `last`, places of bundles. */
export interface Cell {
  waits: number;
  last: number;
  wait: number;
  operations: number;
}

/** Who waits for whom by bundles, the most waiting first. Operations are counted once for each pair of ranks. */
export function cellsOf(bundles: Bundles, pairs: Ranks['waits_for']): Cell[] {
  const cells = new Map<number, Cell>();
  const width = bundles.list.length;
  for (const pair of pairs) {
    const waits = bundles.place[pair.waits]!, last = bundles.place[pair.last]!, key = waits * width + last;
    const cell = cells.get(key) ?? { waits, last, wait: 0, operations: 0 };
    cell.wait += pair.wait_ns;
    cell.operations += pair.operations;
    cells.set(key, cell);
  }
  return [...cells.values()].sort((a, b) => b.wait - a.wait || a.waits - b.waits || a.last - b.last);
}

/** A stretch of the path on one rank, or in the transfer of an operation. */
export interface PathRow {
  lane: number; ///< place in `lanes`
  from: number; ///< ns from the path's begin
  to: number;
  hop: Hop;
}

/** The hops by rank, for a drawing with a lane for each of the `most` ranks with the most time on the path; the others share the last. */
export function pathLanes(path: NonNullable<Ranks['path']>, ranks: readonly Pick<Rank, 'label'>[], most = 16): { lanes: string[]; rows: PathRow[] } {
  const onPath = [...new Set(path.hops.map((hop) => hop.rank))];
  const time = new Map(path.ranks.map((one) => [one.rank, one.work_ns + one.transfer_ns]));
  const chosen = onPath.sort((a, b) => (time.get(b) ?? 0) - (time.get(a) ?? 0) || a - b).slice(0, most).sort((a, b) => a - b);
  const others = onPath.length > chosen.length;
  const lanes = [...chosen.map((rank) => `rank ${ranks[rank]?.label ?? rank}`), ...(others ? ['other ranks'] : [])];
  const rows = path.hops.map((hop): PathRow => {
    const place = chosen.indexOf(hop.rank);
    return { lane: place < 0 ? lanes.length - 1 : place, from: hop.from_ns - path.begin_ns, to: hop.to_ns - path.begin_ns, hop };
  });
  return { lanes, rows };
}
