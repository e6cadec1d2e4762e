// Elements. Text goes in as text, never as markup: names of kernels come from whoever compiled them.
import { inTerms } from './words';

export type Child = Node | string | number | null | undefined | false | readonly Child[];
type Listener = (event: never) => void;
/** Attributes; `on...` are listeners, `class` and `style` are strings; false, null and undefined are left out. */
export type Attributes = Record<string, string | number | boolean | null | undefined | Listener>;

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as unknown as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(parent: Element | DocumentFragment, child: Child): void {
  if (Array.isArray(child)) for (const one of child as readonly Child[]) append(parent, one);
  else if (child instanceof Node) parent.append(child);
  else if (child !== null && child !== undefined && child !== false) parent.append(String(child));
}

/** Elements whose text is the page's own: titles, labels, sentences. It has the words of the platform. */
const OWN_WORDS: ReadonlySet<string> = new Set(['h3', 'h4', 'th', 'dt', 'summary', 'p', 'caption', 'option']);
const spoken = (child: Child): Child => (Array.isArray(child) ? (child as readonly Child[]).map(spoken) : typeof child === 'string' ? inTerms(child) : child);

/** An HTML element with attributes and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const own = OWN_WORDS.has(tag);
  set(element, own && typeof attributes['title'] === 'string' ? { ...attributes, title: inTerms(attributes['title']) } : attributes);
  append(element, own ? spoken(children) : children);
  return element;
}

/** An SVG element with attributes and children. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, attributes);
  append(element, children);
  return element;
}

let last = 0;
/** An id no other element of the page has. */
export const uniqueId = (prefix: string): string => `${prefix}-${++last}`;

/** A long name with places where it may break; the whole name as its tooltip. */
export function longName(name: string): HTMLElement {
  const element = h('span', { class: 'name', title: name });
  for (const part of name.split(/(?<=[,<>:_(])/)) element.append(part, document.createElement('wbr'));
  return element;
}
