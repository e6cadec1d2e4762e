// Words that the parts of the section of ranks share.
import { axisStyle } from '../chart';
import type { Missing } from '../documents';
import { h, type Child } from '../dom';
import * as format from '../format';
import type { Theme } from '../theme';
import type { Ranks } from './ranks-model';

/** A time with its error: "1.20 ms ± 3 us". */
export const uncertain = (value: number, error: number): string => (error > 0 ? `${format.duration(value)} ± ${format.duration(error)}` : format.duration(value));

export const named = (ranks: Ranks, index: number): string => `rank ${ranks.ranks[index]?.label ?? index}`;

/** Why a field is null, for a place with room for the sentence. */
export function reason(missing: readonly Missing[], field: string): Child {
  const entry = missing.find((one) => one.field === field);
  return h('span', { class: 'unknown' }, entry ? `${format.UNKNOWN}: ${entry.reason}${entry.remedy ? ` (${entry.remedy})` : ''}` : format.UNKNOWN);
}

/** Where the legend of a drawing stands; the text's colour is the theme's. */
export const LEGEND = { top: 0, left: 0, itemWidth: 12, itemHeight: 10 };
/** CSS pixels above a drawing: in a narrow one the legend has two lines. */
export const roomForLegend = (width: number): number => (width < 620 ? 50 : 30);

/** An axis of time, from nanoseconds. */
export const timeAxis = (colours: Theme, name: string): Record<string, unknown> => ({
  type: 'value', name, nameLocation: 'middle', nameGap: 24, ...axisStyle(colours), axisLabel: { ...(axisStyle(colours)['axisLabel'] as object), formatter: (ns: number) => format.duration(Number(ns.toPrecision(6))) },
});

/** Ranks down the side; who is looked into as a cause is marked, and not by colour alone. */
export const rankAxis = (colours: Theme, names: readonly string[], marked: ReadonlySet<number>): Record<string, unknown> => ({
  type: 'category', inverse: true, data: names, ...axisStyle(colours), splitLine: { show: false },
  axisLabel: {
    ...(axisStyle(colours)['axisLabel'] as object), formatter: (name: string, i: number) => (marked.has(i) ? `▶ ${name}` : name),
    color: (_: unknown, i: number) => (marked.has(i) ? colours.bad : colours.muted),
  },
});
