// The page: reads the documents, then mounts every section that has something to show.
import './style.css';
import './sections/sections.css';
import { createChart } from './chart';
import { loadDocuments, type Documents, type Missing } from './documents';
import { h, type Child } from './dom';
import * as format from './format';
import type { Context, KernelSelection, Section } from './section';
import { sections } from './sections';
import { isDark, onTheme, startTheme, toggleTheme } from './theme';
import { inTerms, speakOf } from './words';

function kernelSelection(): KernelSelection {
  const listeners: ((kernel: string | null, from: string) => void)[] = [];
  let current: string | null = null;
  return {
    get current() {
      return current;
    },
    select(kernel, from) {
      if (kernel === current) return;
      current = kernel;
      for (const listener of listeners) listener(kernel, from);
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

function note(reason: string, remedy?: string | null): HTMLElement {
  return h('p', { class: 'note' }, reason, remedy ? [' ', h('span', { class: 'remedy' }, remedy)] : null);
}

function value<T>(shown: T | null | undefined, show: (value: T) => Child, missing?: readonly Missing[], field?: string): Node {
  if (shown !== null && shown !== undefined) {
    const content = show(shown);
    return content instanceof Node ? content : h('span', {}, content);
  }
  const entry = field === undefined ? undefined : missing?.find((one) => one.field === field || (one.field !== '' && field.startsWith(`${one.field}.`)));
  if (!entry) return h('span', { class: 'unknown' }, format.UNKNOWN);
  const why = inTerms(entry.reason);
  const text = entry.remedy ? `${why} — ${entry.remedy}` : why;
  return h('span', { class: 'unknown has-reason', title: text, tabindex: 0, 'aria-label': `unknown: ${text}` }, format.UNKNOWN);
}

function header(docs: Documents): HTMLElement {
  const label = (): string => (isDark() ? 'Light' : 'Dark');
  const toggle = h('button', { type: 'button', class: 'tool', id: 'theme', title: 'Light or dark', onclick: toggleTheme }, label());
  onTheme(() => (toggle.textContent = label()));
  return h('header', { class: 'top' },
    h('a', { class: 'skip', href: '#content' }, 'Skip to the content'),
    h('h1', { class: 'brand' }, 'rocm-perf'), h('span', { class: 'muted program' }, docs.program ? `report ${docs.program}` : 'report'),
    h('span', { class: 'gap' }), toggle, h('button', { type: 'button', class: 'tool', onclick: () => window.print() }, 'Print'));
}

function navigation(shown: readonly Section[]): HTMLElement {
  const links = shown.map((section) => h('a', { href: `#${section.id}` }, section.title));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) for (const link of links) link.toggleAttribute('data-here', link.hash === `#${entry.target.id}`);
  }, { rootMargin: '-15% 0px -75% 0px' });
  queueMicrotask(() => shown.forEach((section) => observer.observe(document.getElementById(section.id)!)));
  return h('nav', { class: 'side', 'aria-label': 'Sections' }, links);
}

function mount(root: HTMLElement, docs: Documents): void {
  speakOf(docs);
  const shown = sections.filter((section) => section.applies(docs));
  const context: Context = { docs, format, chart: createChart, value, note, selection: kernelSelection() };
  const content = h('main', { id: 'content', tabindex: -1 });
  root.replaceChildren(header(docs), h('div', { class: 'body' }, navigation(shown), content));
  for (const section of shown) {
    const host = h('div', { class: 'section-body' });
    content.append(h('section', { id: section.id, 'aria-labelledby': `${section.id}-title` }, h('h2', { id: `${section.id}-title` }, section.title), host));
    try {
      section.mount(host, context);
    } catch (error) {
      console.error(section.id, error);
      host.append(note(`This section could not be drawn: ${error instanceof Error ? error.message : String(error)}`));
    }
  }
  root.dataset['ready'] = 'true';
}

async function start(): Promise<void> {
  startTheme();
  const root = document.getElementById('page')!;
  try {
    mount(root, await loadDocuments());
  } catch (error) {
    root.replaceChildren(h('main', { class: 'failed' }, h('h1', {}, 'This report cannot be shown'), h('p', {}, error instanceof Error ? error.message : String(error))));
  }
}

window.addEventListener('beforeprint', () => document.querySelectorAll<HTMLDetailsElement>('details.in-print').forEach((details) => (details.open = true)));
void start();
