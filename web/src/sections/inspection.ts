// Compiled kernels: gates first, then registers, spills, LDS, occupancy and the instruction mix of each.
import { h, longName, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import * as format from '../format';
import { limitersText } from '../models';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { outcomeBadge } from './comparison';
import { factList } from './summary';

type Inspection = DocumentTypes['inspection'];
type Kernel = Inspection['kernels'][number];

function gates(document: Inspection): HTMLElement | null {
  if (document.gates.length === 0) return null;
  return h('ul', { class: 'headlines' }, document.gates.map((gate) => h('li', { class: gate.passed ? 'good' : 'bad' }, outcomeBadge(gate.passed ? 'passed' : 'failed', gate.passed ? 'good' : 'bad'), ` ${format.words(gate.name)}${gate.limit === null ? '' : ` ${gate.name === 'min_occupancy' ? format.percent(gate.limit) : format.number(gate.limit)}`}, ${format.counted(gate.checked, 'kernel')} checked`,
    gate.problem ? h('div', {}, gate.problem) : null, gate.failures.length > 0 ? h('ul', {}, gate.failures.slice(0, 20).map((failure) => h('li', {}, longName(failure.name), ` (${failure.target}): ${failure.why}`)), gate.failures.length > 20 ? h('li', { class: 'muted' }, `and ${gate.failures.length - 20} more`) : null) : null)));
}

function mixBar(parts: Record<string, number>): HTMLElement {
  const rows = Object.entries(parts).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  return h('ul', { class: 'mix' }, rows.map(([name, count]) => h('li', {}, h('span', {}, format.words(name)), h('span', { class: 'mix-track', 'aria-hidden': 'true' }, h('span', { class: 'mix-bar', style: `width:${(count / total) * 100}%` })), h('span', { class: 'num' }, format.count(count)))));
}

function details(kernel: Kernel, { value }: Context): HTMLElement {
  const { resources, kernarg, instruction_mix: mix, occupancy } = kernel;
  const bytes = (amount: number | null | undefined, field: string): Node => value(amount, format.bytes, kernel.missing, field);
  const whole = (amount: number | null | undefined, field: string): Node => value(amount, format.count, kernel.missing, field);
  const step = occupancy?.next_step;
  return h('div', { class: 'kernel-details' },
    kernel.mangled_name !== kernel.name ? h('p', {}, h('span', { class: 'muted' }, 'Symbol '), longName(kernel.mangled_name)) : null,
    h('div', { class: 'columns' },
      h('div', {}, h('h4', {}, 'Resources'), factList([['arch VGPR', whole(resources.arch_vgpr, 'resources.arch_vgpr')], ['accum VGPR', whole(resources.accum_vgpr, 'resources.accum_vgpr')], ['allocated VGPR', whole(resources.allocated_vgpr, 'resources.allocated_vgpr')], ['VGPR spills', whole(resources.vgpr_spills, 'resources.vgpr_spills')], ['SGPR spills', whole(resources.sgpr_spills, 'resources.sgpr_spills')], ['scratch', bytes(resources.scratch_bytes, 'resources.scratch_bytes')], ['code', bytes(kernel.code_bytes, 'code_bytes')]]),
        occupancy ? [h('h4', {}, `Occupancy at ${occupancy.workgroup_size ?? format.UNKNOWN} work-items`), !occupancy.models ? value(null, String, kernel.missing, 'occupancy.models') : h('ul', {}, Object.entries(occupancy.models).map(([name, model]) => h('li', {}, `${name}: ${format.number(model.waves_per_simd)} of ${model.max_waves_per_simd} waves, limited by ${limitersText(model)}`))),
          step ? h('p', {}, `Next step: ${step.changes.map((change) => `${change.resource} from ${format.count(change.from)} to ${format.count(change.to)}`).join(' and ')} gives ${format.percent(step.occupancy)}`) : null] : null),
      h('div', {}, h('h4', {}, 'Instructions, as they stand in the code'), mix ? [mixBar(mix.by_class as Record<string, number>), Object.values(mix.valu_by_precision as Record<string, number>).some((count) => count > 0) ? [h('h4', {}, 'Vector instructions by type'), mixBar(mix.valu_by_precision as Record<string, number>)] : null] : value(null, String, kernel.missing, 'instruction_mix')),
      h('div', {}, h('h4', {}, 'Arguments'), kernarg ? [factList([['Bytes', format.bytes(kernarg.bytes ?? 0)]]), h('ul', {}, (kernarg.arguments ?? []).filter((argument) => !argument.hidden).map((argument) => h('li', {}, h('span', { class: 'mono' }, `${argument.type ?? argument.kind} ${argument.name ?? ''}`), h('span', { class: 'muted' }, ` at ${argument.offset}, ${format.bytes(argument.size)}`))))] : value(null, String, kernel.missing, 'kernarg'))),
    kernel.assumptions.length > 0 ? [h('h4', {}, 'Assumptions'), h('ul', {}, kernel.assumptions.map((one) => h('li', {}, one)))] : null);
}

function against(document: Inspection): Child {
  const found = document.against;
  if (!found) return null;
  return [h('h3', {}, `Against ${found.file.name}`), h('p', {}, `${format.counted(found.compared, 'kernel')} compared, ${format.count(found.changes.length)} changed; ${found.only_new.length} only here, ${found.only_old.length} only there.`),
    h('ul', {}, found.changes.slice(0, 100).map((change) => h('li', {}, longName(change.name), ': ', change.figures.map((figure, index) => [index > 0 ? ', ' : '', h('span', { class: figure.worse ? 'bad-text' : '' }, `${format.words(figure.figure)} ${format.known(figure.before, format.number)} → ${format.known(figure.after, format.number)}`)]))))];
}

/** Spilled registers of both kinds; null where one of them is not known. */
function spills({ resources: { vgpr_spills: vector, sgpr_spills: scalar } }: Kernel): number | null {
  return vector === null || scalar === null ? null : vector + scalar;
}

export const inspection: Section = {
  id: 'inspection',
  title: 'Compiled kernels',
  applies: (docs) => docs.has('inspection'),
  mount(host, context) {
    const { value } = context;
    context.docs.every('inspection').forEach(({ document, file }, index) => {
      if (index > 0) host.append(h('h3', {}, file ?? document.file.name));
      host.append(factList([['File', document.file.name], ['Kind', format.words(document.file.kind)], ['Size', format.bytes(document.file.bytes)], ['Code objects', document.code_objects.map((object) => object.target ?? 'not readable').join(', ') || 'none']]), gates(document) ?? '');
      const figure = (kernel: Kernel, amount: number | null | undefined, field: string, show: (value: number) => string = format.count): Node => value(amount, show, kernel.missing, field);
      host.append(createTable<Kernel>({
        id: `inspection-${index}-table`, caption: 'Compiled kernels', rows: document.kernels, filter: (kernel) => `${kernel.name} ${kernel.target}`, filterLabel: 'Filter by name or target', details: (kernel) => details(kernel, context), detailsLabel: (kernel) => kernel.name.slice(0, 80),
        columns: [
          { title: 'Kernel', wide: true, key: (kernel) => kernel.name, show: (kernel) => longName(kernel.name) },
          { title: 'Target', key: (kernel) => kernel.target, show: (kernel) => kernel.target },
          { title: 'VGPR', numeric: true, key: (kernel) => kernel.resources.vgpr, show: (kernel) => figure(kernel, kernel.resources.vgpr, 'resources.vgpr') },
          { title: 'SGPR', numeric: true, key: (kernel) => kernel.resources.sgpr, show: (kernel) => figure(kernel, kernel.resources.sgpr, 'resources.sgpr') },
          { title: 'Spills', hint: 'of VGPRs and SGPRs', numeric: true, key: spills, show: (kernel) => figure(kernel, spills(kernel), kernel.resources.vgpr_spills === null ? 'resources.vgpr_spills' : 'resources.sgpr_spills') },
          { title: 'LDS', numeric: true, key: (kernel) => kernel.resources.lds_bytes, show: (kernel) => figure(kernel, kernel.resources.lds_bytes, 'resources.lds_bytes', format.bytes) },
          { title: 'Scratch', numeric: true, key: (kernel) => kernel.resources.scratch_bytes, show: (kernel) => figure(kernel, kernel.resources.scratch_bytes, 'resources.scratch_bytes', format.bytes) },
          { title: 'Occupancy', numeric: true, hint: 'resident model', key: (kernel) => kernel.occupancy?.theoretical, show: (kernel) => figure(kernel, kernel.occupancy?.theoretical, 'occupancy.theoretical', format.percent) },
          { title: 'Instructions', numeric: true, key: (kernel) => kernel.instruction_mix?.instructions, show: (kernel) => figure(kernel, kernel.instruction_mix?.instructions, 'instruction_mix') },
        ],
      }).element, h('div', {}, against(document)));
    });
  },
};
