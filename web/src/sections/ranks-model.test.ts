import { describe, expect, it } from 'vitest';
import { bundlesOf, cellsOf, meansOf, pathLanes, timesOf, type Hop, type Ranks } from './ranks-model';

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
    expect([groups.of, groups.list.length, groups.list[1]]).toEqual(['groups of nodes', 64, { label: 'node2 to node3', ranks: Array.from({ length: 16 }, (_, i) => 16 + i) }]);
    expect(groups.place[1023]).toBe(63);
  });
  it('of one host are neighbours', () => {
    const { of, list } = bundlesOf(job(130, 1000));
    expect([of, list.length, list[0]!.label, list.at(-1)!.ranks]).toEqual(['groups of nodes', 44, 'rank 0 to rank 2', [129]]);
  });
});

describe('sums', () => {
  const figures = job(256, 8).map((rank, i) => ({ ...rank, kernel_time_ns: 100, wait_ns: i % 8 === 0 ? 0 : 40, delay_caused_ns: i === 8 ? 1000 : 0 }));
  it('are those of all ranks, whatever they are gathered to', () => {
    const times = timesOf(bundlesOf(figures), figures);
    expect(times[1]).toEqual({ transfer: 520, wait: 280, caused: 1000 });
    expect(times.reduce((sum, one) => sum + one.transfer + one.wait, 0)).toBe(25_600);
  });
  it('are drawn as means', () => {
    const mean = meansOf(bundlesOf(figures), figures)[1]!;
    expect([mean.transfer, mean.wait, mean.caused]).toEqual([65, 35, 1000 / 255]);
  });
  it('of the matrix keep every pair', () => {
    const pairs = [{ waits: 1, last: 8, wait_ns: 5, operations: 1 }, { waits: 2, last: 9, wait_ns: 7, operations: 2 }, { waits: 9, last: 8, wait_ns: 20, operations: 1 }];
    expect(cellsOf(bundlesOf(figures), pairs)).toEqual([{ waits: 1, last: 1, wait: 20, operations: 1 }, { waits: 0, last: 1, wait: 12, operations: 3 }]);
  });
});

describe('the path', () => {
  const hop = (rank: number, from: number, to: number): Hop => ({ rank, from_rank: rank, collective: false, from_ns: from, to_ns: to, operation: null, kernel: null, kernel_time_ns: 0 });
  const path = { begin_ns: 100, hops: [hop(5, 100, 110), hop(2, 110, 150), hop(7, 150, 151)], ranks: [{ rank: 2, hops: 1, work_ns: 40, transfer_ns: 0 }, { rank: 5, hops: 1, work_ns: 10, transfer_ns: 0 }, { rank: 7, hops: 1, work_ns: 1, transfer_ns: 0 }] } as unknown as NonNullable<Ranks['path']>;
  it('has a lane for each of the ranks with the most time', () => {
    const { lanes, rows } = pathLanes(path, job(8, 8), 2);
    expect(lanes).toEqual(['rank 2', 'rank 5', 'other ranks']);
    expect(rows.map(({ lane, from, to }) => [lane, from, to])).toEqual([[1, 0, 10], [0, 10, 50], [2, 50, 51]]);
  });
});
