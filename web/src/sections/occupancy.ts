// Occupancy: waves per SIMD by the models of the platform, what limits them, the next step; how it changes along a swept resource. For kernels of
// a trace the waves that their resources allow, beside those that were counted in flight.
import { axisStyle, tooltipBox } from '../chart';
import { h, type Child } from '../dom';
import type { Documents, DocumentTypes } from '../documents';
import * as format from '../format';
import { answering, hardwareModel, limitersText, modelOf, MODELS } from '../models';
import type { Context, Section } from '../section';
import { factList } from './summary';
import { aboutNvidia, inTerms } from '../words';

type Occupancy = DocumentTypes['occupancy'];
type Model = NonNullable<Occupancy['models']['resident']>;
type Step = NonNullable<Model['next_step']>;

function stepText(step: Step | null, missing: { reason: string } | undefined): Child {
  if (!step) return h('span', { class: 'unknown' }, missing?.reason ?? 'none');
  const changes = step.changes.map((change) => `${change.resource} from ${format.count(change.from)} to ${format.count(change.to)}`).join(' and ');
  return `${changes}: ${format.number(step.waves_per_simd)} ${inTerms('waves per SIMD')} (${format.percent(step.occupancy)})`;
}

function modelsChart(host: HTMLElement, document: Occupancy, id: string, { chart }: Context): void {
  const models = answering<Model>(document.models);
  chart(host, {
    id, height: 48 + 28 * models.length, label: `${inTerms('Waves per SIMD')} by model on ${document.architecture}: ${models.map(({ name, model }) => `${name} ${model.waves_per_simd} of ${model.max_waves_per_simd}`).join(', ')}`,
    option: (colours) => ({
      grid: { left: 70, right: 46, top: 6, bottom: 28 },
      tooltip: { trigger: 'item', formatter: (item) => { const { name, model } = models[(item as { dataIndex: number }).dataIndex]!; return tooltipBox(`${name} model`, [['Waves per SIMD', `${format.number(model.waves_per_simd)} of ${model.max_waves_per_simd}`], ['Occupancy', format.percent(model.occupancy)], ['Limited by', limitersText(model)]]) as unknown as string; } },
      xAxis: { ...axisStyle(colours), type: 'value', min: 0, max: Math.max(...models.map(({ model }) => model.max_waves_per_simd)), minInterval: 1 },
      yAxis: { ...axisStyle(colours), type: 'category', inverse: true, data: models.map(({ name }) => name) },
      series: [
        { id: 'waves', type: 'bar', barWidth: 16, z: 3, data: models.map(({ model }) => model.waves_per_simd), itemStyle: { color: colours.accent, borderRadius: 2 }, label: { show: true, position: 'right', color: colours.text, formatter: (item) => format.number(item.value as number) } },
        { id: 'most', type: 'bar', barWidth: 16, barGap: '-100%', silent: true, z: 1, data: models.map(({ model }) => model.max_waves_per_simd), itemStyle: { color: colours.line, opacity: 0.5, borderRadius: 2 } },
      ],
    }),
    table: () => ({ columns: ['Model', 'Waves per SIMD', 'Of', 'Occupancy', 'Limited by'], rows: models.map(({ name, model }) => [name, model.waves_per_simd, model.max_waves_per_simd, format.percent(model.occupancy), limitersText(model)]) }),
  });
}

function sweepChart(host: HTMLElement, document: Occupancy, id: string, { chart }: Context): void {
  const sweep = document.sweep;
  if (!sweep || sweep.length === 0) return;
  const resource = sweep[0]!.resource;
  const names = answering<Model>(document.models).map(({ name }) => name);
  const input = document.input as unknown as Record<string, number | null>;
  const now = sweep.find((range) => range.current);
  const at = resource === 'vgpr' ? input['vgpr'] : resource === 'lds' ? input['static_lds_bytes'] : input['workgroup_size'];
  host.append(h('h4', {}, `Along ${format.words(resource)}`));
  chart(host, {
    id, height: 220, label: `Waves per SIMD along ${resource}, by model, from ${sweep[0]!.from} to ${sweep.at(-1)!.to}`,
    option: (colours) => ({
      grid: { left: 44, right: 22, top: 30, bottom: 42 },
      legend: { top: 0, textStyle: { color: colours.text }, itemHeight: 8 },
      tooltip: { trigger: 'axis', formatter: (items) => { const list = items as unknown as { seriesName: string; value: [number, number] }[]; return tooltipBox(`${format.words(resource)} ${list[0]?.value[0] ?? ''}`, list.map((item) => [item.seriesName, format.number(item.value[1])])) as unknown as string; } },
      xAxis: { ...axisStyle(colours), type: 'value', min: sweep[0]!.from, max: sweep.at(-1)!.to, name: format.words(resource), nameLocation: 'middle', nameGap: 26 },
      yAxis: { ...axisStyle(colours), type: 'value', min: 0, minInterval: 1, name: inTerms('waves per SIMD'), nameTextStyle: { align: 'left', color: colours.muted, fontSize: 11 }, nameGap: 8 },
      series: names.map((name, index) => ({
        id: name, name, type: 'line' as const, symbol: 'none', lineStyle: { width: 2, type: (['solid', 'dashed', 'dotted'] as const)[index] },
        data: sweep.flatMap((range) => { const waves = range.models?.[name]?.waves_per_simd ?? '-'; return [[range.from, waves], [range.to, waves]]; }),
        ...(index === 0 && now && typeof at === 'number' ? { markLine: { silent: true, symbol: 'none', lineStyle: { color: colours.accent, type: 'solid' as const }, label: { formatter: `now ${at}`, color: colours.accent }, data: [{ xAxis: at }] } } : {}),
      })),
    }),
    table: () => ({ columns: [resource, ...names], rows: sweep.map((range) => [range.from === range.to ? String(range.from) : `${range.from} to ${range.to}`, ...names.map((name) => range.models?.[name]?.waves_per_simd ?? 'does not launch')]) }),
  });
}

function stepTable(document: Occupancy): HTMLElement {
  const why = (field: string) => document.missing.find((one) => one.field === field);
  return h('div', { class: 'table-box', tabindex: 0 }, h('table', { class: 'data' },
    h('thead', {}, h('tr', {}, ['Model', 'Limited by', 'The next step', 'May grow for free'].map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, answering<Model>(document.models).map(({ name, model }) => {
      const room = Object.entries(model.headroom).filter(([, value]) => value !== null).map(([key, value]) => `${format.words(key.replace('_bytes', ''))} by ${key.includes('bytes') ? format.bytes(value as number) : value}`);
      return h('tr', {}, h('td', {}, name), h('td', {}, limitersText(model)), h('td', {}, stepText(model.next_step as Step | null, why(`models.${name}.next_step`))), h('td', {}, room.join(', ')));
    }))));
}

function oneDocument(host: HTMLElement, document: Occupancy, id: string, context: Context): void {
  const input = document.input;
  const shown = (value: number | null, field: string, text: (value: number) => string = format.count): Node => context.value(value, text, document.missing, `input.${field}`);
  host.append(factList([
    ['Architecture', `${document.architecture} (${document.family})`], ['Work-group', `${input.workgroup_size_min === input.workgroup_size ? '' : `${input.workgroup_size_min} to `}${input.workgroup_size}`], ['Wave', `${input.wave_size}${input.mode === null ? '' : `, ${input.mode} mode`}`],
    ...(document.platform === 'amd' ? [['VGPR', shown(input.vgpr, 'vgpr')], ['AGPR', shown(input.agpr, 'agpr')], ['SGPR', shown(input.sgpr, 'sgpr')]] : [['Registers', shown(input.vgpr, 'vgpr')]]) as [string, Node][],
    [document.platform === 'amd' ? 'LDS' : 'Shared memory', format.bytes(input.static_lds_bytes + input.dynamic_lds_bytes)],
  ]));
  modelsChart(host, document, `${id}-models`, context);
  host.append(stepTable(document));
  sweepChart(host, document, `${id}-sweep`, context);
  const notes = [...document.assumptions, ...(document.unconfirmed.length > 0 ? [`not confirmed by a second source: ${document.unconfirmed.map(String).join(', ')}`] : [])];
  if (notes.length > 0) host.append(h('h4', {}, 'Assumptions'), h('ul', {}, notes.map((note) => h('li', {}, note))));
}

type Figure = DocumentTypes['roofline']['kernels'][number]['features'][number]['figures'][number];

/** A figure in percent as a share; null when it is not known. */
function shareOf(figure: Figure | undefined): number | null {
  return figure?.value == null ? null : figure.unit === '%' ? figure.value / 100 : figure.value;
}

/** Kernels of the first analysis whose occupancy is known; that of the others is null, with its reason in the kernels table. */
function knownKernels(docs: Documents): DocumentTypes['analysis']['kernels'] {
  return (docs.first('analysis')?.kernels ?? []).filter((kernel) => kernel.occupancy?.models && kernel.occupancy.theoretical !== null);
}

/** Kernels of the trace: the share of wave slots that resources allow, and what was counted in flight. */
function kernelsChart(host: HTMLElement, context: Context): void {
  const analysis = context.docs.first('analysis');
  const measured = new Map((context.docs.companion('roofline')?.kernels ?? []).map((kernel) => [kernel.name, kernel.features.flatMap((group) => group.figures).find((figure) => figure.name === 'occupancy.achieved')]).map(([name, figure]) => [name, shareOf(figure as Figure | undefined)] as [string, number | null]));
  const rows = knownKernels(context.docs).slice(0, 20).map((kernel) => ({ kernel, occupancy: kernel.occupancy!, models: kernel.occupancy!.models!, achieved: measured.get(kernel.name) ?? null }));
  if (rows.length === 0) return;
  const by = hardwareModel(rows[0]!.models).name;
  const names = answering(rows[0]!.models).map(({ name }) => name);
  const short = (name: string, room: number): string => (name.length > room ? `${name.slice(0, room - 1)}…` : name);
  host.append(h('h3', {}, 'Kernels of the trace'));
  context.chart(host, {
    id: 'occupancy-kernels', height: 56 + rows.length * 27,
    label: `Theoretical occupancy of ${rows.length} kernels by the ${by} model${measured.size > 0 ? ', and the achieved one from counters' : ''}`,
    option: (colours, width) => ({
      grid: { left: Math.min(290, width * 0.42), right: width > 600 ? 130 : 52, top: width > 600 ? 26 : 48, bottom: 8 },
      legend: { top: 0, right: 0, left: width > 600 ? 'auto' : 0, textStyle: { color: colours.text }, itemHeight: 8 },
      tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (items) => { const row = rows[(items as unknown as { dataIndex: number }[])[0]!.dataIndex]!; return tooltipBox(row.kernel.name.slice(0, 140), [...answering(row.models).map(({ name, model }) => [`${name} model`, `${format.number(model.waves_per_simd)} of ${model.max_waves_per_simd} ${inTerms('waves')}, ${limitersText(model)}`] as const), ['Achieved (counters)', row.achieved === null ? format.UNKNOWN : format.percent(row.achieved)]]) as unknown as string; } },
      xAxis: { ...axisStyle(colours), type: 'value', min: 0, max: 1, position: 'top', show: false },
      yAxis: { ...axisStyle(colours), type: 'category', inverse: true, data: rows.map((row) => row.kernel.name), axisLabel: { color: colours.text, fontSize: 11, interval: 0, formatter: (name: string) => short(name, Math.floor(Math.min(280, width * 0.4) / 6.4)) } },
      series: [
        { id: 'theoretical', name: `theoretical (${by} model)`, type: 'bar', barWidth: 12, data: rows.map((row) => row.occupancy.theoretical), itemStyle: { color: colours.accent, borderRadius: 2 }, label: { show: true, position: 'right', color: colours.muted, fontSize: 11, formatter: (item) => { const row = rows[item.dataIndex]!; return `${format.percent(row.occupancy.theoretical!)}${width > 600 ? ` ${limitersText(hardwareModel(row.models).model)}` : ''}`; } } },
        { id: 'achieved', name: 'achieved (counters)', type: 'scatter', symbol: 'diamond', symbolSize: 11, z: 5, data: rows.map((row) => (row.achieved === null ? '-' : row.achieved)), itemStyle: { color: colours.series[1], borderColor: colours.surface, borderWidth: 1 } },
      ],
    }),
    table: () => ({ columns: ['Kernel', ...names.map((name) => MODELS[name]), 'Limited by', 'Achieved'], rows: rows.map(({ kernel, models, achieved }) => [kernel.name, ...names.map((name) => { const model = modelOf(models, name); return model === null ? format.UNKNOWN : format.percent(model.occupancy); }), limitersText(hardwareModel(models).model), achieved === null ? format.UNKNOWN : format.percent(achieved)]) }),
    caption: analysis!.kernels.length > rows.length ? `The ${rows.length} kernels with the most time that have a known occupancy, of ${analysis!.kernels.length}.` : null,
  });
}

export const occupancy: Section = {
  id: 'occupancy',
  title: 'Occupancy',
  applies: (docs) => docs.has('occupancy') || knownKernels(docs).length > 0,
  mount(host, context) {
    host.append(h('p', { class: 'lead' }, aboutNvidia() ? 'Warps that fit, as CUDA computes it (cuda).' : 'Waves that fit, by the models of the platform: what the compiler assumes (llvm), what the runtime computes (hip), and what the hardware keeps resident; on NVIDIA what CUDA computes (cuda). Each figure names its model.'));
    context.docs.every('occupancy').forEach(({ document, file }, index) => {
      if (file && context.docs.every('occupancy').length > 1) host.append(h('h3', {}, file));
      oneDocument(host, document, `occupancy-${index}`, context);
    });
    kernelsChart(host, context);
  },
};
