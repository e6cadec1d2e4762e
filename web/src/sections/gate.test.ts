import { describe, expect, it } from 'vitest';
import { changeText, gateSentence, gateTone, sameRange, type GateFacts } from './gate';
import { ratioRange } from './ratio-range';

const facts = (some: Partial<GateFacts>): GateFacts => ({ verdict: 'undecided', fails: false, regressions: 0, undecided: 0, comparisons: 12, options: { threshold: 0.02 }, ...some });

describe('the gate', () => {
  it('says what the terminal says', () => {
    expect(gateSentence(facts({ verdict: 'pass' }))).toBe('pass: 12 comparisons decided, and no median is slower by more than 2.0 %');
    expect(gateSentence(facts({ verdict: 'regression', fails: true, regressions: 2, undecided: 1 }))).toBe('regression: 2 of 12 comparisons slower by more than 2.0 %; 1 undecided');
    expect(gateSentence(facts({ undecided: 3 }))).toBe('no regression shown: 3 of 12 comparisons undecided');
    expect(gateSentence(facts({ undecided: 1, comparisons: 1 }))).toBe('no regression shown: 1 comparison, and nothing could be decided');
    expect(gateSentence(facts({ undecided: 3, fails: true }))).toBe('no regression shown: 3 of 12 comparisons undecided (it fails: --fail-undecided)');
  });
  it('does not pass when nothing was tested', () => {
    const nothing = facts({ comparisons: 0 });
    expect(gateSentence(nothing)).toBe('no regression shown: no kernel has the share of --min-share, so nothing was tested');
    expect(gateTone(nothing)).toBe('warn');
  });
  it('is green only where all is decided', () => {
    expect(gateTone(facts({ verdict: 'pass' }))).toBe('good');
    expect(gateTone(facts({ undecided: 3 }))).toBe('warn');
    expect(gateTone(facts({ undecided: 3, fails: true }))).toBe('bad');
    expect(gateTone(facts({ verdict: 'regression', fails: true }))).toBe('bad');
  });
  it('writes changes as the terminal does', () => {
    expect(changeText(0.0005)).toBe('0.05 %');
    expect(changeText(0.034)).toBe('3.4 %');
  });
});

describe('what counts as the same', () => {
  it('is symmetric as a factor', () => expect(sameRange(0.25)).toEqual([0.8, 1.25]));
  it('gives an axis at the largest threshold', () => {
    for (const margin of [0.02, 2, 10]) {
      const [low, high] = ratioRange([], sameRange(margin));
      expect(low).toBeGreaterThan(0);
      expect(low).toBeLessThan(1 / (1 + margin));
      expect(high).toBeGreaterThan(1 + margin);
    }
  });
});
