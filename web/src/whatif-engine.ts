// What a run would take with other durations, and its critical path then: the same schedule as
// src/analyze/critical_path/simulate.cpp and the same walk as solve.cpp, so that the page and
// `rocm-perf critical-path --what-if` agree to the nanosecond (whatif-engine.test.ts compares them).
import {
  FROM_END, INTO_END, SPENT, TARGET_COPY, TARGET_KERNEL, TARGET_LAUNCH, type Graph,
} from './whatif-graph';

/** How the durations change. Factors multiply a duration: 0.5 is twice as fast, 0 infinitely fast. */
export interface Changes {
  /** By kernel name. */
  kernels: ReadonlyMap<string, number>;
  copies: number;
  /** Calls that submit kernels. */
  launches: number;
  /** The host never waits for the GPU: a bound, not a program that works. */
  dropWaits: boolean;
}

export const NO_CHANGES: Changes = { kernels: new Map(), copies: 1, launches: 1, dropWaits: false };

/** Whether it leaves every duration as recorded. */
export function changesNothing(changes: Changes): boolean {
  if (changes.copies !== 1 || changes.launches !== 1 || changes.dropWaits) return false;
  for (const factor of changes.kernels.values()) if (factor !== 1) return false;
  return true;
}

/** Start and end of every node, ns since the recorded earliest start, and the latest end. */
export interface Schedule {
  start: Float64Array;
  end: Float64Array;
  duration: Float64Array;
  makespan: number;
  dropWaits: boolean;
}

/** A changed duration, rounded to the nearest ns as the program does. */
function changed(own: number, factor: number): number {
  return factor === 1 ? own : Math.floor(own * factor + 0.5);
}

/** The factor of every name's dispatches, and of nodes by what they are. */
function factorsByName(graph: Graph, changes: Changes): Float64Array {
  const factors = new Float64Array(graph.names.length).fill(1);
  graph.names.forEach((name, i) => (factors[i] = changes.kernels.get(name) ?? 1));
  return factors;
}

/** Earliest schedule under changed durations: one pass over nodes and edges. */
export function schedule(graph: Graph, changes: Changes): Schedule {
  const { size, firstEdge, from, lag, edgeEnds, targets } = graph;
  const start = new Float64Array(size), end = new Float64Array(size), duration = new Float64Array(size);
  const byName = factorsByName(graph, changes);
  let makespan = 0;
  for (let node = 0; node < size; ++node) {
    const target = targets[node]!;
    let factor = target & TARGET_KERNEL ? byName[graph.name[node]!]! : 1;
    if (target & TARGET_COPY) factor *= changes.copies;
    if (target & TARGET_LAUNCH) factor *= changes.launches;
    const own = changed(graph.own[node]!, factor);
    let begins = graph.bound[node] ? -Infinity : graph.start[node]!;
    let waits = -Infinity;
    for (let edge = firstEdge[node]!, last = firstEdge[node + 1]!; edge < last; ++edge) {
      const ends = edgeEnds[edge]!;
      const time = (ends & FROM_END ? end[from[edge]!]! : start[from[edge]!]!) + lag[edge]!;
      if ((ends & INTO_END) === 0) {
        if (time > begins) begins = time;
      } else if (time > waits && !changes.dropWaits) {
        waits = time;
      }
    }
    start[node] = begins;
    duration[node] = own;
    const done = begins + own > waits ? begins + own : waits;
    end[node] = done;
    if (done > makespan) makespan = done;
  }
  return { start, end, duration, makespan, dropWaits: changes.dropWaits };
}

/** The critical path of a schedule. */
export interface Path {
  /** ns by SPENT; adds up to the makespan. */
  spent: number[];
  /** ns inside kernels, copies and calls, most first. */
  names: { name: string; inside: (typeof SPENT)[number]; time: number }[];
}

/** The edge that an event waited for, -1: its own work (an end) or nothing (a start). Of several
 * that allow the same time the one that bound in the recording, then own work, then the first. */
function binding(graph: Graph, times: Schedule, node: number, intoEnd: boolean): number {
  const at = intoEnd ? times.end[node]! : times.start[node]!;
  let found = -1;
  for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; ++edge) {
    const ends = graph.edgeEnds[edge]!;
    if (((ends & INTO_END) !== 0) !== intoEnd) continue;
    if (intoEnd && times.dropWaits) continue;
    const origin = (ends & FROM_END ? times.end : times.start)[graph.from[edge]!]!;
    if (origin + graph.lag[edge]! !== at) continue;
    if (graph.binds[edge]) return edge;
    if (found < 0) found = edge;
  }
  return intoEnd && times.start[node]! + times.duration[node]! === at ? -1 : found;
}

/** Walks the path from the latest end back to the recorded earliest start. */
export function criticalPath(graph: Graph, times: Schedule): Path {
  const spent = SPENT.map(() => 0);
  const inNames = new Map<number, number>();
  if (graph.size === 0) return { spent, names: [] };
  let node = 0;
  for (let i = 1; i < graph.size; ++i) if (times.end[i]! >= times.end[node]!) node = i;
  let at = times.end[node]!;
  const step = (to: number, kind: number, of: number) => {
    const cut = Math.min(Math.max(to, 0), at);  // clocks read with noise can go back: no step does
    spent[kind]! += at - cut;
    if (of >= 0) {
      const key = graph.name[of]! * SPENT.length + kind;
      inNames.set(key, (inNames.get(key) ?? 0) + at - cut);
    }
    at = cut;
  };
  let intoEnd = true;
  for (;;) {
    const edge = binding(graph, times, node, intoEnd);
    if (edge < 0 && intoEnd) {
      step(times.start[node]!, graph.inside[node]!, node);
      intoEnd = false;
      continue;
    }
    if (edge < 0) break;
    const from = graph.from[edge]!;
    const fromEnd = (graph.edgeEnds[edge]! & FROM_END) !== 0;
    const origin = (fromEnd ? times.end : times.start)[from]!;
    if (graph.ofOrigin[edge]) step(origin, graph.inside[from]!, from);
    else step(origin, graph.behind[edge]!, -1);
    intoEnd = fromEnd;
    node = from;
  }
  step(0, SPENT.indexOf('idle'), -1);
  const names = [...inNames].filter(([, time]) => time > 0).map(([key, time]) => ({
    name: graph.names[Math.floor(key / SPENT.length)]!,
    inside: SPENT[key % SPENT.length]!,
    time,
  }));
  names.sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1));
  return { spent, names };
}
