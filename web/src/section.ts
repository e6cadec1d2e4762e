// The contract between the page and its sections. A section shows what documents say; nothing in it is computed that no
// document has, except what the reader sees being recomputed. Tooltips of charts are elements, never markup in strings.
import type { ChartOptions, ChartHandle } from './chart';
import type { Documents, Missing } from './documents';
import type * as formats from './format';
import type { Child } from './dom';

/** One part of the page. */
export interface Section {
  id: string; ///< of the element; the navigation links to it
  title: string;
  /** Whether there is anything to show. */
  applies(docs: Documents): boolean;
  /** Fills the host, once. */
  mount(host: HTMLElement, context: Context): void;
}

/** A kernel that the reader chose in one section; the others may follow. */
export interface KernelSelection {
  readonly current: string | null;
  select(kernel: string | null, from: string): void;
  /** Called on every change, with the id of the section that made it. */
  onChange(listener: (kernel: string | null, from: string) => void): void;
}

/** What the page gives a section. */
export interface Context {
  docs: Documents;
  format: typeof formats;
  /** A chart in `host`: follows the theme and the width, prints as SVG, has a text alternative. */
  chart(host: HTMLElement, options: ChartOptions): ChartHandle;
  /** A figure, or "unknown" with the reason and remedy of `missing` for that field. */
  value<T>(value: T | null | undefined, show: (value: T) => Child, missing?: readonly Missing[], field?: string): Node;
  /** A sentence in place of something that is not there. */
  note(reason: string, remedy?: string | null): HTMLElement;
  selection: KernelSelection;
}
