import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLaunchCall, LAUNCH_CALLS } from './launch-calls';

describe('launch calls', () => {
  it('are those of the program', () => {
    const source = readFileSync(new URL('../../src/trace/api_calls.cpp', import.meta.url), 'utf8');
    const theirs = [...source.matchAll(/\{"(\w+)", CallKind::launch\}/g)].map((match) => match[1]);
    expect(theirs.length).toBeGreaterThan(5);
    expect([...LAUNCH_CALLS].sort()).toEqual(theirs.sort());
  });

  it('have variants per thread', () => {
    expect(isLaunchCall('hipLaunchKernel_spt')).toBe(true);
    expect(isLaunchCall('hipMemcpyAsync')).toBe(false);
  });
});
