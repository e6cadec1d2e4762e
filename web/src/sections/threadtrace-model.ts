// The thread trace as the page shows it: rows with their share of the cycles, source lines with the sums of their rows, which
// rows a line has, where labels stand. Pure. Meaning of the numbers: schemas/thread_trace.schema.json.

/** The fields of one kernel of thread_trace.json that are listed. */
export interface TracedKernel {
  rows: {
    row: number[]; text: string[]; class: string[]; code_object: number[]; vaddr: number[]; chain: (number | null)[];
    hits: number[]; latency: number[]; stall: number[]; idle: number[]; cost: number[]; wait_caused: number[];
  };
  cycles: { cost: number; stall: number };
  labels: { row: number; name: string }[];
  chains: number[][];
  lines: number[][];
  sources: SourceFile[] | null;
  waits: { pairs: number[][] };
}

export interface SourceFile {
  path: string;
  line_count: number | null;
  parts: { first_line: number; text: string[] }[] | null;
}

/** What the heat of a row can be. */
export type HeatKind = 'cost' | 'stall' | 'wait_caused';

/** An entry of the listing: a label, or the row at that place of the lists. */
export type ListingEntry = { label: string; place: -1 } | { label: null; place: number };

/** Rows with the labels before them. */
export function listing(kernel: TracedKernel): ListingEntry[] {
  const out: ListingEntry[] = [];
  let label = 0;
  kernel.rows.row.forEach((row, place) => {
    while (label < kernel.labels.length && kernel.labels[label]!.row <= row) out.push({ label: kernel.labels[label++]!.name, place: -1 });
    out.push({ label: null, place });
  });
  return out;
}

/** Sums of a source line's rows. Rows count for their innermost line, so that lines add up. */
export interface LineSums {
  cost: number;
  stall: number;
  wait_caused: number;
  /** Places of its rows. */
  rows: number[];
}

/** By line (index into lines). */
export function lineSums(kernel: TracedKernel): LineSums[] {
  const sums = kernel.lines.map((): LineSums => ({ cost: 0, stall: 0, wait_caused: 0, rows: [] }));
  kernel.rows.chain.forEach((chain, place) => {
    const line = chain === null ? undefined : kernel.chains[chain]?.[0];
    const sum = line === undefined ? undefined : sums[line];
    if (sum === undefined) return;
    sum.cost += kernel.rows.cost[place]!;
    sum.stall += kernel.rows.stall[place]!;
    sum.wait_caused += kernel.rows.wait_caused[place]!;
    sum.rows.push(place);
  });
  return sums;
}

/** The innermost source line of a row: index into lines; -1: not known. */
export function lineOfRow(kernel: TracedKernel, place: number): number {
  const chain = kernel.rows.chain[place];
  return chain === null || chain === undefined ? -1 : (kernel.chains[chain]?.[0] ?? -1);
}

/** "softmax.hip:12", with the whole path when asked; line 0: the compiler names none. */
export function lineText(kernel: TracedKernel, line: number, whole = false): string {
  const [source, number] = kernel.lines[line] ?? [];
  const path = source === undefined ? '?' : (kernel.sources?.[source]?.path ?? '?');
  const file = whole ? path : (path.split('/').pop() ?? path);
  return number ? `${file}:${number}` : `${file} (no line)`;
}

/** Source files that rows have lines of, those with the most cost first. */
export function filesByCost(kernel: TracedKernel, sums: readonly LineSums[]): { source: number; cost: number }[] {
  const cost = new Map<number, number>();
  kernel.lines.forEach(([source], line) => {
    if (source !== undefined) cost.set(source, (cost.get(source) ?? 0) + sums[line]!.cost);
  });
  return [...cost].map(([source, sum]) => ({ source, cost: sum })).sort((a, b) => b.cost - a.cost || a.source - b.source);
}

/** An entry of the source side: a line of text, or a gap between parts. `line`: index into lines, -1 without rows. */
export interface SourceEntry {
  number: number;
  text: string | null;
  line: number;
}

/** The lines of a file; without its text, only those that rows have. */
export function sourceEntries(kernel: TracedKernel, source: number): SourceEntry[] {
  const known = new Map<number, number>();
  kernel.lines.forEach(([of, number], line) => {
    if (of === source && number !== undefined) known.set(number, line);
  });
  const parts = kernel.sources?.[source]?.parts;
  if (!parts) return [...known].sort((a, b) => a[0] - b[0]).map(([number, line]) => ({ number, text: null, line }));
  const out: SourceEntry[] = [];
  parts.forEach((part, i) => {
    if (i > 0) out.push({ number: -1, text: null, line: -1 });
    part.text.forEach((text, k) => {
      const number = part.first_line + k;
      out.push({ number, text, line: known.get(number) ?? -1 });
      known.delete(number);
    });
  });
  // A line that the file does not have (it changed after the build) still has cycles.
  for (const [number, line] of [...known].sort((a, b) => a[0] - b[0])) out.push({ number, text: null, line });
  return out;
}

/** 0 to 1 for a share of the largest: a root, so that small ones are still seen. */
export const heat = (value: number, most: number): number => (most > 0 && value > 0 ? Math.sqrt(Math.min(value / most, 1)) : 0);

/** The hottest rows by that figure, most first; none without cycles. */
export function hottest(kernel: TracedKernel, kind: HeatKind, most: number): number[] {
  const values = kernel.rows[kind];
  return values.map((_, place) => place).filter((place) => values[place]! > 0)
    .sort((a, b) => values[b]! - values[a]! || a - b).slice(0, most);
}

/** What a row waited for, or which waits it caused: places of the other rows with their cycles. */
export function waitsOf(kernel: TracedKernel, place: number): { causes: [number, number][]; waits: [number, number][] } {
  const row = kernel.rows.row[place];
  const placeOf = new Map(kernel.rows.row.map((number, at) => [number, at]));
  const causes: [number, number][] = [], waits: [number, number][] = [];
  for (const [wait, cause, cycles = 0] of kernel.waits.pairs) {
    if (wait === row && cause !== undefined) causes.push([placeOf.get(cause) ?? -1, cycles]);
    if (cause === row && wait !== undefined) waits.push([placeOf.get(wait) ?? -1, cycles]);
  }
  return { causes, waits };
}

/** States of a wave, by the numbers of `waves[].runs`. */
export const WAVE_STATES = [
  { key: 'empty', title: 'empty', meaning: 'nothing of the wave', colour: 'line' },
  { key: 'idle', title: 'idle', meaning: 'start-up, before its first instruction', colour: 'series-8' },
  { key: 'exec', title: 'executing', meaning: 'instructions issue or execute', colour: 'series-3' },
  { key: 'wait', title: 'waiting', meaning: 'at a wait or a barrier', colour: 'series-2' },
  { key: 'stall', title: 'stalled', meaning: 'an instruction that could not issue', colour: 'series-5' },
] as const;

/** The fields of a traced wave that are drawn. */
export interface TracedWave {
  engine: number;
  cu: number | null;
  simd: number;
  slot: number;
  id: number;
  begin: number;
  end: number;
  /** State and cycles by turns. */
  runs: number[];
}

/** Waves of one engine by SIMD and slot: a row for each slot. */
export function waveRows(waves: readonly TracedWave[], engine: number): { simd: number; slot: number; cu: number | null; waves: TracedWave[] }[] {
  const rows = new Map<string, { simd: number; slot: number; cu: number | null; waves: TracedWave[] }>();
  for (const wave of waves) {
    if (wave.engine !== engine) continue;
    const key = `${wave.cu} ${wave.simd} ${wave.slot}`;
    const row = rows.get(key) ?? { simd: wave.simd, slot: wave.slot, cu: wave.cu, waves: [] };
    row.waves.push(wave);
    rows.set(key, row);
  }
  return [...rows.values()].sort((a, b) => (a.cu ?? -1) - (b.cu ?? -1) || a.simd - b.simd || a.slot - b.slot);
}

/** The wave of a row at a cycle, with the state it was in; null: none. */
export function stateAt(waves: readonly TracedWave[], cycle: number): { wave: TracedWave; state: number; begin: number; cycles: number } | null {
  for (const wave of waves) {
    if (cycle < wave.begin || cycle >= wave.end) continue;
    let begin = wave.begin;
    for (let i = 0; i + 1 < wave.runs.length; i += 2) {
      const state = wave.runs[i]!, cycles = wave.runs[i + 1]!;
      if (cycle < begin + cycles) return { wave, state, begin, cycles };
      begin += cycles;
    }
  }
  return null;
}

/** What a wave was doing in each of `columns` equal parts of [from, to): cycles by state, WAVE_STATES.length numbers a part. */
export function stateColumns(wave: TracedWave, from: number, to: number, columns: number): Float64Array {
  const out = new Float64Array(columns * WAVE_STATES.length);
  const width = (to - from) / columns;
  let at = wave.begin;
  for (let i = 0; i + 1 < wave.runs.length; i += 2) {
    const state = wave.runs[i]!, end = at + wave.runs[i + 1]!;
    const last = Math.min(columns - 1, Math.floor((end - from) / width));
    for (let column = Math.max(0, Math.floor((at - from) / width)); column <= last; ++column) {
      const part = Math.min(end, from + (column + 1) * width) - Math.max(at, from + column * width);
      if (part > 0 && state < WAVE_STATES.length) out[column * WAVE_STATES.length + state]! += part;
    }
    at = end;
  }
  return out;
}
