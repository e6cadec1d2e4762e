// The gate of a comparison in words: those of gate_sentence in src/report/comparison_text.cpp. Undecided is never "passes".
import type { DocumentTypes } from '../documents';
import * as format from '../format';

/** What the words need of a comparison. */
export type GateFacts = Pick<DocumentTypes['comparison'], 'verdict' | 'fails' | 'regressions' | 'undecided' | 'comparisons'> & { options: { threshold: number } };

/** "2.0 %", "0.05 %": a change as people compare it. */
export function changeText(part: number): string {
  const percents = 100 * Math.abs(part);
  return `${percents < 1 ? String(Number(percents.toPrecision(2))) : format.fixed(percents, 1)} %`;
}

/** What the comparison shows of everything that can fail the gate, and whether it fails. */
export function gateSentence(found: GateFacts): string {
  const threshold = changeText(found.options.threshold), of = format.counted(found.comparisons, 'comparison');
  if (found.verdict === 'pass') return `pass: ${of} decided, and no median is slower by more than ${threshold}`;
  if (found.verdict === 'regression') return `regression: ${found.regressions} of ${of} slower by more than ${threshold}${found.undecided > 0 ? `; ${found.undecided} undecided` : ''}`;
  const why = found.comparisons === 0 ? 'no kernel has the share of --min-share, so nothing was tested'
    : found.undecided === found.comparisons ? `${of}, and nothing could be decided` : `${found.undecided} of ${of} undecided`;
  return `no regression shown: ${why}${found.fails ? ' (it fails: --fail-undecided)' : ''}`;
}

/** Red where it fails, green only where everything is decided. */
export const gateTone = (found: GateFacts): 'good' | 'warn' | 'bad' => (found.fails || found.verdict === 'regression' ? 'bad' : found.verdict === 'pass' ? 'good' : 'warn');

/** Ratios that count as the same: src/stats/comparison.h. */
export const sameRange = (margin: number): [number, number] => [1 / (1 + margin), 1 + margin];
