// The roofline: log-log, every ceiling named, kernels as letters; by precision and by level of memory.
import { axisStyle, tooltipBox, type EChartsOption } from '../chart';
import { h, longName } from '../dom';
import type { Theme } from '../theme';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import * as format from '../format';
import { ceilingsOf, decades, levelsOf, marksAt, precisionsOf, seriesNames, slopeAngle, typedMarks, type GpuChart, type Level, type Point, type Roof, type Roofline } from './roofline-geometry';
import { inTerms } from '../words';

const HEIGHT = 460;
const GRID = { left: 62, right: 22, top: 26, bottom: 46 };
const LEVEL_NAMES: Record<Level, string> = { hbm: 'memory (beyond L2)', l2: 'L2', lds: 'LDS' };
const levelName = (level: Level): string => inTerms(LEVEL_NAMES[level]);
const SYMBOLS: Record<Level, string> = { hbm: 'circle', l2: 'rect', lds: 'diamond' };
const giga = (value: number): string => format.rate(value * 1e9, 'FLOP/s');

interface View {
  level: Level | 'all';
  precision: string; ///< 'all' or a pipe with a precision
  chosen: number | null;
}

/** The roofs that a view shows: memory roofs of its levels, compute roofs of its precision, the chosen kernel's own mix. */
function roofsOf(document: Roofline, gpu: GpuChart, view: View): Roof[] {
  const memory = gpu.roofs.filter((roof) => roof.kind === 'memory' && (view.level === 'all' || roof.name === view.level));
  const known = gpu.roofs.filter((roof) => roof.kind === 'compute');
  const ceilings = view.precision === 'all' ? [] : ceilingsOf(document, gpu, view.precision);
  const compute = view.precision === 'all' ? known : known.filter((roof) => roof.name === view.precision);
  for (const ceiling of ceilings.filter((one) => !compute.some((roof) => roof.value === one))) {
    const fastest = Math.max(...memory.map((roof) => roof.value), 1e-9);
    const label = `${inTerms(view.precision.replace('.', ' '))} ${giga(ceiling)}`;
    compute.push({ kind: 'compute', name: view.precision, label, value: ceiling, unit: 'GFLOP/s', measured: false, kernel: null, start: { x: ceiling / fastest, y: ceiling }, end: { x: gpu.x.max, y: ceiling } });
  }
  const mix = view.precision === 'all' && view.chosen !== null ? gpu.roofs.filter((roof) => roof.kind === 'mix' && roof.kernel === view.chosen) : [];
  return [...memory, ...compute, ...mix];
}

function pointsOf(document: Roofline, gpu: GpuChart, view: View): Point[] {
  const levels = view.level === 'all' ? levelsOf(gpu) : [view.level];
  return levels.flatMap((level) => (view.precision === 'all' ? marksAt(gpu, level) : typedMarks(document, gpu, view.precision, level)));
}

/** Where a memory roof stops: at the highest compute roof that is drawn, or at the end the document gives. */
function roofEnds(roof: Roof, roofs: readonly Roof[], xMin: number): [[number, number], [number, number]] {
  const top = Math.max(...roofs.filter((one) => one.kind !== 'memory').map((one) => one.value));
  if (roof.kind !== 'memory' || !Number.isFinite(top)) return [[roof.start.x, roof.start.y], [roof.end.x, roof.end.y]];
  return [[xMin, roof.value * xMin], [top / roof.value, top]];
}

function roofSeries(roofs: readonly Roof[], colours: Theme, x: [number, number], y: [number, number], size: { width: number; height: number }): NonNullable<EChartsOption['series']> {
  const angle = slopeAngle(size.width, size.height, Math.log10(x[1] / x[0]), Math.log10(y[1] / y[0]));
  const taken: number[] = []; // rows of labels on the right, in pixels
  const names = seriesNames(roofs);
  return roofs.flatMap((roof, index) => {
    const [start, end] = roofEnds(roof, roofs, x[0]);
    const stop: [number, number] = roof.kind === 'memory' ? end : [x[1], roof.value];
    const colour = roof.kind === 'memory' ? colours.text : roof.kind === 'mix' ? colours.accent : colours.muted;
    const pixel = ((Math.log10(y[1]) - Math.log10(roof.value)) / Math.log10(y[1] / y[0])) * size.height;
    const clash = roof.kind !== 'memory' && taken.some((row) => Math.abs(row - pixel) < 15);
    if (roof.kind !== 'memory') taken.push(pixel);
    // The label of a memory roof lies along it, at a third of the way from the axis to its end.
    const low = Math.max(start[0], y[0] / roof.value);
    const at = 10 ** (Math.log10(low) + (Math.log10(stop[0]) - Math.log10(low)) * 0.4);
    return [
      { id: `roof ${names[index]}`, type: 'line' as const, data: [start, stop], symbol: 'none', silent: true, z: 2, clip: true, lineStyle: { color: colour, width: roof.kind === 'mix' ? 1.2 : 1.6, type: roof.kind === 'mix' ? ('dashed' as const) : ('solid' as const) } },
      {
        id: `label ${names[index]}`, type: 'scatter' as const, silent: true, symbolSize: 0.01, z: 4, data: [roof.kind === 'memory' ? [at, at * roof.value] : stop],
        label: {
          show: true, formatter: `${roof.label}${roof.measured ? ' (measured)' : ''}`, color: colour, fontSize: 11, backgroundColor: colours.surface, padding: [0, 3],
          ...(roof.kind === 'memory' ? { rotate: angle, position: 'top' as const, distance: 5, offset: [-4, -1] } : { position: 'insideBottomRight' as const, align: 'right' as const, verticalAlign: (clash ? 'top' : 'bottom') as 'top' | 'bottom', distance: 0, offset: [0, clash ? 4 : -4] }),
        },
      },
    ];
  }) as NonNullable<EChartsOption['series']>;
}

function draw(document: Roofline, gpu: GpuChart, view: View, colours: Theme, width: number): EChartsOption {
  const points = pointsOf(document, gpu, view);
  const roofs = roofsOf(document, gpu, view);
  const x = decades(points.map((point) => point.x), gpu.x.min, gpu.x.max);
  const y = decades([...points.map((point) => point.y), ...roofs.filter((roof) => roof.kind !== 'memory').map((roof) => roof.value)], gpu.y.min, gpu.y.max);
  const size = { width: Math.max(width - GRID.left - GRID.right, 100), height: HEIGHT - GRID.top - GRID.bottom };
  const axis = { ...axisStyle(colours), type: 'log' as const, logBase: 10, nameLocation: 'middle' as const };
  const chosen = points.filter((point) => point.kernel === view.chosen && point.attainable !== null && point.attainable > point.y);
  const colourOf = (kernel: number): string => colours.series[kernel % colours.series.length]!;
  return {
    grid: GRID,
    tooltip: { trigger: 'item', formatter: (item) => markTip(document, (item as unknown as { data: { point: Point } }).data.point, gpu) as unknown as string },
    xAxis: { ...axis, min: x[0], max: x[1], name: 'FLOP per byte', nameGap: 27, axisLabel: { color: colours.muted, fontSize: 11, formatter: (value: number) => format.number(value) } },
    yAxis: { ...axis, min: y[0], max: y[1], name: 'FLOP/s', nameLocation: 'end' as const, nameGap: 8, axisLabel: { color: colours.muted, fontSize: 11, formatter: (value: number) => format.rate(value * 1e9, '').trim() } },
    series: [
      ...(roofSeries(roofs, colours, x, y, size) as never[]),
      ...chosen.map((point) => ({ type: 'line' as const, silent: true, symbol: 'none', z: 3, data: [[point.x, point.y], [point.x, point.attainable!]], lineStyle: { color: colourOf(point.kernel), type: 'dotted' as const, width: 1.5 } })),
      ...[...new Set(points.map((point) => point.level))].map((level) => ({
        id: `marks ${level}`, type: 'scatter' as const, z: 5, symbol: SYMBOLS[level],
        data: points.filter((point) => point.level === level).map((point) => ({
          value: [point.x, point.y], point, symbolSize: point.kernel === view.chosen ? 21 : 16,
          itemStyle: { color: colourOf(point.kernel), opacity: view.chosen === null || point.kernel === view.chosen ? 1 : 0.75, borderColor: point.kernel === view.chosen ? colours.text : colours.surface, borderWidth: 1.5 },
          label: { show: true, formatter: point.letter, color: colours.dark ? '#10141a' : '#fff', fontSize: 10, fontWeight: 'bold' as const },
        })),
      })),
    ],
  };
}

function markTip(document: Roofline, point: Point | undefined, gpu: GpuChart): HTMLElement {
  if (!point) return h('div', {});
  const kernel = document.kernels[point.kernel]!;
  const level = kernel.levels.find((one) => one.name === point.level);
  return tooltipBox([`${point.letter}  `, kernel.name.length > 160 ? `${kernel.name.slice(0, 160)}…` : kernel.name], [
    ['Level', levelName(point.level)],
    ['Intensity', `${format.number(point.x)} FLOP/byte`],
    ['Performance', giga(point.y)],
    ['Attainable here', point.attainable === null ? format.UNKNOWN : giga(point.attainable)],
    ['Under', point.bound === null ? format.UNKNOWN : `${point.bound} roof`],
    ['Rate of bytes', level?.gb_per_s == null ? format.UNKNOWN : format.rate(level.gb_per_s * 1e9, 'B/s')],
    ['GPU', gpu.product ?? gpu.architecture ?? format.UNKNOWN],
  ]);
}

function choice(label: string, options: readonly (readonly [string, string])[], current: string, change: (value: string) => void): HTMLElement {
  const select = h('select', { 'aria-label': label, onchange: () => change(select.value) }, options.map(([value, text]) => h('option', { value, selected: value === current }, text)));
  return h('label', { class: 'choice' }, `${label} `, select);
}

function kernelsTable(document: Roofline, gpu: GpuChart, context: Context, id: string): ReturnType<typeof createTable> {
  const letters = new Map(gpu.marks.map((mark) => [mark.kernel, mark.letter]));
  const unmarked = new Map(document.chart.without_mark.map((one) => [one.kernel, one.reason]));
  const rows = document.kernels.map((kernel, index) => ({ kernel, index })).filter(({ kernel }) => kernel.architecture === gpu.architecture && kernel.product === gpu.product);
  type Row = (typeof rows)[number];
  const at = (row: Row, name: Level) => row.kernel.levels.find((one) => one.name === name);
  const { value } = context;
  return createTable<Row>({
    id, caption: 'Kernels of the roofline', rows, filter: (row) => row.kernel.name, filterLabel: 'Filter by name', page: 20,
    mark: (row) => (row.kernel.name === context.selection.current ? 'chosen' : ''),
    columns: [
      { title: '', hint: 'letter in the chart', show: (row) => letters.get(row.index) ?? h('span', { class: 'muted', title: unmarked.get(row.index) }, '–') },
      { title: 'Kernel', wide: true, key: (row) => row.kernel.name, show: (row) => h('button', { type: 'button', class: 'kernel-name', onclick: () => context.selection.select(context.selection.current === row.kernel.name ? null : row.kernel.name, 'roofline') }, longName(row.kernel.name)) },
      { title: 'Roof that binds', key: (row) => row.kernel.binding?.roof, show: (row) => value(row.kernel.binding?.roof, (roof) => `${roof}${row.kernel.binding?.bound ? ` (${row.kernel.binding.bound})` : ''}`, row.kernel.missing, 'binding') },
      { title: 'Reached', hint: 'share of the roof that binds', numeric: true, key: (row) => row.kernel.binding?.share, show: (row) => value(row.kernel.binding?.share, format.percent, row.kernel.missing, 'binding.share') },
      { title: 'Performance', numeric: true, key: (row) => row.kernel.compute.gflops, show: (row) => value(row.kernel.compute.gflops, giga, row.kernel.missing, 'compute.gflops') },
      { title: 'Attainable', numeric: true, key: (row) => row.kernel.binding?.attainable_gflops, show: (row) => value(row.kernel.binding?.attainable_gflops, giga, row.kernel.missing, 'binding.attainable_gflops') },
      { title: 'Memory', hint: 'bytes beyond L2 per second', numeric: true, key: (row) => at(row, 'hbm')?.gb_per_s, show: (row) => value(at(row, 'hbm')?.gb_per_s, (rate) => format.rate(rate * 1e9, 'B/s'), row.kernel.missing, 'levels[0].gb_per_s') },
      { title: 'FLOP/byte', numeric: true, key: (row) => at(row, 'hbm')?.intensity, show: (row) => value(at(row, 'hbm')?.intensity, format.number, row.kernel.missing, 'levels[0].intensity') },
      { title: 'Time', numeric: true, key: (row) => row.kernel.time.total_ns, show: (row) => value(row.kernel.time.total_ns, format.duration, row.kernel.missing, 'time.total_ns') },
    ],
  });
}

function chart(host: HTMLElement, document: Roofline, gpu: GpuChart, id: string, context: Context): void {
  const view: View = { level: gpu.marks.some((mark) => mark.level === 'hbm') ? 'hbm' : 'all', precision: 'all', chosen: gpu.marks[0]?.kernel ?? null };
  const note = h('p', { class: 'muted', role: 'status' });
  const table = (): { columns: string[]; rows: (string | number)[][] } => ({
    columns: ['Mark', 'Level', 'FLOP/byte', 'Performance', 'Attainable', 'Under', 'Kernel'],
    rows: pointsOf(document, gpu, view).map((point) => [point.letter, levelName(point.level), format.number(point.x), giga(point.y), point.attainable === null ? format.UNKNOWN : giga(point.attainable), point.bound ?? format.UNKNOWN, document.kernels[point.kernel]!.name]),
  });
  const controls = h('div', { class: 'controls' });
  host.append(controls);
  const handle = context.chart(host, { id, label: `Roofline of ${gpu.product ?? gpu.architecture ?? 'a GPU'}: performance over intensity on logarithmic axes, with ${gpu.roofs.filter((roof) => roof.kind !== 'mix').length} ceilings and ${new Set(gpu.marks.map((mark) => mark.kernel)).size} kernels`, height: HEIGHT, option: (colours, width) => draw(document, gpu, view, colours, width), table });
  const update = (): void => {
    note.textContent = view.precision === 'all' ? '' : `Of ${view.precision.replace('.', ' ')} alone: its FLOPs over the kernel's time, and over all bytes of the level; computed here from the document's figures.`;
    handle.redraw();
  };
  const precisions = precisionsOf(document, gpu);
  controls.append(
    choice('Level', [...levelsOf(gpu).map((level) => [level, levelName(level)] as const), ['all', 'all levels']], view.level, (value) => { view.level = value as View['level']; update(); }),
    choice('Precision', [['all', 'all work'], ...precisions.map((one) => [one.id, one.label] as const)], 'all', (value) => { view.precision = value; update(); }));
  host.append(note);
  handle.instance.on('click', (event) => {
    const point = (event.data as { point?: Point } | null)?.point;
    if (point) context.selection.select(document.kernels[point.kernel]!.name, 'roofline');
  });
  const rows = kernelsTable(document, gpu, context, `${id}-table`);
  host.append(rows.element);
  context.selection.onChange((name) => {
    const index = document.kernels.findIndex((kernel) => kernel.name === name);
    view.chosen = index >= 0 ? index : (gpu.marks[0]?.kernel ?? null);
    rows.redraw();
    update();
  });
}

export const roofline: Section = {
  id: 'roofline',
  title: 'Roofline',
  applies: (docs) => docs.has('roofline'),
  mount(host, context) {
    context.docs.every('roofline').forEach(({ document, file }, which) => {
      if (context.docs.every('roofline').length > 1) host.append(h('h3', {}, file ?? `Roofline ${which + 1}`));
      document.chart.gpus.forEach((gpu, index) => {
        if (document.chart.gpus.length > 1) host.append(h('h3', {}, gpu.product ?? gpu.architecture ?? format.UNKNOWN));
        chart(host, document, gpu, `roofline-${which}-${index}`, context);
      });
      if (document.chart.gpus.length === 0) host.append(context.note('No roofline can be drawn: no kernel has floating-point work and bytes that are known.', 'rocm-perf profile --roofline -- ./app'));
      const unmarked = document.chart.without_mark;
      if (unmarked.length > 0) host.append(h('details', { class: 'in-print' }, h('summary', {}, `${format.counted(unmarked.length, 'kernel')} without a mark, and why`), h('ul', {}, unmarked.map((one) => h('li', {}, longName(document.kernels[one.kernel]?.name ?? ''), `: ${one.reason}`)))));
    });
  },
};
