// What ran when (timeline.json): lanes of host threads, streams and queues with the critical path; as tables for those who cannot
// see it.
import './timeline.css';
import { h } from '../dom';
import type { DocumentTypes } from '../documents';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { eachDocument, scopeNotes, spentKind, swatch } from './criticalpath-parts';
import { OWN_COLOURS } from './timeline-canvas';
import { paletteOf, timelineModel, type Stretch, type TimelineModel } from './timeline-model';
import { TimelineView } from './timeline-view';

type Timeline = DocumentTypes['timeline'];
/** Rows of the text alternative. */
const LONGEST = 25;

function legend(model: TimelineModel): HTMLElement {
  const palette = paletteOf(model, OWN_COLOURS);
  const names = model.names.map((name, i) => ({ name, i })).filter(({ i }) => palette[i]! < OWN_COLOURS).sort((a, b) => palette[a.i]! - palette[b.i]!);
  const series = [1, 2, 3, 4, 5, 7];
  const has = (place: number): boolean => palette.includes(place);
  const entry = (colour: string, text: HTMLElement | string): HTMLElement => h('li', {}, swatch(colour), text);
  const spent = new Set(model.path?.map((stretch) => model.spentKinds[stretch.spent]!) ?? []);
  return h('div', { class: 'timeline-legend' },
    h('ul', { 'aria-label': 'Colours of the lanes' }, names.map(({ name, i }) => entry(`series-${series[palette[i]!]!}`, h('span', { class: 'name', title: name }, name))),
      has(OWN_COLOURS) ? entry('series-8', 'other kernels') : null, has(OWN_COLOURS + 1) ? entry('series-6', 'copies') : null, has(OWN_COLOURS + 2) ? entry('muted', 'API calls, on host threads') : null),
    model.path ? h('ul', { 'aria-label': 'Colours of the critical path' }, h('li', { class: 'muted' }, 'Critical path:'), model.spentKinds.filter((kind) => spent.has(kind)).map((kind) => entry(spentKind(kind).colour, spentKind(kind).title)), h('li', { class: 'muted' }, 'In the lanes a line below what is on it.')) : null);
}

function facts(host: HTMLElement, document: Timeline, context: Context): void {
  const { format, note } = context;
  const operations = document.lanes.reduce((sum, lane) => sum + lane.operations, 0);
  const inside = document.resolution_ns > 0 ? 0 : document.lanes.reduce((sum, lane) => sum + lane.operations - lane.slices.length, 0);
  host.append(h('p', { class: 'lead' }, `${format.counted(operations, 'operation')} in ${format.counted(document.lanes.length, 'lane')} over ${format.duration(document.span_ns)}. `,
    document.resolution_ns === 0 ? `Every slice is one operation, to the nanosecond${inside > 0 ? `, save ${format.counted(inside, 'call')} inside other calls: each stands in the slice of the outermost` : ''}.`
      : `Operations shorter than ${format.duration(document.resolution_ns)} that begin close to each other are drawn as one slice, filled as high as it was busy; calls inside a call stand in its slice. Counts and sums are exact.`));
  if (document.path_resolution_ns > 0) host.append(note(`Stretches of the critical path shorter than ${format.duration(document.path_resolution_ns)} that end close to each other are drawn as one, of the kind and lane with the most of its time.`));
  const left = document.lanes_left_out;
  if (left.lanes > 0) host.append(note(`${format.counted(left.lanes, 'lane')} with ${format.counted(left.operations, 'operation')} (${format.duration(left.busy_ns)} busy, ${format.duration(left.path_ns)} on the critical path) are left out: the busiest are shown.`, 'rocm-perf critical-path --perfetto FILE has all of them.'));
  if (document.elsewhere.operations > 0) host.append(note(`${format.counted(document.elsewhere.operations, 'operation')} of other machines are left out: clocks of machines are not aligned.`, 'Give the files of one machine alone to see it.'));
  const { outside } = document;
  if (outside.operations > 0) host.append(note(document.segment === null
    ? `${format.counted(outside.operations, 'operation')} (${format.duration(outside.busy_ns)} busy) before the begin or after the end are left out, or cut: calls that order no work lie outside of the critical path's time.`
    : `${format.counted(outside.operations, 'operation')} (${format.duration(outside.busy_ns)} busy) of the rest of the run are left out, or cut.`));
  if (document.path === null) {
    const why = document.missing.find((one) => one.field === 'path');
    host.append(note(`There is no critical path: ${why?.reason ?? 'no reason is given'}.`, why?.remedy));
  }
}

/** The longest stretches of the path, and the lanes, as tables. */
function alternative(host: HTMLElement, model: TimelineModel, document: Timeline, context: Context, suffix: string): void {
  const { format } = context;
  const whole = document.path_resolution_ns === 0; // every stretch is of its kind alone
  const longest = [...(model.path ?? [])].sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from).slice(0, LONGEST);
  const lane = (stretch: Stretch): string => model.lanes[stretch.lane]?.label ?? 'none that is shown';
  host.append(h('details', { class: 'fold in-print' }, h('summary', {}, 'The timeline as tables'),
    longest.length ? [h('h4', {}, `The longest ${longest.length} stretches of the critical path`), createTable({
      id: `timeline-path${suffix}`, caption: 'The longest stretches of the critical path', rows: longest, page: LONGEST,
      columns: [
        { title: 'From', numeric: true, key: (one) => one.from, show: (one) => format.duration(one.from) },
        { title: 'Length', numeric: true, key: (one) => one.to - one.from, show: (one) => format.duration(one.to - one.from) },
        { title: whole ? 'Spent on' : 'Spent on, mostly', key: (one) => model.spentKinds[one.spent], show: (one) => `${spentKind(model.spentKinds[one.spent]!).title}${one.time < one.to - one.from ? `, ${format.duration(one.time)} of it` : ''}` },
        { title: 'Lane', key: lane, show: lane, wide: true },
      ],
    }).element] : null,
    h('h4', {}, 'Lanes'), createTable({
      id: `timeline-lanes${suffix}`, caption: 'Lanes of the timeline', rows: model.lanes, page: 64,
      columns: [
        { title: 'Lane', key: (one) => one.label, show: (one) => one.label, wide: true },
        { title: 'Operations', numeric: true, key: (one) => one.operations, show: (one) => format.count(one.operations) },
        { title: 'Busy', hint: 'sum of the durations', numeric: true, key: (one) => one.busy, show: (one) => format.duration(one.busy) },
        { title: 'On the path', numeric: true, key: (one) => one.path, show: (one) => format.duration(one.path) },
      ],
    }).element));
}

export const timeline: Section = {
  id: 'timeline',
  title: 'Timeline',
  applies: (docs) => docs.has('timeline'),
  mount(host, context) {
    eachDocument(host, context, 'timeline', (part, document, suffix) => {
      const model = timelineModel(document);
      facts(part, document, context);
      if (model.lanes.length === 0) {
        part.append(context.note('Nothing with a time was recorded.'));
        return;
      }
      part.append(...(scopeNotes(context, { synthetic: null, segment: document.segment }).filter((note) => note !== null) as HTMLElement[]));
      const view = new TimelineView(model, context.selection, 'timeline');
      view.element.dataset['timeline'] = `timeline${suffix}`;
      part.append(view.element, legend(model));
      view.start();
      alternative(part, model, document, context, suffix);
    });
  },
};
