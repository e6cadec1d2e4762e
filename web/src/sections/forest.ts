// A forest plot: a ratio with its interval per row, on an axis that is logarithmic when it is wide, with 1 marked and the margin that counts as "same" shaded.
import { axisStyle, tooltipBox, type ChartHandle } from '../chart';
import type { Child } from '../dom';
import * as format from '../format';
import type { Context } from '../section';
import { ratioRange } from './ratio-range';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';
export interface ForestRow {
  label: string;
  ratio: number | null; ///< null: the row has no figure; `tip` says why
  low: number | null;
  high: number | null;
  tone: Tone;
  verdict: string;
  tip: readonly (readonly [string, Child])[];
}
export interface ForestOptions {
  id: string;
  label: string;
  axis: string; ///< what the ratio is
  rows: readonly ForestRow[];
  same: readonly [number, number] | null; ///< ratios that count as no difference
}

const short = (text: string, room: number): string => (text.length > room ? `${text.slice(0, Math.max(room - 1, 1))}…` : text);
const text = (ratio: number | null): string => (ratio === null ? format.UNKNOWN : fine(ratio));
/** A ratio with as many digits as intervals need. */
const fine = (ratio: number): string => format.fixed(ratio, 3);

/** Draws the plot. */
export function forestChart(host: HTMLElement, options: ForestOptions, context: Context): ChartHandle {
  const { rows, same } = options;
  const [min, max] = ratioRange(rows, same);
  return context.chart(host, {
    id: options.id, label: options.label, height: 56 + rows.length * 26,
    option: (colours, width) => {
      const left = Math.min(300, Math.max(96, width * 0.36));
      const colour = (row: ForestRow): string => ({ good: colours.good, bad: colours.bad, warn: colours.warn, plain: colours.muted })[row.tone];
      return {
        grid: { left, right: 26, top: 8, bottom: 44 },
        tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (items) => { const row = rows[(items as unknown as { dataIndex: number }[])[0]?.dataIndex ?? 0]!; return tooltipBox(row.label.slice(0, 160), [['Verdict', row.verdict], ['Ratio', text(row.ratio)], ['Interval', row.low === null || row.high === null ? format.UNKNOWN : `${fine(row.low)} to ${fine(row.high)}`], ...row.tip]) as unknown as string; } },
        xAxis: { ...axisStyle(colours), ...(max / min > 3 ? { type: 'log' as const, logBase: max / min > 20 ? 10 : 2 } : { type: 'value' as const }), min, max, name: options.axis, nameLocation: 'middle', nameGap: 27, axisLabel: { color: colours.muted, fontSize: 11, hideOverlap: true, showMinLabel: false, showMaxLabel: false, formatter: (value: number) => format.number(value, 3) }, splitLine: { show: false } },
        yAxis: { ...axisStyle(colours), type: 'category', inverse: true, data: rows.map((_, index) => String(index)), axisTick: { show: false }, axisLabel: { color: colours.text, fontSize: 11, interval: 0, formatter: (index: string) => short(rows[Number(index)]!.label, Math.floor(left / 6.6)) }, splitLine: { show: true, lineStyle: { color: colours.line, opacity: 0.5 } } },
        series: [
          {
            id: 'interval', type: 'custom', silent: true, z: 3, clip: true, encode: { x: [1, 2], y: 0 },
            data: rows.map((row, index) => [index, row.low ?? NaN, row.high ?? NaN]),
            renderItem: (_, api) => {
              const row = rows[api.value(0) as number]!;
              if (row.low === null || row.high === null) return null;
              const [x1, y] = api.coord([row.low, api.value(0)]) as [number, number];
              const [x2] = api.coord([row.high, api.value(0)]) as [number, number];
              const style = { stroke: colour(row), lineWidth: 2, fill: 'none' };
              return { type: 'path', shape: { pathData: `M${x1},${y - 4}V${y + 4}M${x1},${y}H${x2}M${x2},${y - 4}V${y + 4}` }, style };
            },
            markLine: { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: colours.text, type: 'solid', width: 1, opacity: 0.55 }, data: [{ xAxis: 1 }] },
            ...(same ? { markArea: { silent: true, itemStyle: { color: colours.line, opacity: 0.35 }, data: [[{ xAxis: same[0] }, { xAxis: same[1] }]] } } : {}),
          },
          { id: 'ratio', type: 'scatter', symbol: 'rect', symbolSize: 9, z: 4, data: rows.map((row, index) => ({ value: [row.ratio ?? '-', index], itemStyle: { color: colour(row) } })) },
        ],
      };
    },
    table: () => ({ columns: ['', 'Verdict', 'Ratio', 'From', 'To'], rows: rows.map((row) => [row.label, row.verdict, text(row.ratio), text(row.low), text(row.high)]) }),
  });
}
