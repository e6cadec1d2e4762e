// Charts: ECharts with the parts that are used, drawn as SVG (sharp in print), following theme and width. Each has a label for those
// who cannot see it and its figures as a table. `window.__charts` holds them by id, for tests.
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import { DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';
import type { EChartsOption } from 'echarts';
import { inTerms } from './words';
import { h, type Child } from './dom';
import { onTheme, theme, type Theme } from './theme';

echarts.use([BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, VisualMapComponent, CanvasRenderer, SVGRenderer]);

export type { EChartsOption };
/** A chart's figures as text: column titles and rows. */
export interface ChartTable {
  columns: string[];
  rows: (string | number)[][];
}
export interface ChartOptions {
  id: string; ///< unique in the page
  label: string; ///< one sentence: what is drawn
  height: number; ///< CSS pixels
  option: (theme: Theme, width: number) => EChartsOption;
  table: () => ChartTable;
  renderer?: 'svg' | 'canvas'; ///< canvas for thousands of marks
  caption?: Child;
}
export interface ChartHandle {
  figure: HTMLElement;
  instance: echarts.ECharts;
  /** Draws anew, after the data behind `option` changed. */
  redraw(): void;
  /** Another height, in CSS pixels. */
  setHeight(height: number): void;
}

declare global {
  interface Window {
    __charts?: Record<string, echarts.ECharts>;
  }
}

const PRINT_WIDTH = 690; // A4 between the margins of style.css, in CSS pixels

/** Text style, tooltip and grid that all charts have in common; the option's own entries win. */
function themed(option: EChartsOption, colours: Theme): EChartsOption {
  const font = getComputedStyle(document.body).fontFamily;
  return {
    animation: false,
    color: colours.series,
    backgroundColor: 'transparent',
    textStyle: { color: colours.text, fontFamily: font, fontSize: 12 },
    ...option,
    ...(option.tooltip && !Array.isArray(option.tooltip)
      ? {
          tooltip: {
            backgroundColor: colours.surface, borderColor: colours.line, textStyle: { color: colours.text, fontSize: 12, fontFamily: font },
            confine: true, extraCssText: 'max-width:min(26rem,90vw);white-space:normal;overflow-wrap:anywhere;box-shadow:0 2px 10px rgb(0 0 0/.18)',
            ...option.tooltip,
          },
        }
      : {}),
  };
}

/** Colours of an axis; spread into an axis of the option. */
export function axisStyle(colours: Theme): Record<string, unknown> {
  return {
    axisLine: { lineStyle: { color: colours.line } },
    axisTick: { lineStyle: { color: colours.line } },
    axisLabel: { color: colours.muted, fontSize: 11, hideOverlap: true },
    splitLine: { lineStyle: { color: colours.line, opacity: 0.6 } },
    minorSplitLine: { show: false },
    nameTextStyle: { color: colours.muted, fontSize: 11 },
  };
}

/** The content of a tooltip: a title and rows of label and figure. As an element: nothing in it is parsed as markup. */
export function tooltipBox(title: Child, rows: readonly (readonly [string, Child])[]): HTMLElement {
  return h('div', { class: 'tip' }, h('strong', {}, title), h('table', {}, rows.map(([label, value]) => h('tr', {}, h('td', {}, inTerms(label)), h('td', { class: 'num' }, value)))));
}

function asTable(data: ChartTable): HTMLElement {
  return h('div', { class: 'table-box', tabindex: 0 },
    h('table', { class: 'data' },
      h('thead', {}, h('tr', {}, data.columns.map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, data.rows.map((row) => h('tr', {}, row.map((cell) => h('td', { class: typeof cell === 'number' || /^[\d.,-]/.test(cell) ? 'num' : '' }, cell)))))));
}

/** Puts a chart into `host`. */
export function createChart(host: HTMLElement, options: ChartOptions): ChartHandle {
  const canvas = h('div', { class: 'chart', role: 'img', 'aria-label': options.label, style: `height:${options.height}px`, 'data-chart': options.id });
  const details = h('details', { class: 'chart-table' }, h('summary', {}, 'The figures of this chart'));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(asTable(options.table()));
  });
  const figure = h('figure', { class: 'chart-figure' }, canvas, options.caption ? h('figcaption', {}, options.caption) : null, details);
  host.append(figure);

  const instance = echarts.init(canvas, null, { renderer: options.renderer ?? 'svg', width: canvas.clientWidth || 600, height: options.height });
  let width = 0;
  const draw = (): void => {
    const colours = theme();
    instance.setOption(themed(options.option(colours, width || 600), colours), { notMerge: true });
  };
  const fit = (next: number): void => {
    if (next <= 0 || next === width) return;
    width = next;
    instance.resize({ width: next });
    draw();
  };
  fit(canvas.clientWidth);
  if (width === 0) draw();
  new ResizeObserver(() => fit(canvas.clientWidth)).observe(canvas);
  window.addEventListener('beforeprint', () => fit(Math.min(PRINT_WIDTH, width)));
  window.addEventListener('afterprint', () => fit(canvas.clientWidth));
  onTheme(draw);
  (window.__charts ??= {})[options.id] = instance;
  return {
    figure, instance, redraw: () => {
      if (details.childElementCount > 1) details.lastElementChild!.replaceWith(asTable(options.table()));
      draw();
    },
    setHeight(height) {
      canvas.style.height = `${height}px`;
      instance.resize({ height });
    },
  };
}
