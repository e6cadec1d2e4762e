// Tables of rows: sorted by a click or a key on a header, filtered by text, cut to what one can read, with details that open.
import { h, uniqueId, type Child } from './dom';
import { inTerms } from './words';

export interface Column<Row> {
  title: string;
  hint?: string; ///< longer title, as a tooltip
  numeric?: boolean;
  show: (row: Row) => Child;
  /** What the column is sorted by; null and undefined come last. Without it the column cannot be sorted. */
  key?: (row: Row) => number | string | null | undefined;
  wide?: boolean; ///< takes the room that is left
}
export interface TableOptions<Row> {
  id: string;
  caption: string; ///< read out, not shown
  columns: Column<Row>[];
  rows: readonly Row[];
  sortBy?: number; ///< column sorted by at first; the rows' own order without it
  filter?: (row: Row) => string; ///< text that the filter searches
  filterLabel?: string;
  details?: (row: Row) => Child; ///< opens below the row
  detailsLabel?: (row: Row) => string;
  mark?: (row: Row) => string; ///< class of the row
  page?: number; ///< rows shown at first; 50 when not given
}
export interface TableHandle {
  element: HTMLElement;
  setFilter(text: string): void;
  /** Draws the rows anew, after what they show changed. */
  redraw(): void;
}

type Key = number | string | null | undefined;
const missing = (key: Key): boolean => key === null || key === undefined || (typeof key === 'number' && Number.isNaN(key));

/** Orders two keys; what is missing comes last whichever way. */
export function compareKeys(a: Key, b: Key, descending: boolean): number {
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return descending ? -order : order;
}

/** Rows in the order of a column; equal ones keep their place. */
export function sortRows<Row>(rows: readonly Row[], key: (row: Row) => Key, descending: boolean): Row[] {
  return rows.map((row, place) => ({ row, place, key: key(row) })).sort((a, b) => compareKeys(a.key, b.key, descending) || a.place - b.place).map(({ row }) => row);
}

/** Rows whose text holds every word of the query, whatever the case. */
export function filterRows<Row>(rows: readonly Row[], text: (row: Row) => string, query: string): Row[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const searched = text(row).toLowerCase();
    return wanted.every((word) => searched.includes(word));
  });
}

const PRINTED = 200; // rows of a table on paper, at most
/** What can have the focus, in order: a redraw gives it back to the one in the same place. */
const controlsOf = (within: HTMLElement): HTMLElement[] => [...within.querySelectorAll<HTMLElement>('button, a[href], input, select, summary, [tabindex]')];

/** A table in a box that scrolls by itself. */
export function createTable<Row>(options: TableOptions<Row>): TableHandle {
  const { page = 50 } = options;
  const columns = options.columns.map((column) => ({ ...column, title: inTerms(column.title) }));
  const first = options.sortBy === undefined ? undefined : columns[options.sortBy];
  const state = { column: options.sortBy ?? -1, descending: first?.numeric ?? false, query: '', limit: page };
  const opened = new Set<Row>();
  const body = h('tbody');
  const counter = h('span', { class: 'table-count', role: 'status' });
  const more = h('button', { type: 'button', class: 'more' });
  const cut = h('p', { class: 'print-only muted' }); // paper has no button, and says what it leaves out
  const span = columns.length + (options.details ? 1 : 0);

  const headers = columns.map((column, index) => {
    const cell = h('th', { scope: 'col', class: `${column.numeric ? 'num' : ''}${column.wide ? ' wide' : ''}`, title: column.hint });
    if (!column.key) {
      cell.append(column.title);
      return cell;
    }
    cell.append(h('button', {
      type: 'button', class: 'sort', onclick: () => {
        if (state.column === index) state.descending = !state.descending;
        else Object.assign(state, { column: index, descending: column.numeric ?? false });
        draw();
      },
    }, column.title, h('span', { class: 'arrow', 'aria-hidden': 'true' })));
    return cell;
  });

  function rowElements(row: Row): HTMLElement[] {
    const cells = columns.map((column) => h('td', { class: `${column.numeric ? 'num' : ''}${column.wide ? ' wide' : ''}` }, column.show(row)));
    const line = h('tr', { class: options.mark?.(row) ?? '' });
    if (!options.details) {
      line.append(...cells);
      return [line];
    }
    const open = opened.has(row);
    const id = uniqueId(options.id);
    const toggle = h('button', {
      type: 'button', class: 'expand', 'aria-expanded': String(open), 'aria-controls': open ? id : null, 'aria-label': `Details of ${options.detailsLabel?.(row) ?? 'this row'}`,
      onclick: () => {
        if (!opened.delete(row)) opened.add(row);
        draw();
      },
    });
    line.append(h('td', { class: 'expander' }, toggle), ...cells);
    return open ? [line, h('tr', { class: 'details', id }, h('td', { colspan: span }, h('div', { class: 'details-box' }, options.details(row))))] : [line];
  }

  function draw(): void {
    headers.forEach((cell, index) => {
      if (!columns[index]!.key) return;
      cell.setAttribute('aria-sort', index !== state.column ? 'none' : state.descending ? 'descending' : 'ascending');
    });
    let rows = options.filter && state.query ? filterRows(options.rows, options.filter, state.query) : [...options.rows];
    const key = columns[state.column]?.key;
    if (key) rows = sortRows(rows, key, state.descending);
    const focused = controlsOf(body).indexOf(document.activeElement as HTMLElement);
    const shown = rows.slice(0, state.limit);
    body.replaceChildren(...shown.flatMap(rowElements));
    if (focused >= 0) controlsOf(body)[focused]?.focus({ preventScroll: true });
    if (rows.length === 0) body.append(h('tr', {}, h('td', { colspan: span, class: 'empty' }, 'Nothing matches.')));
    counter.textContent = state.query ? `${rows.length} of ${options.rows.length}` : `${options.rows.length}`;
    const left = rows.length - state.limit;
    more.hidden = left <= 0;
    more.textContent = `Show ${Math.min(left, 500)} more of ${left}`;
    cut.textContent = `${shown.length} of ${options.rows.length} rows${state.query ? `: filtered by "${state.query}"` : ''}`;
    cut.hidden = shown.length === options.rows.length;
  }
  more.addEventListener('click', () => {
    state.limit += 500;
    draw();
  });

  let asRead = page; // rows on the screen, while paper shows more
  window.addEventListener('beforeprint', () => {
    asRead = state.limit;
    if (!element.isConnected || options.rows.length <= state.limit) return;
    state.limit = Math.max(state.limit, PRINTED);
    draw();
  });
  window.addEventListener('afterprint', () => {
    if (state.limit === asRead) return;
    state.limit = asRead;
    draw();
  });

  const input = h('input', {
    type: 'search', placeholder: options.filterLabel ?? 'Filter', 'aria-label': options.filterLabel ?? `Filter: ${options.caption}`, class: 'filter', autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
      state.query = input.value;
      draw();
    },
  });
  const element = h('div', { class: 'table', id: options.id },
    options.filter && options.rows.length > 5 ? h('div', { class: 'table-tools' }, input, counter) : null,
    h('div', { class: 'table-box', tabindex: 0, role: 'group', 'aria-label': options.caption },
      h('table', { class: 'data' }, h('caption', { class: 'hidden' }, options.caption),
        h('thead', {}, h('tr', {}, options.details ? h('th', { class: 'expander' }, h('span', { class: 'hidden' }, 'Details')) : null, headers)), body)),
    cut, more);
  draw();
  return {
    element, redraw: draw,
    setFilter(text) {
      input.value = text;
      state.query = text;
      draw();
    },
  };
}
