// The axis of a forest plot.

/** A ratio with its interval, as far as they are known. */
export interface Interval {
  ratio: number | null;
  low: number | null;
  high: number | null;
}

/** The range of a ratio axis: around all figures, 1 and the margin, a little wider. */
export function ratioRange(rows: readonly Interval[], same: readonly [number, number] | null): [number, number] {
  const values = rows.flatMap((row) => [row.ratio, row.low, row.high]).filter((value): value is number => value !== null && value > 0 && Number.isFinite(value));
  const low = Math.min(1, ...(same ?? []), ...values), high = Math.max(1, ...(same ?? []), ...values);
  const room = Math.max(Math.log(high / low) * 0.06, 0.004);
  return [low * Math.exp(-room), high * Math.exp(room)];
}
