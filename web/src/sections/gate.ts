// The gate of a comparison: its sentence is the document's own, so that page and terminal say the same. Undecided is never "passes".
import type { DocumentTypes } from '../documents';
import * as format from '../format';

/** What the colour needs of a comparison. */
export type GateFacts = Pick<DocumentTypes['comparison'], 'verdict' | 'fails'>;

/** "2.0 %", "0.05 %": a change as people compare it. */
export function changeText(part: number): string {
  const percents = 100 * Math.abs(part);
  return `${percents < 1 ? String(Number(percents.toPrecision(2))) : format.fixed(percents, 1)} %`;
}

/** Red where it fails, green only where everything is decided. */
export const gateTone = (found: GateFacts): 'good' | 'warn' | 'bad' => (found.fails || found.verdict === 'regression' ? 'bad' : found.verdict === 'pass' ? 'good' : 'warn');

/** Ratios that count as the same: src/stats/comparison.h. */
export const sameRange = (margin: number): [number, number] => [1 / (1 + margin), 1 + margin];
