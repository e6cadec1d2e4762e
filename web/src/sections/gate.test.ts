import { describe, expect, it } from 'vitest';
import { changeText, gateTone, sameRange, type GateFacts } from './gate';
import { ratioRange } from './ratio-range';

const facts = (some: Partial<GateFacts>): GateFacts => ({ verdict: 'undecided', fails: false, ...some });

describe('the gate', () => {
  it('is green only where all is decided', () => {
    expect(gateTone(facts({ verdict: 'pass' }))).toBe('good');
    expect(gateTone(facts({}))).toBe('warn');
    expect(gateTone(facts({ fails: true }))).toBe('bad');
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
