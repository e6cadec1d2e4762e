// Figures look as in the terminal (tests/report/text_test.cpp has the same ones for C++).
import { describe, expect, it } from 'vitest';
import * as format from './format';

describe('durations and bytes', () => {
  it.each([
    [0, '0 ns'], [999, '999 ns'], [1000, '1 us'], [10_920, '10.92 us'], [123_400_000, '123.4 ms'], [99_994, '99.99 us'], [99_996, '100.0 us'], [999_949, '999.9 us'], [999_960, '1000 us'], [1_500_000_000, '1.50 s'], [7_551_945, '7.55 ms'],
  ])('%d ns is %s', (ns, text) => expect(format.duration(ns)).toBe(text));
  it.each([[4e6, '4 MB'], [4096, '4.10 kB'], [512, '512 B'], [153_784_156_160, '153.8 GB']])('%d bytes are %s', (count, text) => expect(format.bytes(count)).toBe(text));
  it('rounds ties to even, as C++ does', () => {
    expect(format.duration(1125)).toBe('1.12 us');
    expect(format.duration(1375)).toBe('1.38 us');
    expect(format.fixed(0.5, 0)).toBe('0');
    expect(format.fixed(1.5, 0)).toBe('2');
    expect(format.fixed(-1.125, 2)).toBe('-1.12');
    expect(format.fixed(2.675, 2)).toBe('2.67'); // below the tie in binary
  });
  it('keeps the sign', () => expect(format.duration(-2500)).toBe('-2.50 us'));
});

describe('other figures', () => {
  it('shows shares, counts and rates', () => {
    expect(format.percent(0.0403)).toBe('4.0 %');
    expect(format.count(1_304)).toBe('1,304');
    expect(format.rate(4.2673e12, 'B/s')).toBe('4.27 TB/s');
    expect(format.rate(127_551.77e9, 'FLOP/s')).toBe('127.6 TFLOP/s');
    expect(format.times(2.3149)).toBe('2.31x');
    expect(format.counted(1, 'kernel')).toBe('1 kernel');
    expect(format.counted(2, 'kernel')).toBe('2 kernels');
  });
  it.each([[31.51207, '31.51'], [0.4375, '0.4375'], [0, '0'], [1e-6, '1e-6'], [123_456, '123456'], [1.5e9, '1.5e9'], [16_316_800, '1.632e7']])('shows %d as %s', (value, text) => expect(format.number(value)).toBe(text));
  it('says unknown instead of a number', () => {
    expect(format.known(null, format.duration)).toBe('unknown');
    expect(format.known(0, format.duration)).toBe('0 ns');
  });
});
