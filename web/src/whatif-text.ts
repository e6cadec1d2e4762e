// What the what-if section says: places of the sliders, the outcome in a sentence, where the critical path goes. Pure.
import * as format from './format';
import type { Path } from './whatif-engine';

/** Places of a slider: times as fast. Round in decimal, so that the command line has the very same number. */
export const SPEEDUPS: readonly number[] = [1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, Infinity];
/** What sliders stand at: times as fast. */
export interface Setting {
  kernels: Map<string, number>;
  copies: number;
  launches: number;
  dropWaits: boolean;
}

/** What a setting gives. `exact`: false for the most that the run takes; then without a path. */
export interface Outcome {
  makespan: number;
  exact: boolean;
  rounding_ns: number;
  path: Path | null;
}

/** A slider's value in words. */
export const speedupText = (speedup: number): string => (speedup === 1 ? 'as recorded' : speedup === Infinity ? 'infinitely fast' : `${speedup}x as fast`);

/** Names on the path that have more time there than before, most first: where the path moves to. */
export function movesTo(before: Path, after: Path): { name: string; more: number }[] {
  const earlier = new Map(before.names.map((one) => [`${one.inside} ${one.name}`, one.time]));
  return after.names.map((one) => ({ name: one.name, more: one.time - (earlier.get(`${one.inside} ${one.name}`) ?? 0) }))
    .filter((one) => one.more > 0).sort((a, b) => b.more - a.more);
}

/** The sentence about an outcome. `segment`: times are of one segment, gains still of the whole run. */
export function outcomeText(recorded: number, outcome: Outcome, setting: Setting, segment = false): string {
  const gain = recorded - outcome.makespan;
  const share = recorded > 0 ? ` (${format.percent(Math.abs(gain) / recorded)}${segment ? ' of this segment’s time' : ''})` : '';
  const run = segment ? 'The whole run' : 'it';
  const takes = (how: string): string => (segment ? '' : `The run takes ${how}${format.duration(outcome.makespan)}: `);
  if (!outcome.exact) return `${takes('at most ')}${run} gains at least ${format.duration(gain)}${share}, to within ${format.duration(outcome.rounding_ns)} of rounding.`;
  if (gain === 0) return segment ? 'The whole run gains nothing.' : `${takes('')}nothing is gained.`;
  const bound = setting.dropWaits ? ' No program can do better: waits for results that the host needs are ignored too.' : '';
  return `${takes('')}${run} ${gain < 0 ? 'loses' : 'gains'} ${format.duration(Math.abs(gain))}${share}.${bound}`;
}
