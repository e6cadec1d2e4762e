// What the sections of dag.json and timeline.json have in common: names and colours of what time is spent on, stacked bars,
// places in words.
import type { DocumentName, DocumentTypes, PageDocument } from '../documents';
import { axisStyle } from '../chart';
import { h, type Child } from '../dom';
import * as format from '../format';
import type { Context } from '../section';
import type { Theme } from '../theme';

export type Dag = DocumentTypes['dag'];

/** What a stretch of the critical path can be spent on: key as in `spent` without _ns, words, meaning, colour variable. */
export const SPENT_KINDS = [
  { key: 'kernel', title: 'kernels', meaning: 'inside dispatches', colour: 'series-1' },
  { key: 'copy', title: 'copies', meaning: 'inside copies', colour: 'series-6' },
  { key: 'launch_latency', title: 'launch latency', meaning: 'from the return of the launching call to the begin of the work', colour: 'series-2' },
  { key: 'host_call', title: 'host calls', meaning: 'inside API calls', colour: 'series-5' },
  { key: 'sync_return', title: 'return from waiting', meaning: 'from the end of the awaited work to the return of the waiting call', colour: 'series-7' },
  { key: 'host_code', title: 'host code', meaning: 'between calls of a thread', colour: 'series-3' },
  { key: 'idle', title: 'idle', meaning: 'nothing that was recorded', colour: 'series-8' },
] as const;
export type SpentKey = (typeof SPENT_KINDS)[number]['key'];

export const spentKind = (key: string): (typeof SPENT_KINDS)[number] => SPENT_KINDS.find((kind) => kind.key === key) ?? SPENT_KINDS[6];

/** One part of a stacked bar. */
export interface BarPart {
  title: string;
  value: number;
  colour: string;
}

/** A stacked bar of the parts, as long as the largest `whole` that it is compared with. */
export function stackedBar(parts: readonly BarPart[], whole: number, label: string, text: (value: number) => string = format.duration): HTMLElement {
  const bar = h('div', { class: 'stack', role: 'img', 'aria-label': label });
  for (const part of parts)
    if (part.value > 0)
      bar.append(h('span', { style: `flex:0 0 ${(100 * part.value) / Math.max(whole, 1)}%;background:var(--${part.colour})`, title: `${part.title}: ${text(part.value)}` }));
  return bar;
}

/** The square in front of a legend's entry. */
export const swatch = (colour: string): HTMLElement => h('span', { class: 'swatch', style: `background:var(--${colour})`, 'aria-hidden': 'true' });

/** A kernel's name that selects the kernel in all sections. */
export function kernelName(context: Context, name: string, from: string): HTMLElement {
  const button = h('button', { type: 'button', class: 'name pick', title: name, onclick: () => context.selection.select(context.selection.current === name ? null : name, from) });
  for (const part of name.split(/(?<=[,<>:_(])/)) button.append(part, document.createElement('wbr'));
  const mark = (): void => button.setAttribute('aria-pressed', String(context.selection.current === name));
  context.selection.onChange(mark);
  mark();
  return button;
}

/** "stream 3", "thread 4242", "queue 1" of a process that environment names. */
export function placeText(dag: Dag, place: string, process: number | null, id: number | null): string {
  const threads = dag.environment.threads;
  const of = process !== null && dag.processes > 1 ? ` of process ${dag.environment.processes[process]?.pid ?? process}` : '';
  if (place === 'host_thread') return `host thread ${id === null ? '' : (threads[id]?.tid ?? id)}${of}`;
  if (place === 'several') return 'several places';
  if (place === 'nowhere') return 'nowhere recorded';
  return `${place} ${id ?? '?'}${of}`;
}

/** Mounts each document of that name, with its file as a heading where there are several. `suffix` makes ids of its elements
 * distinct. */
export function eachDocument<N extends DocumentName>(host: HTMLElement, context: Context, name: N, mountOne: (host: HTMLElement, document: DocumentTypes[N], suffix: string) => void): void {
  const entries: PageDocument<N>[] = context.docs.every(name);
  entries.forEach((entry, index) => {
    const part = h('div');
    if (entries.length > 1) part.append(h('h3', {}, entry.file ?? `${name} ${index + 1}`));
    host.append(part);
    mountOne(part, entry.document as DocumentTypes[N], index === 0 ? '' : `-${index + 1}`);
  });
}

/** What keeps the figures from being a plain recording's: made up, or of one segment. */
export function scopeNotes(context: Context, document: { synthetic: string | null; segment: number | null }): Child[] {
  return [
    document.synthetic === null ? null : context.note(document.synthetic),
    document.segment === null ? null : context.note(`This is segment ${document.segment} of the run alone; times count from its begin.`),
  ];
}

/** A share of the run, or a dash for a run of no length, of which there are none. */
export const shareText = (share: number | null): string => (share === null ? 'does not apply' : format.percent(share));

/** An axis with its name above it, beginning at the left. */
export function namedAxis(name: string, colours: Theme): Record<string, unknown> {
  const style = axisStyle(colours);
  return { ...style, name, nameTextStyle: { ...(style['nameTextStyle'] as object), align: 'left' } };
}
