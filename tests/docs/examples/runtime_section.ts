// An example of a section of the page (docs/DEVELOPER_GUIDE.md): the runtime of the selected kernel, or why there is none.
import { h } from '../../../web/src/dom';
import type { Section } from '../../../web/src/section';

export const runtime: Section = {
  id: 'runtime',
  title: 'Runtime of the selected kernel',
  applies: (docs) => docs.has('profile'),
  mount(host, { docs, format, value }) {
    const profile = docs.first('profile');
    if (!profile) return;
    const shown = value(profile.runtime_ms, (ms) => format.duration(1e6 * ms), profile.missing, 'runtime_ms');
    const kernel = value(profile.kernel, (known) => known.name, profile.missing, 'kernel');
    host.append(h('p', { class: 'lead' }, kernel), h('p', {}, shown));
  },
};
