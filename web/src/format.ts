// Figures as the terminal shows them (src/report/terminal.cpp, text_parts.cpp): same units, same digits.
import { inTerms } from './words';

/** What stands for a figure that is not known. */
export const UNKNOWN = 'unknown';

/** Fixed digits; a tie goes to the even digit, as C++ prints it (toFixed rounds ties up). */
export function fixed(value: number, digits: number): string {
  const scale = 10 ** digits;
  const tie = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs((value * scale) % 1) === 0.5;
  if (!tie) return value.toFixed(digits);
  const low = Math.floor(value * scale);
  return ((low % 2 === 0 ? low : low + 1) / scale).toFixed(digits);
}

function scaled(value: number, units: readonly (readonly [number, string])[]): string {
  let unit = units[0]!;
  for (const candidate of units) if (Math.abs(value) >= candidate[0]) unit = candidate;
  const shown = value / unit[0];
  const digits = shown >= 999.95 || Number.isInteger(shown) ? 0 : shown >= 99.995 ? 1 : 2;
  return `${fixed(shown, digits)} ${unit[1]}`;
}

const SI = [[1, ''], [1e3, 'k'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T'], [1e15, 'P']] as const;

/** "10.92 us", "123.4 ms", from nanoseconds. */
export const duration = (ns: number): string => scaled(ns, [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']]);
/** "4 MB", "4.10 kB" (decimal). */
export const bytes = (count: number): string => scaled(count, [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']]);
/** "12.5 %", from a fraction. */
export const percent = (fraction: number): string => `${fixed(100 * fraction, 1)} %`;
/** "1,304". */
export const count = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
/** Up to `digits` significant digits, no trailing zeros: "0.4375", "12.5". Very large or small ones get an exponent. */
export function number(value: number, digits = 4): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e7 || magnitude < 1e-4) return Number(value.toPrecision(digits)).toExponential().replace('e+', 'e');
  const shown = Number(value.toPrecision(digits));
  return magnitude >= 10 ** digits ? value.toFixed(0) : String(shown);
}
/** "4.21 TB/s", "163.4 TFLOP/s", from units per second. */
export const rate = (perSecond: number, unit: string): string => scaled(perSecond, SI.map(([scale, prefix]) => [scale, `${prefix}${unit}`] as const));
/** "2.31x". */
export const times = (ratio: number): string => `${fixed(ratio, 2)}x`;
/** "256x1x1". */
export const triple = (values: readonly number[]): string => values.join('x');
/** "1 kernel", "12 kernels". */
export const counted = (value: number, thing: string): string => `${count(value)} ${inTerms(thing)}${value === 1 ? '' : 's'}`;
/** "memory_bandwidth" as words: "memory bandwidth". */
export const words = (name: string): string => inTerms(name.replaceAll('_', ' '));
/** The figure as text, or "unknown". For places that cannot hold the reason; Context.value can. */
export const known = <T>(value: T | null | undefined, show: (value: T) => string): string => (value === null || value === undefined ? UNKNOWN : show(value));
