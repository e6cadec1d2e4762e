// Everything that could not be computed, in every document: the field, why, and what would get it.
import { createTable } from '../table';
import { h } from '../dom';
import { count } from '../format';
import type { Documents, Missing } from '../documents';
import type { Section } from '../section';

/** Entries with the same reason and remedy, together. */
export interface MissingGroup {
  document: string;
  reason: string;
  remedy: string | null;
  fields: string[];
}

/** Every list named `missing` in a value, with the path of the object that holds it. */
export function collectMissing(value: unknown, path = ''): Missing[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => collectMissing(entry, `${path}[${index}]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, entry]) => {
    const inner = path ? `${path}.${key}` : key;
    if (key !== 'missing' || !Array.isArray(entry)) return collectMissing(entry, inner);
    return (entry as Missing[]).map((one) => ({ ...one, field: path ? `${path}.${one.field}` : one.field }));
  });
}

/** The same, grouped by document, reason and remedy: what has a remedy first, then in the order of appearance. */
export function groupMissing(docs: Documents): MissingGroup[] {
  const groups = new Map<string, MissingGroup>();
  for (const entry of docs.all)
    for (const { field, reason, remedy } of collectMissing(entry.document)) {
      const key = JSON.stringify([entry.name, reason, remedy]);
      const group = groups.get(key) ?? { document: entry.name, reason, remedy, fields: [] };
      group.fields.push(field);
      groups.set(key, group);
    }
  const all = [...groups.values()];
  return [...all.filter((group) => group.remedy !== null), ...all.filter((group) => group.remedy === null)];
}

const SHOWN = 3;
const LISTED = 500; // that one fold opens

/** The further fields of a group, folded. */
function moreFields(fields: readonly string[]): HTMLElement {
  const details = h('details', { class: 'more-fields' }, h('summary', {}, `and ${count(fields.length)} more`));
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(...fields.slice(0, LISTED).map((field) => h('code', { class: 'field' }, field)));
    if (fields.length > LISTED) details.append(h('span', { class: 'muted' }, `and ${count(fields.length - LISTED)} more: in the document`));
  });
  return details;
}

export const missing: Section = {
  id: 'missing',
  title: 'What is missing, and why',
  applies: (docs) => groupMissing(docs).length > 0,
  mount(host, { docs }) {
    const groups = groupMissing(docs);
    host.append(
      h('p', { class: 'lead' }, 'A figure that cannot be computed is null in the documents, with a reason. These are all of them; a remedy stands where there is one.'),
      createTable({
        id: 'missing-table', caption: 'Figures that are missing', rows: groups, filter: (group) => `${group.document} ${group.reason} ${group.remedy ?? ''} ${group.fields.join(' ')}`,
        filterLabel: 'Filter by field, reason or remedy', page: 30,
        columns: [
          { title: 'Document', show: (group) => group.document, key: (group) => group.document },
          {
            title: 'Fields', show: (group) => [group.fields.slice(0, SHOWN).map((field) => h('code', { class: 'field' }, field)), group.fields.length > SHOWN ? moreFields(group.fields.slice(SHOWN)) : null],
            key: (group) => group.fields.length,
          },
          { title: 'Why', show: (group) => group.reason, wide: true },
          { title: 'Remedy', show: (group) => group.remedy ?? h('span', { class: 'muted' }, 'none'), wide: true },
        ],
      }).element,
    );
  },
};
