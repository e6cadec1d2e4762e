// The timeline's slices in typed arrays, and what is asked of them: which are in view, which lies under the pointer, what a
// search finds, which colour a name has. Pure; drawn by timeline-canvas.ts. Meaning of the numbers: schemas/timeline.schema.json.

/** The fields of timeline.json that are drawn. */
export interface TimelineDocument {
  span_ns: number;
  resolution_ns: number;
  names: string[];
  name_kinds: string[];
  lanes: TimelineLane[];
  spent_kinds: string[];
  path: (number | null)[][] | null;
}

export interface TimelineLane {
  kind: string;
  label: string;
  operations: number;
  busy_ns: number;
  path_ns: number;
  slices: number[][];
}

/** One row of the drawing. */
export interface Lane {
  label: string;
  kind: string;
  operations: number;
  busy: number;
  path: number;
  size: number;
  /** By slice, ascending start; ns. */
  start: Float64Array;
  end: Float64Array;
  busyOf: Float64Array;
  pathOf: Float64Array;
  /** Index into names. */
  name: Uint32Array;
  /** Operations in it; more than 1: merged, or a call with calls inside. */
  count: Uint32Array;
  /** By slice: the latest end up to it, so that slices in view are found by halving. */
  latest: Float64Array;
}

/** A stretch of the critical path. */
export interface Stretch {
  from: number;
  to: number;
  /** Index into spentKinds. */
  spent: number;
  /** Index into lanes; -1: none of them. */
  lane: number;
  /** ns of that kind in that lane; less than its length where shorter stretches were merged. */
  time: number;
}

export interface TimelineModel {
  span: number;
  resolution: number;
  names: string[];
  kinds: string[];
  lanes: Lane[];
  spentKinds: string[];
  /** Null: there is no critical path. */
  path: Stretch[] | null;
  /** By name: ns busy in all lanes. */
  busyOfName: Float64Array;
  slices: number;
}

/** From the document. */
export function timelineModel(document: TimelineDocument): TimelineModel {
  const busyOfName = new Float64Array(document.names.length);
  let slices = 0;
  const lanes = document.lanes.map((lane): Lane => {
    const size = lane.slices.length;
    slices += size;
    const made: Lane = {
      label: lane.label, kind: lane.kind, operations: lane.operations, busy: lane.busy_ns, path: lane.path_ns, size,
      start: new Float64Array(size), end: new Float64Array(size), busyOf: new Float64Array(size), pathOf: new Float64Array(size),
      name: new Uint32Array(size), count: new Uint32Array(size), latest: new Float64Array(size),
    };
    let latest = 0;
    lane.slices.forEach(([start = 0, duration = 0, name = 0, count = 0, busy = 0, path = 0], i) => {
      made.start[i] = start;
      made.end[i] = start + duration;
      made.name[i] = name;
      made.count[i] = count;
      made.busyOf[i] = busy;
      made.pathOf[i] = path;
      latest = Math.max(latest, start + duration);
      made.latest[i] = latest;
      busyOfName[name] = (busyOfName[name] ?? 0) + busy;
    });
    return made;
  });
  const path = document.path?.map(([from, to, spent, lane, time]): Stretch => (
    { from: from ?? 0, to: to ?? 0, spent: spent ?? 0, lane: lane ?? -1, time: time ?? 0 })) ?? null;
  return {
    span: document.span_ns, resolution: document.resolution_ns, names: document.names, kinds: document.name_kinds, lanes,
    spentKinds: document.spent_kinds, path, busyOfName, slices,
  };
}

/** The first index for which `holds`, which is false and then true; `size` if it never holds. */
export function firstWhere(size: number, holds: (index: number) => boolean): number {
  let low = 0, high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Slices of a lane that can be in [from, to]: first and one past the last. */
export function inView(lane: Lane, from: number, to: number): [number, number] {
  return [firstWhere(lane.size, (i) => lane.latest[i]! >= from), firstWhere(lane.size, (i) => lane.start[i]! > to)];
}

/** The slice drawn last that holds the time, or the nearest one within `reach` ns; -1: none. */
export function sliceAt(lane: Lane, time: number, reach: number): number {
  const [first, past] = inView(lane, time - reach, time + reach);
  let best = -1, distance = reach;
  for (let i = first; i < past; ++i) {
    const away = Math.max(lane.start[i]! - time, time - lane.end[i]!, 0);
    if (away > distance) continue;
    best = i;
    distance = away;
  }
  return best;
}

/** The stretch of the path at a time; -1 outside of it. */
export function stretchAt(path: readonly Stretch[], time: number): number {
  const i = firstWhere(path.length, (k) => path[k]!.to > time);
  return i < path.length && path[i]!.from <= time ? i : -1;
}

/** The next slice (step 1) or the one before (-1) whose name `wanted` accepts; -1: there is none. */
export function neighbour(lane: Lane, from: number, step: 1 | -1, wanted: (name: number) => boolean): number {
  for (let i = from + step; i >= 0 && i < lane.size; i += step) if (wanted(lane.name[i]!)) return i;
  return -1;
}

/** Places of the palette by name: kernels with the most time have one of their own (0 to kernels-1), `kernels` is every other
 * kernel, then copies and calls. */
export function paletteOf(model: TimelineModel, kernels: number): Uint8Array {
  const of = new Uint8Array(model.names.length);
  const dispatches = model.names.map((_, i) => i).filter((i) => model.kinds[i] === 'dispatch');
  dispatches.sort((a, b) => model.busyOfName[b]! - model.busyOfName[a]! || (model.names[a]! < model.names[b]! ? -1 : 1));
  model.kinds.forEach((kind, i) => (of[i] = kind === 'copy' ? kernels + 1 : kind === 'call' ? kernels + 2 : kernels));
  dispatches.slice(0, kernels).forEach((name, rank) => (of[name] = rank));
  return of;
}

/** By name: 1 where it holds the text, whatever the case. Null: no text, everything is as it is. */
export function matchingNames(names: readonly string[], text: string): Uint8Array | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return null;
  return Uint8Array.from(names, (name) => (name.toLowerCase().includes(wanted) ? 1 : 0));
}

/** What the slices named so add up to. `merged`: at least one of them stands for operations of other names too. `inside`: calls,
 * whatever their names, inside calls that are named so; they are not among the operations. */
export function totalsOf(model: TimelineModel, matches: Uint8Array): { slices: number; operations: number; inside: number; busy: number; path: number; merged: boolean } {
  const total = { slices: 0, operations: 0, inside: 0, busy: 0, path: 0, merged: false };
  for (const lane of model.lanes)
    for (let i = 0; i < lane.size; ++i) {
      if (!matches[lane.name[i]!]) continue;
      total.slices += 1;
      const merged = isMerged(model, lane, i);
      total.operations += merged ? lane.count[i]! : 1;
      total.inside += merged ? 0 : lane.count[i]! - 1;
      total.busy += lane.busyOf[i]!;
      total.path += lane.pathOf[i]!;
      total.merged ||= merged;
    }
  return total;
}

/** Times for an axis: at most `most`, at round distances, within [from, to]. */
export function ticks(from: number, to: number, most: number): number[] {
  const span = to - from;
  if (!(span > 0) || most < 1) return [];
  const power = 10 ** Math.floor(Math.log10(span / most));
  const distance = Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= most) ?? 10 * power);
  const out: number[] = [];
  for (let i = Math.ceil(from / distance); i * distance <= to; ++i) out.push(i * distance);
  return out;
}

/** A part of the timeline in view. */
export interface View {
  from: number;
  to: number;
}

/** The view moved into [0, span], no shorter than 20 ns and no longer than the span. */
export function clampView(view: View, span: number): View {
  const whole = Math.max(span, 1);
  const length = Math.min(Math.max(view.to - view.from, Math.min(20, whole)), whole);
  const from = Math.min(Math.max(view.from, 0), whole - length);
  return { from, to: from + length };
}

/** Zoomed about a time that stays where it is. factor < 1 zooms in. */
export function zoomed(view: View, span: number, about: number, factor: number): View {
  return clampView({ from: about - (about - view.from) * factor, to: about + (view.to - about) * factor }, span);
}

const UNITS = [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']] as const;

/** A tick's time with as many digits as ticks `distance` ns apart need to differ: "25.0005 ms". */
export function tickText(time: number, distance: number, latest: number): string {
  let unit: readonly [number, string] = UNITS[0];
  for (const candidate of UNITS) if (latest >= candidate[0]) unit = candidate;
  const digits = Math.max(0, Math.ceil(Math.log10(unit[0] / Math.max(distance, 1)) - 1e-9));
  return `${(time / unit[0]).toFixed(digits)} ${unit[1]}`;
}

/** Whether a slice stands for several operations side by side or after each other, put together by resolution_ns. A long host
 * call with calls inside is one operation all the same. */
export function isMerged(model: TimelineModel, lane: Lane, slice: number): boolean {
  if (model.resolution === 0 || lane.count[slice]! < 2) return false;
  return lane.kind !== 'host_thread' || lane.end[slice]! - lane.start[slice]! < 2 * model.resolution;
}
