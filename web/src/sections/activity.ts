// What else stands in a trace: host calls, copies, allocations, counters.
import { h, longName } from '../dom';
import type { DocumentTypes } from '../documents';
import * as format from '../format';
import type { Section } from '../section';
import { createTable } from '../table';

type Analysis = DocumentTypes['analysis'];

export const activity: Section = {
  id: 'activity',
  title: 'Host calls, copies, memory',
  applies: (docs) => { const analysis = docs.first('analysis'); return analysis !== undefined && analysis.api_calls.length + analysis.copies.length + analysis.allocations.length > 0; },
  mount(host, { docs, value }) {
    const analysis = docs.first('analysis')!;
    if (analysis.api_calls.length > 0)
      host.append(h('h3', {}, 'Host API calls and ranges'), createTable<Analysis['api_calls'][number]>({
        id: 'api-table', caption: 'Host API calls', rows: analysis.api_calls, sortBy: 2, page: 12, filter: (call) => `${call.name} ${call.category}`, filterLabel: 'Filter by name',
        columns: [
          { title: 'Call', wide: true, key: (call) => call.name, show: (call) => longName(call.name) }, { title: 'Category', key: (call) => call.category, show: (call) => call.category },
          { title: 'Total', numeric: true, key: (call) => call.total_ns, show: (call) => format.duration(call.total_ns) }, { title: 'Calls', numeric: true, key: (call) => call.calls, show: (call) => format.count(call.calls) },
          { title: 'Min', numeric: true, key: (call) => call.min_ns, show: (call) => format.duration(call.min_ns) }, { title: 'Max', numeric: true, key: (call) => call.max_ns, show: (call) => format.duration(call.max_ns) },
        ],
      }).element);
    if (analysis.copies.length > 0)
      host.append(h('h3', {}, 'Copies'), createTable<Analysis['copies'][number]>({
        id: 'copies-table', caption: 'Copies', rows: analysis.copies, sortBy: 1,
        columns: [
          { title: 'Kind', wide: true, key: (copy) => copy.kind, show: (copy) => format.words(copy.kind.replace(/^MEMORY_COPY_/, '').toLowerCase()) }, { title: 'Total', numeric: true, key: (copy) => copy.total_ns, show: (copy) => format.duration(copy.total_ns) },
          { title: 'Copies', numeric: true, key: (copy) => copy.copies, show: (copy) => format.count(copy.copies) }, { title: 'Bytes', numeric: true, key: (copy) => copy.bytes, show: (copy) => value(copy.bytes, format.bytes, analysis.missing, `copies[${analysis.copies.indexOf(copy)}].bytes`) },
          { title: 'Rate', numeric: true, key: (copy) => copy.gb_per_s, show: (copy) => value(copy.gb_per_s, (rate) => format.rate(rate * 1e9, 'B/s'), analysis.missing, `copies[${analysis.copies.indexOf(copy)}].gb_per_s`) },
        ],
      }).element);
    if (analysis.allocations.length > 0)
      host.append(h('h3', {}, 'Allocations'), createTable<Analysis['allocations'][number]>({
        id: 'allocations-table', caption: 'Allocations', rows: analysis.allocations,
        columns: [
          { title: 'Type', wide: true, show: (one) => `${one.type.toLowerCase()} (${one.level.toLowerCase()})` }, { title: 'Count', numeric: true, key: (one) => one.count, show: (one) => format.count(one.count) }, { title: 'Bytes', numeric: true, key: (one) => one.bytes, show: (one) => value(one.bytes, format.bytes) },
        ],
      }).element);
  },
};

export const counters: Section = {
  id: 'counters',
  title: 'Counters',
  applies: (docs) => (docs.first('analysis')?.counters.length ?? 0) > 0,
  mount(host, { docs, value }) {
    const analysis = docs.first('analysis')!;
    host.append(h('p', { class: 'lead' }, 'As recorded, per kernel. A counter is measured, zero, missing, unsupported or suspicious; nothing is computed from a suspicious one.'), createTable<Analysis['counters'][number]>({
      id: 'counters-table', caption: 'Counters', rows: analysis.counters, page: 12, filter: (counter) => `${counter.name} ${counter.kernel} ${counter.state}`, filterLabel: 'Filter by counter, kernel or state',
      columns: [
        { title: 'Counter', key: (counter) => counter.name, show: (counter) => h('span', { class: 'mono' }, counter.name) }, { title: 'Kernel', wide: true, key: (counter) => counter.kernel, show: (counter) => longName(counter.kernel) },
        { title: 'State', key: (counter) => counter.state, show: (counter) => counter.state }, { title: 'Pass', numeric: true, key: (counter) => counter.pass, show: (counter) => counter.pass },
        { title: 'Mean per dispatch', numeric: true, key: (counter) => counter.mean, show: (counter) => value(counter.mean, (mean) => format.number(mean, 6)) },
        { title: 'Min', numeric: true, key: (counter) => counter.min, show: (counter) => value(counter.min, (least) => format.number(least, 6)) }, { title: 'Max', numeric: true, key: (counter) => counter.max, show: (counter) => value(counter.max, (most) => format.number(most, 6)) },
      ],
    }).element);
  },
};
