// What a faster kernel gives at least, where the graph is not in the document: from the exact points
// of kernels[].gains. A run's time is the longest of many paths, each linear in the factor of the
// kernel's durations (lags and the starts of what waits for nothing do not change with it), so it is
// a convex function of that factor, and a straight line between two exact points lies nowhere below
// it. The program rounds each changed dispatch to the ns: that much the line can be off.

/** One exact point: the run's time with the kernel's durations times `factor`. */
export interface GainPoint {
  factor: number;
  makespan: number;
}

/** Points of a kernel from slowest to infinitely fast, the recorded run first. `gains`: as in
 * dag.json, whose factor says how many times as fast, null infinitely. */
export function gainPoints(
  recorded: number, gains: readonly { factor: number | null; makespan_ns: number }[],
): GainPoint[] {
  const points = gains.map((gain) => ({
    factor: gain.factor === null ? 0 : 1 / gain.factor,
    makespan: gain.makespan_ns,
  }));
  points.push({ factor: 1, makespan: recorded });
  return points.sort((a, b) => b.factor - a.factor);
}

/** The most that the run takes with the kernel's durations times `factor` (0 to 1). `exact`: it is
 * one of the points. `rounding_ns`: how far rounding of dispatches can put it off. Null outside of
 * the points. */
export function atMost(
  points: readonly GainPoint[], factor: number, dispatches: number,
): { makespan: number; exact: boolean; rounding_ns: number } | null {
  for (let i = 0; i < points.length; ++i) {
    const high = points[i]!;
    if (high.factor === factor) return { makespan: high.makespan, exact: true, rounding_ns: 0 };
    const low = points[i + 1];
    if (low === undefined || factor > high.factor || factor < low.factor) continue;
    if (low.factor === factor) continue;  // the next round has it exactly
    const part = (factor - low.factor) / (high.factor - low.factor);
    const makespan = Math.ceil(low.makespan + part * (high.makespan - low.makespan));
    return { makespan, exact: false, rounding_ns: dispatches };
  }
  return null;
}
