import { describe, expect, it } from 'vitest';
import { filesByCost, heat, hottest, lineOfRow, lineSums, lineText, listing, sourceEntries, stateAt, stateColumns, waitsOf, WAVE_STATES, waveRows, type TracedKernel, type TracedWave } from './threadtrace-model';

const kernel: TracedKernel = {
  rows: {
    row: [1, 2, 4, 5], text: ['s_load', 's_waitcnt', 'v_add', 's_endpgm'], class: ['smem', 'waitcnt', 'valu', 'other'], code_object: [1, 1, 1, 1], vaddr: [0, 8, 12, 16],
    chain: [0, 1, 1, null], hits: [2, 2, 2, 0], latency: [10, 90, 20, 0], stall: [0, 90, 4, 0], idle: [0, 0, 6, 0], cost: [10, 90, 26, 0], wait_caused: [90, 0, 0, 0],
  },
  cycles: { cost: 126, stall: 94 },
  labels: [{ row: 0, name: 'kernel' }, { row: 3, name: 'device function' }],
  chains: [[0], [1, 0]], lines: [[0, 12], [1, 3], [0, 0]],
  sources: [{ path: '/src/a.hip', line_count: 40, parts: [{ first_line: 11, text: ['x', 'y'] }, { first_line: 30, text: ['z'] }] }, { path: '/src/b.h', line_count: null, parts: null }],
  waits: { pairs: [[2, 1, 90, 2]] },
};

describe('thread trace', () => {
  it('puts labels before the rows that they are of', () => {
    expect(listing(kernel)).toEqual([{ label: 'kernel', place: -1 }, { label: null, place: 0 }, { label: null, place: 1 }, { label: 'device function', place: -1 }, { label: null, place: 2 }, { label: null, place: 3 }]);
  });

  it('adds rows up by innermost line, so that lines add up to the rows that have one', () => {
    const sums = lineSums(kernel);
    expect(sums.map((sum) => sum.cost)).toEqual([10, 116, 0]);
    expect(sums[1]!.rows).toEqual([1, 2]);
    expect(sums.reduce((total, sum) => total + sum.stall, 0)).toBe(94);
    expect(lineOfRow(kernel, 3)).toBe(-1);
    expect(filesByCost(kernel, sums)).toEqual([{ source: 1, cost: 116 }, { source: 0, cost: 10 }]);
  });

  it('shows the parts of a file with a gap, and lines that it does not have', () => {
    expect(sourceEntries(kernel, 0)).toEqual([
      { number: 11, text: 'x', line: -1 }, { number: 12, text: 'y', line: 0 }, { number: -1, text: null, line: -1 }, { number: 30, text: 'z', line: -1 }, { number: 0, text: null, line: 2 },
    ]);
    expect(sourceEntries(kernel, 1)).toEqual([{ number: 3, text: null, line: 1 }]);
    expect(sourceEntries({ ...kernel, sources: null }, 1)).toEqual([{ number: 3, text: null, line: 1 }]);
    expect(lineText(kernel, 0)).toBe('a.hip:12');
    expect(lineText(kernel, 2, true)).toBe('/src/a.hip (no line)');
  });

  it('knows the hottest rows and what waits for what', () => {
    expect(hottest(kernel, 'cost', 2)).toEqual([1, 2]);
    expect(hottest(kernel, 'wait_caused', 9)).toEqual([0]);
    expect(waitsOf(kernel, 1)).toEqual({ causes: [[0, 90]], waits: [] });
    expect(waitsOf(kernel, 0)).toEqual({ causes: [], waits: [[1, 90]] });
    expect(heat(0, 10)).toBe(0);
    expect(heat(10, 10)).toBe(1);
    expect(heat(1, 0)).toBe(0);
  });
});

describe('waves', () => {
  const wave = (engine: number, simd: number, slot: number, begin: number, runs: number[]): TracedWave => ({ engine, cu: 1, simd, slot, id: 0, begin, end: begin + runs.filter((_, i) => i % 2 === 1).reduce((a, b) => a + b, 0), runs });
  const one = wave(0, 0, 1, 100, [1, 10, 2, 40, 3, 50]);

  it('are rows by SIMD and slot', () => {
    const rows = waveRows([wave(0, 1, 0, 0, [2, 5]), one, wave(1, 0, 0, 0, [2, 5]), wave(0, 0, 1, 300, [2, 5])], 0);
    expect(rows.map((row) => [row.simd, row.slot, row.waves.length])).toEqual([[0, 1, 2], [1, 0, 1]]);
  });

  it('are in one state at a time', () => {
    expect(stateAt([one], 99)).toBeNull();
    expect(stateAt([one], 105)).toMatchObject({ state: 1, begin: 100, cycles: 10 });
    expect(stateAt([one], 110)).toMatchObject({ state: 2, begin: 110, cycles: 40 });
    expect(stateAt([one], 200)).toBeNull();
  });

  it('keep the sums of their states when they are put into columns', () => {
    for (const columns of [1, 3, 7, 100]) {
      const parts = stateColumns(one, 90, 210, columns);
      const sum = (state: number): number => parts.reduce((total, cycles, i) => (i % WAVE_STATES.length === state ? total + cycles : total), 0);
      expect([0, 1, 2, 3, 4].map((state) => Math.round(sum(state) * 1e6) / 1e6)).toEqual([0, 10, 40, 50, 0]);
    }
  });
});
