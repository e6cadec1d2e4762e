// The kernels of a trace: their times, and for each its launch, resources, occupancy by three models and what its code object corrected.
import { h, longName, type Child } from '../dom';
import type { DocumentTypes, Missing } from '../documents';
import { limitersText } from '../models';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { hasField } from '../words';
import { factList } from './summary';
import { bottlenecksOf, verdictBadge, type Verdict } from './verdicts';

export type Kernel = DocumentTypes['analysis']['kernels'][number];

/** Fields of an object as facts: a number as it is, null as unknown with its reason. */
function fields(values: object | null, path: string, missing: readonly Missing[], { value, format }: Context): [string, Child][] {
  if (!values) return [];
  return Object.entries(values).filter(([key, entry]) => hasField(key) && (entry === null || ['number', 'string', 'boolean'].includes(typeof entry) || Array.isArray(entry))).map(([key, entry]): [string, Child] => [
    format.words(key.replace(/_bytes(_|$)/, '$1').replace(/_per_(\w+)$/, ' per $1')),
    value(entry, (known) => (Array.isArray(known) ? format.triple(known as number[]) : key.includes('bytes') && typeof known === 'number' ? format.bytes(known) : typeof known === 'number' ? format.number(known, 7) : String(known)), missing, `${path}.${key}`),
  ]);
}

function occupancyTable(occupancy: NonNullable<Kernel['occupancy']>, { format }: Context): HTMLElement {
  return h('div', { class: 'table-box', tabindex: 0 }, h('table', { class: 'data' },
    h('thead', {}, h('tr', {}, ['Model', 'Waves per SIMD', 'Of', 'Occupancy', 'Work-groups per CU', 'Limited by'].map((title, index) => h('th', { scope: 'col', class: index > 0 && index < 5 ? 'num' : '' }, title)))),
    h('tbody', {}, Object.entries(occupancy.models!).map(([name, model]) => h('tr', {}, h('td', {}, name, name === occupancy.model ? h('span', { class: 'muted' }, ' (reported)') : null), h('td', { class: 'num' }, format.number(model.waves_per_simd)),
      h('td', { class: 'num' }, model.max_waves_per_simd), h('td', { class: 'num' }, format.percent(model.occupancy)), h('td', { class: 'num' }, String(model.workgroups_per_cu ?? format.UNKNOWN)), h('td', {}, limitersText(model)))))));
}

/** What counters say was achieved, and why the rest of the possible occupancy stood empty. */
function occupancyGap({ occupancy_gap: gap, missing }: Kernel, { format, value }: Context): Child {
  if (!gap) return null; // its reason stands among what is missing
  const waited = gap.waited_for.map((one) => `${format.words(one.resource)} ${format.percent(one.share)}`).join(', ');
  return [h('h4', {}, 'Achieved occupancy'), factList([
    ['achieved', `${format.percent(gap.achieved)} of ${format.percent(gap.theoretical)} possible`],
    ...gap.causes.filter(({ share }) => share !== 0).map((one): [string, Child] => [one.label, one.share === null ? h('span', { class: 'unknown', title: one.reason ?? '' }, format.UNKNOWN) : format.percent(one.share)]),
    ...(gap.not_attributed > 0 ? [['not attributed', format.percent(gap.not_attributed)] as [string, Child]] : []),
    ['rounds of work-groups', value(gap.rounds, (rounds) => format.number(rounds), missing, 'occupancy_gap.rounds')],
    ...(waited ? [['work-groups waited for', `${waited} of the cycles`] as [string, Child]] : []),
  ])];
}

function details(kernel: Kernel, context: Context): HTMLElement {
  const { format, note, value } = context;
  const code = kernel.code_object;
  return h('div', { class: 'kernel-details' },
    h('p', { class: 'full-name' }, longName(kernel.name)),
    kernel.mangled_name !== null && kernel.mangled_name !== kernel.name ? h('p', {}, h('span', { class: 'muted' }, 'Symbol '), longName(kernel.mangled_name)) : null,
    h('div', { class: 'columns' },
      h('div', {}, h('h4', {}, 'Launch'), factList([...fields(kernel.launch, 'launch', kernel.missing, context), ['shortest dispatch', value(kernel.min_ns, format.duration, kernel.missing, 'min_ns')], ['longest dispatch', value(kernel.max_ns, format.duration, kernel.missing, 'max_ns')], ['launch shapes', String(kernel.launch_shapes)], ['launches found', `${format.count(kernel.launches_linked)} of ${format.count(kernel.dispatches)}`]])),
      h('div', {}, h('h4', {}, 'Resources'), factList(fields(kernel.resources, 'resources', kernel.missing, context))),
      h('div', {}, h('h4', {}, 'GPU'), factList(fields(kernel.gpu, 'gpu', kernel.missing, context).filter(([label]) => label !== 'table differences')))),
    h('h4', {}, 'Occupancy by model'), kernel.occupancy?.models ? occupancyTable(kernel.occupancy, context) : reason(kernel, 'occupancy.models', note),
    occupancyGap(kernel, context),
    code ? [h('h4', {}, 'Code object'), h('p', {}, `${code.file} (${code.target})`),
      code.corrections.length > 0 ? h('ul', {}, code.corrections.map((one) => h('li', {}, `${format.words(one.field)}: ${String(one.code_object)}; the profiler had recorded ${String(one.recorded)}`))) : h('p', { class: 'muted' }, 'It agrees with what the profiler recorded.')] : null,
    kernel.assumptions.length > 0 ? [h('h4', {}, 'Assumptions'), h('ul', {}, kernel.assumptions.map((one) => h('li', {}, one)))] : null);
}

function reason(kernel: Kernel, field: string, note: Context['note']): HTMLElement {
  const entry = kernel.missing.find((one) => one.field === field || field.startsWith(`${one.field}.`));
  return note(entry ? entry.reason : 'not known', entry?.remedy);
}

export const kernels: Section = {
  id: 'kernels',
  title: 'Kernels',
  applies: (docs) => (docs.first('analysis')?.kernels.length ?? 0) > 0,
  mount(host, context) {
    const { docs, format, selection, value } = context;
    const analysis = docs.first('analysis')!;
    const verdictOf = new Map<string, Verdict>(bottlenecksOf(docs)?.kernels.map((one) => [one.name, one]) ?? []);
    const reasons = new Map(bottlenecksOf(docs)?.without_verdict?.map((one) => [one.name, one.reason]) ?? []);
    const withoutVerdict = (name: string): Node => { const why = reasons.get(name); return why === undefined ? h('span', { class: 'unknown' }, 'none') : h('span', { class: 'unknown has-reason', title: why, tabindex: 0, 'aria-label': `none: ${why}` }, 'none'); };
    const onPath = new Map(analysis.critical_path?.kernels.map((one) => [one.name, one]) ?? []);
    const largest = Math.max(...analysis.kernels.map((kernel) => kernel.share ?? 0), 1e-9);
    const time = (kernel: Kernel, field: 'median_ns' | 'total_ns'): Node => value(kernel[field] as number | null, format.duration, kernel.missing, field);
    const table = createTable<Kernel>({
      id: 'kernels-table', caption: 'Kernels of the trace', rows: analysis.kernels, sortBy: 1,
      filter: (kernel) => `${kernel.name} ${kernel.mangled_name ?? ''} ${verdictOf.get(kernel.name)?.label ?? ''}`, filterLabel: 'Filter by name or verdict',
      details: (kernel) => details(kernel, context), detailsLabel: (kernel) => kernel.name.slice(0, 80),
      mark: (kernel) => (kernel.name === selection.current ? 'chosen' : ''),
      columns: [
        { title: 'Kernel', wide: true, key: (kernel) => kernel.name, show: (kernel) => h('button', { type: 'button', class: 'kernel-name', title: 'Show this kernel in the other sections', onclick: () => selection.select(selection.current === kernel.name ? null : kernel.name, 'kernels') }, longName(kernel.name)) },
        { title: 'Share', hint: 'of all kernel time', numeric: true, key: (kernel) => kernel.share, show: (kernel) => h('span', { class: 'bar-cell' }, value(kernel.share, format.percent, kernel.missing, 'share'), h('span', { class: 'bar', 'aria-hidden': 'true', style: `width:${((kernel.share ?? 0) / largest) * 100}%` })) },
        { title: 'Total', numeric: true, key: (kernel) => kernel.total_ns, show: (kernel) => time(kernel, 'total_ns') },
        { title: 'Count', hint: 'dispatches', numeric: true, key: (kernel) => kernel.dispatches, show: (kernel) => format.count(kernel.dispatches) },
        { title: 'Median', numeric: true, key: (kernel) => kernel.median_ns, show: (kernel) => time(kernel, 'median_ns') },
        { title: 'CV', hint: 'spread of the dispatches: standard deviation over mean', numeric: true, key: (kernel) => kernel.cv, show: (kernel) => value(kernel.cv, format.percent, kernel.missing, 'cv') },
        { title: 'Occupancy', hint: 'theoretical, by the resident model', numeric: true, key: (kernel) => kernel.occupancy?.theoretical, show: (kernel) => value(kernel.occupancy?.theoretical, format.percent, kernel.missing, 'occupancy.theoretical') },
        ...(analysis.critical_path ? [{ title: 'On path', hint: 'time of the critical path in this kernel; kernels that are not listed there have no figure here', numeric: true, key: (kernel: Kernel) => onPath.get(kernel.name)?.path_ns, show: (kernel: Kernel) => { const path = onPath.get(kernel.name); return path ? format.duration(path.path_ns) : h('span', { class: 'unknown', title: 'not among the kernels that the analysis lists for the critical path' }, 'not listed'); } }] : []),
        { title: 'Verdict', key: (kernel) => verdictOf.get(kernel.name)?.label, show: (kernel) => { const one = verdictOf.get(kernel.name); return one ? verdictBadge(one.verdict, one.label) : kernel.runtime_helper ? h('span', { class: 'muted' }, 'HIP runtime') : withoutVerdict(kernel.name); } },
      ],
    });
    host.append(table.element);
    selection.onChange(() => table.redraw());
  },
};
