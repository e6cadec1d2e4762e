// What a roofline chart draws, from the document: roofs and marks as they stand there, and marks of one precision alone, which are
// made here from the FLOPs by type, the bytes of a level and the time of the same document.
import type { DocumentTypes } from '../documents';

export type Roofline = DocumentTypes['roofline'];
export type GpuChart = Roofline['chart']['gpus'][number];
export type Roof = GpuChart['roofs'][number];
export type Mark = GpuChart['marks'][number];
export type Level = Mark['level'];
type Kernel = Roofline['kernels'][number];

/** A pipe with a precision: "matrix.bf16". */
export interface Precision {
  id: string;
  label: string;
  kernels: number; ///< with work of it
}
export interface Point {
  kernel: number;
  letter: string;
  level: Level;
  x: number;
  y: number;
  attainable: number | null;
  bound: string | null;
}

const idOf = (type: { pipe: string; precision: string }): string => `${type.pipe}.${type.precision}`;
/** FLOPs of a type that count: those of the lanes that worked, where that is known. */
const flopsOf = (type: Kernel['flops']['by_type'][number]): number | null => type.lane_corrected ?? type.flops.value;
const onGpu = (kernel: Kernel, gpu: GpuChart): boolean => kernel.architecture === gpu.architecture && kernel.product === gpu.product;

/** The precisions that any kernel of this GPU has work of, by name. */
export function precisionsOf(document: Roofline, gpu: GpuChart): Precision[] {
  const found = new Map<string, Precision>();
  for (const kernel of document.kernels.filter((one) => onGpu(one, gpu)))
    for (const type of kernel.flops.by_type) {
      if (!((flopsOf(type) ?? 0) > 0)) continue;
      const entry = found.get(idOf(type)) ?? { id: idOf(type), label: `${type.pipe} ${type.precision}`, kernels: 0 };
      entry.kernels += 1;
      found.set(entry.id, entry);
    }
  return [...found.values()].sort((a, b) => a.id.localeCompare(b.id));
}

/** The levels that have marks or roofs. */
export function levelsOf(gpu: GpuChart): Level[] {
  return (['hbm', 'l2', 'lds'] as const).filter((level) => gpu.marks.some((mark) => mark.level === level) || gpu.roofs.some((roof) => roof.name === level));
}

/** The ceilings of a precision, in GFLOP/s, as its kernels have them: several where agents of one product differ; most is one. */
export function ceilingsOf(document: Roofline, gpu: GpuChart, precision: string): number[] {
  const found = new Set<number>();
  for (const kernel of document.kernels.filter((one) => onGpu(one, gpu)))
    for (const type of kernel.flops.by_type) if (idOf(type) === precision && type.ceiling.value !== null) found.add(type.ceiling.value);
  return [...found];
}

/** A name of its own for each roof in the chart: its bare name, and with its place where another of that name stands before it. */
export function seriesNames(roofs: readonly { name: string }[]): string[] {
  return roofs.map((roof, index) => (roofs.findIndex((one) => one.name === roof.name) === index ? roof.name : `${roof.name} ${index}`));
}

/** The document's marks at a level. */
export function marksAt(gpu: GpuChart, level: Level): Point[] {
  return gpu.marks.filter((mark) => mark.level === level).map((mark) => ({ kernel: mark.kernel, letter: mark.letter, level, x: mark.x, y: mark.y, attainable: mark.attainable_gflops, bound: mark.bound }));
}

/** Marks of one precision at a level: its FLOPs over the kernel's time, and over all of the level's bytes. */
export function typedMarks(document: Roofline, gpu: GpuChart, precision: string, level: Level): Point[] {
  const letters = new Map(gpu.marks.map((mark) => [mark.kernel, mark.letter]));
  return document.kernels.flatMap((kernel, index): Point[] => {
    if (!onGpu(kernel, gpu)) return [];
    const type = kernel.flops.by_type.find((one) => idOf(one) === precision);
    const flops = type ? flopsOf(type) : null;
    const side = kernel.levels.find((one) => one.name === level);
    const bytes = side?.bytes ?? null, time = kernel.time.total_ns;
    if (flops === null || !(flops > 0) || bytes === null || !(bytes > 0) || time === null || !(time > 0)) return [];
    const x = flops / bytes, roofs = [side?.ceiling.value ?? null, type?.ceiling.value ?? null] as const;
    const memory = roofs[0] === null ? null : roofs[0] * x;
    const attainable = memory === null || roofs[1] === null ? null : Math.min(memory, roofs[1]);
    return [{ kernel: index, letter: letters.get(index) ?? '', level, x, y: flops / time, attainable, bound: attainable === null ? null : attainable === memory ? 'memory' : 'compute' }];
  });
}

/** Powers of ten around all values, for a logarithmic axis. */
export function decades(values: readonly number[], low: number, high: number): [number, number] {
  const positive = values.filter((value) => value > 0);
  return [10 ** Math.floor(Math.log10(Math.min(low, ...positive)) + 1e-9), 10 ** Math.ceil(Math.log10(Math.max(high, ...positive)) - 1e-9)];
}

/** The angle at which a line of slope 1 in log-log coordinates rises on the screen, in degrees. */
export function slopeAngle(width: number, height: number, xDecades: number, yDecades: number): number {
  return (Math.atan2(height / yDecades, width / xDecades) * 180) / Math.PI;
}
