// The documents in the page: found, inflated, parsed. Their types come from ../schemas (scripts/types.mjs).
import type { DocumentTypes } from './generated';

export type { DocumentTypes };
export type DocumentName = keyof DocumentTypes;
/** What stands in a document's `missing`: the field that is null, why, and what would get it. */
export interface Missing {
  field: string;
  reason: string;
  remedy: string | null;
}
/** One document of the page; `file` is what it was written to or read from, when it was. */
export interface PageDocument<N extends string = string> {
  name: N;
  file: string | null;
  document: N extends DocumentName ? DocumentTypes[N] : Record<string, unknown>;
}

/** All documents of a page, in the page's order. */
export class Documents {
  constructor(
    readonly all: readonly PageDocument[],
    /** Version of the program that wrote the page; empty when unknown. */
    readonly program: string,
  ) {}

  /** The first document of that name. */
  first<N extends DocumentName>(name: N): DocumentTypes[N] | undefined {
    return this.every(name)[0]?.document as DocumentTypes[N] | undefined;
  }
  /** Every document of that name. */
  every<N extends DocumentName>(name: N): PageDocument<N>[] {
    return this.all.filter((entry) => entry.name === name) as unknown as PageDocument<N>[];
  }
  /** The document of that name that goes with the first analysis: of several runs in one page, what stands between it and the next
   * analysis, since the documents of a run stand together, its analysis first. */
  companion<N extends DocumentName>(name: N): DocumentTypes[N] | undefined {
    const from = this.all.findIndex((entry) => entry.name === 'analysis');
    if (from < 0 || (this.every('analysis').length === 1 && this.every(name).length < 2)) return this.first(name);
    const next = this.all.findIndex((entry, index) => index > from && entry.name === 'analysis');
    return this.all.slice(from, next < 0 ? undefined : next).find((entry) => entry.name === name)?.document as DocumentTypes[N] | undefined;
  }
  has(...names: DocumentName[]): boolean {
    return names.some((name) => this.all.some((entry) => entry.name === name));
  }
}

/** Parses the text that the page holds. Throws with a sentence for the reader. */
export function parseDocuments(text: string): Documents {
  const parsed = JSON.parse(text) as { page?: unknown; program?: unknown; documents?: unknown };
  if (parsed.page !== 1) throw new Error(`this page holds documents of page format ${String(parsed.page)}; it can show format 1`);
  if (!Array.isArray(parsed.documents)) throw new Error('this page holds no list of documents');
  return new Documents(parsed.documents as PageDocument[], typeof parsed.program === 'string' ? parsed.program : '');
}

/** The JSON text that the page holds: finds the element, undoes base64 and gzip. */
export async function pageText(): Promise<string> {
  const element = document.querySelector('script#documents'); // a section has that id too
  if (!element) throw new Error('no documents are in this page: it is the bare template. Write a report with: rocm-perf analyze FILE --html report.html');
  const packed = atob((element.textContent ?? '').trim());
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

/** The documents of this page. */
export async function loadDocuments(): Promise<Documents> {
  return parseDocuments(await pageText());
}
