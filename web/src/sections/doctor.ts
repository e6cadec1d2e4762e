// What works on a machine: commands, the parts they need, GPUs.
import { h } from '../dom';
import * as format from '../format';
import type { Section } from '../section';
import { outcomeBadge } from './comparison';

const READY = { ready: 'good', partly: 'warn', not_ready: 'bad' } as const;
const STATE = { works: 'good', missing: 'bad', unusable: 'bad' } as const;

export const doctor: Section = {
  id: 'doctor',
  title: 'This machine',
  applies: (docs) => docs.has('doctor'),
  mount(host, { docs }) {
    for (const { document } of docs.every('doctor')) {
      const head = (titles: readonly string[]): HTMLElement => h('thead', {}, h('tr', {}, titles.map((title) => h('th', { scope: 'col' }, title))));
      host.append(
        h('h3', {}, 'Commands'), h('div', { class: 'table-box', tabindex: 0 }, h('table', { class: 'data' }, head(['Command', 'Readiness', 'What is missing means']),
          h('tbody', {}, document.commands.map((command) => h('tr', {}, h('td', { class: 'mono' }, command.command), h('td', {}, outcomeBadge(format.words(command.readiness), READY[command.readiness])), h('td', {}, command.lacks.map((lack) => h('div', {}, `${format.words(lack.need)}: ${lack.means}`)))))))),
        h('h3', {}, 'Parts'), h('div', { class: 'table-box', tabindex: 0 }, h('table', { class: 'data' }, head(['Part', 'State', 'Version', 'Problem and remedy']),
          h('tbody', {}, document.parts.map((part) => h('tr', {}, h('td', {}, part.title), h('td', {}, outcomeBadge(part.state, STATE[part.state])), h('td', {}, part.version ?? ''), h('td', {}, part.problem ?? '', part.remedy ? h('div', { class: 'remedy' }, part.remedy) : null)))))),
        h('h3', {}, 'GPUs'), document.gpus.length === 0 ? h('p', { class: 'muted' }, 'none found') : h('ul', {}, document.gpus.map((gpu) => h('li', {}, `${gpu.product ?? gpu.processor} (${gpu.processor})${gpu.compute_units === null ? '' : `, ${gpu.compute_units} ${gpu.processor.startsWith('sm_') ? 'SMs' : 'CUs'}`}${gpu.architecture_known ? '' : ', not in the tables'}`))),
        h('p', { class: 'muted' }, [document.environment.system, document.environment.kernel].filter(Boolean).join(', ')));
    }
  },
};
