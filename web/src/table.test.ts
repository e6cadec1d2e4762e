import { describe, expect, it } from 'vitest';
import { compareKeys, filterRows, sortRows } from './table';

describe('sorting', () => {
  const rows = [{ name: 'b', time: 2 }, { name: 'a', time: null }, { name: 'c', time: 10 }, { name: 'd', time: 2 }];
  it('puts what is missing last, whichever way', () => {
    expect(sortRows(rows, (row) => row.time, false).map((row) => row.name)).toEqual(['b', 'd', 'c', 'a']);
    expect(sortRows(rows, (row) => row.time, true).map((row) => row.name)).toEqual(['c', 'b', 'd', 'a']);
  });
  it('compares numbers as numbers, text by its numbers', () => {
    expect(compareKeys(9, 10, false)).toBeLessThan(0);
    expect(compareKeys('kernel9', 'kernel10', false)).toBeLessThan(0);
    expect(compareKeys(undefined, Number.NaN, false)).toBe(0);
  });
  it('does not touch the rows it was given', () => {
    const given = Object.freeze([3, 1, 2]);
    expect(sortRows(given, (row) => row, false)).toEqual([1, 2, 3]);
  });
});

describe('filtering', () => {
  const names = ['void gemm<float>()', 'softmax_f16', 'SOFTMAX_bf16'];
  it('wants every word, whatever the case', () => {
    expect(filterRows(names, (name) => name, 'softmax')).toEqual(['softmax_f16', 'SOFTMAX_bf16']);
    expect(filterRows(names, (name) => name, ' soft BF16 ')).toEqual(['SOFTMAX_bf16']);
    expect(filterRows(names, (name) => name, '')).toEqual(names);
  });
  it('takes brackets as they are', () => expect(filterRows(names, (name) => name, '<float>')).toEqual(['void gemm<float>()']));
});
