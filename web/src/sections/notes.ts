// Warnings of all documents, rows that were left out, and where the data came from.
import { h, type Child } from '../dom';
import { pageText, type Documents } from '../documents';
import * as format from '../format';
import { indented, memberText } from '../json-text';
import type { Section } from '../section';

function warningsOf(docs: Documents): { document: string; text: string }[] {
  const seen = new Set<string>();
  return docs.all.flatMap((entry) => {
    const found = (entry.document as Record<string, unknown>)['warnings'];
    return Array.isArray(found) ? (found as string[]).map((text) => ({ document: entry.name, text })) : [];
  }).filter(({ text }) => !seen.has(text) && seen.add(text));
}

function rowsOf(docs: Documents): { title: string; rows: { table: string; reason: string; rows: number }[] }[] {
  const analysis = docs.first('analysis');
  return [{ title: 'Rows left out', rows: analysis?.rows_dropped ?? [] }, { title: 'Rows kept, but odd', rows: analysis?.rows_odd ?? [] }].filter(({ rows }) => rows.length > 0);
}

export const warnings: Section = {
  id: 'warnings',
  title: 'Warnings',
  applies: (docs) => warningsOf(docs).length + rowsOf(docs).length > 0,
  mount(host, { docs }) {
    const found = warningsOf(docs);
    if (found.length > 0) host.append(h('ul', { class: 'headlines' }, found.map(({ document, text }) => h('li', { class: 'warn' }, h('span', { class: 'headline-name' }, document), ` ${text}`))));
    for (const { title, rows } of rowsOf(docs)) host.append(h('h3', {}, title), h('ul', {}, rows.map((row) => h('li', {}, `${format.counted(row.rows, 'row')} of ${row.table}: ${row.reason}`))));
  },
};

/** A value as a tree whose branches fill when they open. */
function tree(key: string, value: unknown): HTMLElement {
  const label = h('span', { class: 'key' }, key);
  if (value === null || typeof value !== 'object') return h('div', { class: 'leaf' }, label, ': ', value === null ? h('span', { class: 'unknown' }, 'null') : JSON.stringify(value));
  const entries: [string, unknown][] = Array.isArray(value) ? value.map((entry, index) => [String(index), entry]) : Object.entries(value);
  if (entries.length === 0) return h('div', { class: 'leaf' }, label, Array.isArray(value) ? ': []' : ': {}');
  const details = h('details', {}, h('summary', {}, label, h('span', { class: 'muted' }, Array.isArray(value) ? ` [${entries.length}]` : ` {${entries.length}}`)));
  let shown = 0;
  const grow = (): void => {
    details.append(...entries.slice(shown, shown + 200).map(([name, entry]) => tree(name, entry)));
    shown += 200;
    if (shown < entries.length) {
      const more = h('button', { type: 'button', class: 'more', onclick: () => { more.remove(); grow(); } }, `Show more of ${entries.length}`);
      details.append(more);
    }
  };
  details.addEventListener('toggle', () => { if (details.open && shown === 0) grow(); });
  return details;
}

/** Saves a document of the page by its place, number for number as the program wrote it. */
async function save(name: string, place: number): Promise<void> {
  const documents = memberText(await pageText(), 'documents');
  const text = documents === null ? null : memberText(documents, place);
  const document = text === null ? null : memberText(text, 'document');
  if (document === null) return;
  const link = h('a', { href: URL.createObjectURL(new Blob([indented(document)], { type: 'application/json' })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function environment(value: unknown): Child {
  if (value === null || typeof value !== 'object') return null;
  const entries = Object.entries(value).filter(([, entry]) => entry !== null && !(Array.isArray(entry) && entry.length === 0));
  return h('dl', { class: 'environment' }, entries.flatMap(([key, entry]) => [h('dt', {}, format.words(key)), h('dd', { class: 'mono' }, typeof entry === 'object' ? shortText(entry) : String(entry))]));
}

function shortText(value: unknown): string {
  if (Array.isArray(value)) return value.length > 12 ? `${value.slice(0, 12).map(shortText).join('\n')}\nand ${value.length - 12} more` : value.map(shortText).join('\n');
  if (value !== null && typeof value === 'object') return Object.values(value).map(shortText).filter(Boolean).join('  ');
  return value === null ? '' : String(value);
}

export const documents: Section = {
  id: 'documents',
  title: 'Documents and environment',
  applies: (docs) => docs.all.length > 0,
  mount(host, { docs }) {
    host.append(h('p', { class: 'lead' }, 'Everything above is from these documents, which this page carries in full. rocm-perf schema NAME prints what each field means.'));
    docs.all.forEach((entry, place) => {
      const document = entry.document as Record<string, unknown>;
      host.append(h('div', { class: 'document' },
        h('div', { class: 'document-head' }, h('strong', {}, entry.name), h('span', { class: 'muted' }, `${entry.file ?? ''} schema ${String(document['schema_version'] ?? '')}`), h('span', { class: 'gap' }), h('button', { type: 'button', class: 'tool', onclick: () => void save(entry.file ?? `${entry.name}.json`, place) }, 'Save as JSON')),
        environment(document['environment']), h('div', { class: 'tree' }, tree(entry.name, document))));
    });
  },
};
