import { describe, expect, it } from 'vitest';
import { bundlesOf, cellsOf, culpritsOf, meansOf, only, pathLanes, rangeLabel, ranksThatMatter, staysOf, timesOf, viewsOf, type Hop, type Ranks } from './ranks-model';

const job = (count: number, perNode: number): { label: string; host: string | null }[] => Array.from({ length: count }, (_, i) => ({ label: String(i), host: `node${Math.floor(i / perNode)}` }));

describe('bundles', () => {
  it('are the ranks themselves while they are few', () => {
    const { of, list, place } = bundlesOf(job(8, 4));
    expect(of).toBe('ranks');
    expect(list[3]).toEqual({ label: 'rank 3', ranks: [3] });
    expect(place).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
  it('are nodes, then groups of nodes', () => {
    const nodes = bundlesOf(job(256, 8));
    expect([nodes.of, nodes.list.length, nodes.list[31]!.label]).toEqual(['nodes', 32, 'node31']);
    const groups = bundlesOf(job(1024, 8));
    expect([groups.of, groups.list.length, groups.list[1]]).toEqual(['groups of nodes', 32, { label: 'node4–7', ranks: Array.from({ length: 32 }, (_, i) => 32 + i) }]);
    expect(groups.place[1023]).toBe(31);
  });
  it('of names with a number say what they share once', () => {
    expect(rangeLabel('host-0008', 'host-0011')).toBe('host-0008–0011');
    expect(rangeLabel('a12.lan', 'a13.lan')).toBe('a12.lan–13.lan');
    expect(rangeLabel('red', 'blue')).toBe('red to blue');
  });
  it('of one host are neighbours', () => {
    const { of, list } = bundlesOf(job(130, 1000));
    expect([of, list.length, list[0]!.label, list.at(-1)!.ranks]).toEqual(['groups of nodes', 26, 'rank 0–4', [125, 126, 127, 128, 129]]);
  });
});

describe('sums', () => {
  const figures = job(256, 8).map((rank, i) => ({ ...rank, kernel_time_ns: 100, judged_time_ns: 90, wait_ns: i % 8 === 0 ? 0 : 40, delay_caused_ns: i === 8 ? 1000 : 0 }));
  it('are those of all ranks, whatever they are gathered to', () => {
    const times = timesOf(bundlesOf(figures), figures);
    expect(times[1]).toEqual({ transfer: 440, wait: 280, unknown: 80, caused: 1000 });
    expect(times.reduce((sum, one) => sum + one.transfer + one.wait + one.unknown, 0)).toBe(25_600);
  });
  it('are drawn as means', () => {
    const mean = meansOf(bundlesOf(figures), figures)[1]!;
    expect([mean.transfer, mean.wait, mean.unknown, mean.caused]).toEqual([55, 35, 10, 1000 / 255]);
  });
  it('of the matrix keep every pair', () => {
    const pairs = [{ waits: 1, last: 8, wait_ns: 5, operations: 1 }, { waits: 2, last: 9, wait_ns: 7, operations: 2 }, { waits: 9, last: 8, wait_ns: 20, operations: 1 }];
    expect(cellsOf(bundlesOf(figures), bundlesOf(figures), pairs)).toEqual([{ waits: 1, last: 1, wait: 20, operations: 1 }, { waits: 0, last: 1, wait: 12, operations: 3 }]);
  });
});

/** A job as the model reads it: rank 70 makes the others wait the most, rank 9 some; operations of all. */
function large(count: number): Ranks {
  const ranks = job(count, 8).map((rank, i) => ({ ...rank, wait_ns: i === 70 ? 0 : 1000 + i, delay_caused_ns: i === 70 ? 9000 : i === 9 ? 10 : 0, clock: { zone: i === count - 1 ? 1 : 0 } }));
  const members = ranks.map((_, rank) => ({ rank, entry_ns: rank === 70 ? 50 : 10, duration_ns: rank === 70 ? 20 : 60, wait_ns: rank === 3 ? null : rank === 70 ? 0 : 40, wait_error_ns: 1 }));
  return { ranks, stragglers: { causes: [{ rank: 70 }] }, path: { ranks: [{ rank: 12, work_ns: 5, transfer_ns: 0 }] }, operations: [{ last: 70, members }] } as unknown as Ranks;
}

describe('a large job', () => {
  it('shows the ranks that matter: late ones, those of the path, long waits', () => {
    const chosen = ranksThatMatter(large(128));
    for (const rank of [70, 9, 12, 127]) expect(chosen).toContain(rank);
    expect(chosen.length).toBeLessThanOrEqual(24);
    expect([...chosen].sort((a, b) => a - b)).toEqual(chosen);
  });
  it('can be looked at by groups, by those that matter, and each group by itself', () => {
    const views = viewsOf(large(1024));
    expect(views.length).toBe(2 + 32);
    expect(views[0]!.rows.list.length).toBe(32);
    expect(views[2]!.rows.list.map((bundle) => bundle.label)).toContain('rank 31');
    expect(viewsOf(large(64 + 8)).length).toBe(2 + 9);
    const small = large(71);
    expect(viewsOf({ ...small, ranks: small.ranks.slice(0, 8) }).map((view) => view.label)).toEqual(['all ranks']);
  });
  it('has a matrix whose columns are the ranks that others wait for, the rest together', () => {
    expect(culpritsOf(large(128)).list.map((bundle) => bundle.label)).toEqual(['rank 9', 'rank 70']);
    expect(culpritsOf(large(128), 1).list).toEqual([{ label: 'rank 70', ranks: [70] }, { label: '1 more', ranks: [9] }]);
    const doc = large(128);
    expect(cellsOf(only(doc.ranks, [4]), culpritsOf(doc), [{ waits: 4, last: 70, wait_ns: 6, operations: 1 }, { waits: 5, last: 70, wait_ns: 7, operations: 1 }])).toEqual([{ waits: 0, last: 1, wait: 6, operations: 1 }]);
  });
});

describe('by time', () => {
  it('a rank waits, then moves data; the last one is marked, what is not known stays so', () => {
    const { lanes, stays, otherClocks } = staysOf(large(128), [3, 4, 70, 127]);
    expect(lanes).toEqual([3, 4, 70]);
    expect(otherClocks).toBe(1);
    expect(stays.map(({ lane, from, ready, to, last }) => [lane, from, ready, to, last])).toEqual([[0, 10, null, 70, false], [1, 10, 50, 70, false], [2, 50, 50, 70, true]]);
  });
});

describe('the path', () => {
  const hop = (rank: number, from: number, to: number): Hop => ({ rank, from_rank: rank, collective: false, from_ns: from, to_ns: to, operation: null, kernel: null, kernel_time_ns: 0 });
  const path = { hops: [hop(5, 0, 10), hop(2, 10, 50), hop(7, 51, 52)], ranks: [{ rank: 2, hops: 1, work_ns: 40, transfer_ns: 0 }, { rank: 5, hops: 1, work_ns: 10, transfer_ns: 0 }, { rank: 7, hops: 1, work_ns: 1, transfer_ns: 0 }] } as unknown as NonNullable<Ranks['path']>;
  it('has a lane for each of the ranks with the most time', () => {
    const { lanes, rows } = pathLanes(path, job(8, 8), 2);
    expect(lanes).toEqual(['rank 2', 'rank 5', '1 more']);
    expect(rows.map(({ lane, before, from, to }) => [lane, before, from, to])).toEqual([[1, null, 0, 10], [0, 1, 10, 50], [2, null, 51, 52]]);
  });
});
