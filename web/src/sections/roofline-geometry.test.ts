import { describe, expect, it } from 'vitest';
import { ceilingsOf, decades, marksAt, precisionsOf, seriesNames, slopeAngle, typedMarks, type GpuChart, type Roofline } from './roofline-geometry';
import { ratioRange } from './ratio-range';

const gpu = { architecture: 'gfx942', product: 'P', x: { min: 0.1, max: 1000 }, y: { min: 100, max: 1e6 }, roofs: [], marks: [{ kernel: 0, letter: 'A', level: 'hbm', x: 2, y: 50, label: '', bound: 'memory', attainable_gflops: 80 }] } as unknown as GpuChart;
const type = (pipe: string, precision: string, flops: number, ceiling: number | null): unknown => ({ pipe, precision, flops: { value: flops }, lane_corrected: null, ceiling: { value: ceiling } });
const document = {
  kernels: [
    { architecture: 'gfx942', product: 'P', time: { total_ns: 1000 }, flops: { by_type: [type('matrix', 'bf16', 40_000, 1300), type('vector', 'fp32', 0, 80)] }, levels: [{ name: 'hbm', bytes: 20_000, ceiling: { value: 30 } }, { name: 'l2', bytes: null, ceiling: { value: 300 } }] },
    { architecture: 'gfx942', product: 'P', time: { total_ns: 500 }, flops: { by_type: [type('matrix', 'bf16', 900_000, 1300)] }, levels: [{ name: 'hbm', bytes: 1000, ceiling: { value: 30 } }] },
    { architecture: 'gfx90a', product: 'Q', time: { total_ns: 500 }, flops: { by_type: [type('vector', 'fp64', 900, 10)] }, levels: [] },
  ],
} as unknown as Roofline;

describe('marks', () => {
  it('are the document\'s for all work', () => expect(marksAt(gpu, 'hbm')).toEqual([{ kernel: 0, letter: 'A', level: 'hbm', x: 2, y: 50, attainable: 80, bound: 'memory' }]));
  it('of one precision are its FLOPs over bytes and time', () => {
    const marks = typedMarks(document, gpu, 'matrix.bf16', 'hbm');
    expect(marks[0]).toEqual({ kernel: 0, letter: 'A', level: 'hbm', x: 2, y: 40, attainable: 60, bound: 'memory' });
    expect(marks[1]).toMatchObject({ kernel: 1, letter: '', x: 900, y: 1800, attainable: 1300, bound: 'compute' });
  });
  it('are not made up where bytes are unknown or work is zero', () => {
    expect(typedMarks(document, gpu, 'matrix.bf16', 'l2')).toEqual([]);
    expect(typedMarks(document, gpu, 'vector.fp32', 'hbm')).toEqual([]);
  });
  it('offer only precisions with work on this GPU', () => expect(precisionsOf(document, gpu)).toEqual([{ id: 'matrix.bf16', label: 'matrix bf16', kernels: 2 }]));
  it('know the ceilings of a precision, of every agent', () => {
    expect(ceilingsOf(document, gpu, 'matrix.bf16')).toEqual([1300]);
    expect(ceilingsOf(document, gpu, 'vector.fp64')).toEqual([]);
    const slower = { ...document.kernels[0]!, flops: { by_type: [type('matrix', 'bf16', 40_000, 900)] } };
    expect(ceilingsOf({ ...document, kernels: [...document.kernels, slower] } as unknown as Roofline, gpu, 'matrix.bf16')).toEqual([1300, 900]);
  });
  it('have names of their own in the chart, where two agents have roofs of one name', () => {
    const names = seriesNames(['hbm', 'l2', 'hbm', 'vector.fp32', 'hbm'].map((name) => ({ name })));
    expect(names).toEqual(['hbm', 'l2', 'hbm 2', 'vector.fp32', 'hbm 4']);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('axes', () => {
  it('cover whole decades', () => {
    expect(decades([0.02, 30], 0.1, 1000)).toEqual([0.01, 1000]);
    expect(decades([], 0.1, 1000)).toEqual([0.1, 1000]);
    expect(decades([2000], 0.1, 1000)).toEqual([0.1, 10_000]);
  });
  it('give a slope of one its angle on the screen', () => {
    expect(slopeAngle(400, 400, 4, 4)).toBeCloseTo(45);
    expect(slopeAngle(800, 400, 4, 4)).toBeCloseTo(26.565);
  });
  it('of ratios hold 1, the margin and every interval', () => {
    const row = (ratio: number | null, low: number | null, high: number | null) => ({ ratio, low, high });
    const [low, high] = ratioRange([row(0.5, 0.4, 0.6), row(null, null, null)], [0.98, 1.02]);
    expect(low).toBeLessThan(0.4);
    expect(high).toBeGreaterThan(1.02);
    const only = ratioRange([], null);
    expect(only[0]).toBeLessThan(1);
    expect(only[1]).toBeGreaterThan(1);
  });
});
