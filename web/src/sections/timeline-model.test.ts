import { describe, expect, it } from 'vitest';
import {
  clampView, firstWhere, inView, isMerged, matchingNames, neighbour, paletteOf, sliceAt, stretchAt, ticks, tickText, timelineModel, totalsOf, zoomed,
  type TimelineDocument,
} from './timeline-model';

const document: TimelineDocument = {
  span_ns: 1000, resolution_ns: 0, names: ['gemm', 'softmax', 'H2D', 'hipFree'], name_kinds: ['dispatch', 'dispatch', 'copy', 'call'],
  lanes: [
    { kind: 'stream', label: 'stream 0', operations: 5, busy_ns: 740, path_ns: 300, slices: [[0, 500, 0, 1, 500, 300], [100, 20, 1, 1, 20, 0], [200, 100, 2, 1, 100, 0], [600, 100, 0, 2, 90, 0], [900, 30, 1, 1, 30, 0]] },
    { kind: 'host_thread', label: 'thread 1', operations: 1, busy_ns: 10, path_ns: 0, slices: [[5, 10, 3, 1, 10, 0]] },
  ],
  spent_kinds: ['kernel', 'idle'], path: [[0, 300, 0, 0, 300], [300, 600, 1, null, 300], [600, 1000, 0, 0, 120]],
};

describe('timeline', () => {
  const model = timelineModel(document);
  const lane = model.lanes[0]!;

  it('finds what is in view, also below a longer slice that began before', () => {
    expect(inView(lane, 450, 650)).toEqual([0, 4]);
    expect(inView(lane, 510, 590)).toEqual([3, 3]);
    expect(inView(lane, 950, 1000)).toEqual([5, 5]);
  });

  it('finds the slice under the pointer, the last drawn first, or one within reach', () => {
    expect(sliceAt(lane, 110, 0)).toBe(1);
    expect(sliceAt(lane, 450, 0)).toBe(0);
    expect(sliceAt(lane, 550, 5)).toBe(-1);
    expect(sliceAt(lane, 590, 20)).toBe(3);
  });

  it('agrees with a plain search on random lanes', () => {
    let seed = 5;
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    for (let round = 0; round < 30; ++round) {
      const slices = Array.from({ length: 40 }, () => [random(1000), random(round % 2 ? 400 : 20), 0, 1, 1, 0]).sort((a, b) => a[0]! - b[0]!);
      const made = timelineModel({ ...document, lanes: [{ kind: 'stream', label: 's', operations: 40, busy_ns: 0, path_ns: 0, slices }] }).lanes[0]!;
      for (let time = 0; time < 1400; time += 37) {
        const holds = slices.flatMap(([start, length], i) => (start! <= time && start! + length! >= time ? [i] : []));
        expect(sliceAt(made, time, 0)).toBe(holds.at(-1) ?? -1);
        const [first, past] = inView(made, time, time + 50);
        slices.forEach(([start, length], i) => {
          if (start! <= time + 50 && start! + length! >= time) expect(i >= first && i < past).toBe(true);
        });
      }
    }
  });

  it('knows the stretch of the path at a time', () => {
    expect(stretchAt(model.path!, 0)).toBe(0);
    expect(stretchAt(model.path!, 300)).toBe(1);
    expect(stretchAt(model.path!, 1000)).toBe(-1);
    expect(model.path![1]!.lane).toBe(-1);
  });

  it('goes from operation to operation of a search', () => {
    const matches = matchingNames(model.names, 'GEMM')!;
    expect([...matches]).toEqual([1, 0, 0, 0]);
    expect(neighbour(lane, 0, 1, (name) => matches[name] === 1)).toBe(3);
    expect(neighbour(lane, 3, 1, (name) => matches[name] === 1)).toBe(-1);
    expect(neighbour(lane, 3, -1, (name) => matches[name] === 1)).toBe(0);
    expect(matchingNames(model.names, '  ')).toBeNull();
  });

  it('adds up what a search found, and says when it is mixed with other names', () => {
    const gemm = matchingNames(model.names, 'gemm')!;
    expect(totalsOf(model, gemm)).toEqual({ slices: 2, operations: 2, inside: 1, busy: 590, path: 300, merged: false });
    expect(totalsOf(timelineModel({ ...document, resolution_ns: 50 }), gemm)).toMatchObject({ operations: 3, inside: 0, merged: true });
  });

  it('calls a slice merged only where operations were put together', () => {
    const merged = timelineModel({ ...document, resolution_ns: 60 });
    expect(isMerged(merged, merged.lanes[0]!, 3)).toBe(true);
    expect(isMerged(merged, merged.lanes[0]!, 0)).toBe(false);
    expect(isMerged(model, lane, 3)).toBe(false);
  });

  it('gives the kernels with the most time colours of their own, whatever the order of names', () => {
    expect([...paletteOf(model, 1)]).toEqual([0, 1, 2, 3]);
    const turned = timelineModel({ ...document, names: ['softmax', 'gemm', 'H2D', 'hipFree'], lanes: [{ ...document.lanes[0]!, slices: document.lanes[0]!.slices.map((s) => [s[0]!, s[1]!, [1, 0, 2, 3][s[2]!]!, s[3]!, s[4]!, s[5]!]) }] });
    expect([...paletteOf(turned, 1)]).toEqual([1, 0, 2, 3]);
  });

  it('keeps the view inside of the run', () => {
    expect(clampView({ from: -50, to: 150 }, 1000)).toEqual({ from: 0, to: 200 });
    expect(clampView({ from: 900, to: 1200 }, 1000)).toEqual({ from: 700, to: 1000 });
    expect(clampView({ from: 10, to: 11 }, 1000)).toEqual({ from: 10, to: 30 });
    expect(clampView({ from: 0, to: 5000 }, 1000)).toEqual({ from: 0, to: 1000 });
    const view = zoomed({ from: 0, to: 1000 }, 1000, 250, 0.5);
    expect(view).toEqual({ from: 125, to: 625 });
  });

  it('labels ticks so that neighbours differ', () => {
    expect(ticks(0, 1000, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(ticks(0, 0, 5)).toEqual([]);
    for (const [from, to] of [[0, 32_000_000], [25_000_000, 25_000_900], [3, 40], [1e9, 61e9]] as const) {
      const marks = ticks(from, to, 8);
      expect(marks.length).toBeGreaterThan(1);
      expect(marks.length).toBeLessThanOrEqual(9);
      const texts = marks.map((time) => tickText(time, marks[1]! - marks[0]!, to));
      expect(new Set(texts).size).toBe(texts.length);
    }
    expect(tickText(25_000_500, 100, 25_000_900)).toBe('25.0005 ms');
  });

  it('halves', () => {
    expect(firstWhere(10, (i) => i >= 7)).toBe(7);
    expect(firstWhere(10, () => false)).toBe(10);
  });
});
