import { describe, expect, it } from 'vitest';
import { movesTo, outcomeText, SPEEDUPS, speedupText, type Setting } from './whatif-text';

const setting: Setting = { kernels: new Map([['a', 2]]), copies: 1, launches: 1, dropWaits: false };
const exact = { exact: true, rounding_ns: 0, path: null };

describe('what-if in words', () => {
  it('says gains, losses and nothing apart', () => {
    expect(outcomeText(1000, { ...exact, makespan: 750 }, setting)).toBe('The run takes 750 ns: it gains 250 ns (25.0 %).');
    expect(outcomeText(1000, { ...exact, makespan: 1100 }, setting)).toBe('The run takes 1.10 us: it loses 100 ns (10.0 %).');
    expect(outcomeText(1000, { ...exact, makespan: 1000 }, setting)).toContain('nothing is gained');
    expect(outcomeText(0, { ...exact, makespan: 0 }, setting)).not.toContain('%');
  });

  it('never calls a bound exact', () => {
    expect(outcomeText(1000, { makespan: 800, exact: false, rounding_ns: 12, path: null }, setting)).toBe('The run takes at most 800 ns: it gains at least 200 ns (20.0 %), to within 12 ns of rounding.');
    expect(outcomeText(1000, { ...exact, makespan: 800 }, { ...setting, dropWaits: true })).toContain('No program can do better');
  });

  it('keeps a segment apart from the run', () => {
    expect(outcomeText(1000, { makespan: 800, exact: false, rounding_ns: 12, path: null }, setting, true)).toBe('The whole run gains at least 200 ns (20.0 % of this segment’s time), to within 12 ns of rounding.');
    expect(outcomeText(1000, { ...exact, makespan: 1000 }, setting, true)).toBe('The whole run gains nothing.');
  });

  it('names what has more of the path than before', () => {
    const path = (names: [string, number][]) => ({ spent: [], names: names.map(([name, time]) => ({ name, inside: 'kernel' as const, time })) });
    expect(movesTo(path([['a', 100], ['b', 20]]), path([['a', 10], ['b', 50], ['c', 70]]))).toEqual([{ name: 'c', more: 70 }, { name: 'b', more: 30 }]);
    expect(movesTo(path([['a', 100]]), path([['a', 50]]))).toEqual([]);
  });

  it('has speedups that the command line writes the same way', () => {
    for (const speedup of SPEEDUPS) if (Number.isFinite(speedup)) expect(Number(`${speedup}`)).toBe(speedup);
    expect([...SPEEDUPS].sort((a, b) => a - b)).toEqual(SPEEDUPS);
    expect(SPEEDUPS.map(speedupText).filter((text) => text === 'infinitely fast')).toHaveLength(1);
  });
});
