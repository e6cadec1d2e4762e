// The command that computes the same: `rocm-perf critical-path RUN.db --what-if ...`. Patterns are
// RE2's (src/base/pattern.h), quoted for a POSIX shell.

/** The pattern that finds exactly this name. RE2 reads bytes, so that other characters stay. */
export function exactPattern(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
}

/** A word as a POSIX shell takes it. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** How --what-if writes a speedup: "2x", "0" for infinitely fast. */
export function changeText(speedup: number): string {
  return speedup === Infinity ? '0' : `${speedup}x`;
}

/** Arguments behind `rocm-perf critical-path RUN`. Speedups of 1 change nothing and are left out. */
export function whatIfArguments(
  kernels: ReadonlyMap<string, number>, copies: number, launches: number, dropWaits: boolean,
): string[] {
  const args: string[] = [];
  const add = (text: string) => args.push('--what-if', text);
  for (const [name, speedup] of kernels)
    if (speedup !== 1) add(`kernel:${exactPattern(name)}=${changeText(speedup)}`);
  if (copies !== 1) add(`copy=${changeText(copies)}`);
  if (launches !== 1) add(`launch=${changeText(launches)}`);
  if (dropWaits) add('sync=drop');
  return args;
}
