// The element that holds a page's documents, as the program writes it (src/report/page): for `vite dev` and for tests.
// `node scripts/pack.mjs TEMPLATE OUT FILE|FOLDER...` writes a page without the program.
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const PLACE = '<!--' + 'DOCUMENTS-->';

/** @param {string[]} paths files, or folders whose .json files are taken, without the answer made of them (summary.json) */
export function readDocuments(paths) {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? readdirSync(path).filter((f) => f.endsWith('.json') && f !== 'summary.json').sort().map((f) => join(path, f)) : [path]));
  return files.map((file) => ({ file: basename(file), document: JSON.parse(readFileSync(file, 'utf8')) }))
    .filter(({ document }) => typeof document?.document === 'string')
    .map(({ file, document }) => ({ name: document.document, file, document }));
}

/** @param {{name: string, file: string | null, document: unknown}[]} documents */
export function packed(documents) {
  const text = JSON.stringify({ page: 1, program: '', documents });
  return `<script type="application/gzip+base64" id="documents">${gzipSync(text, { level: 9 }).toString('base64')}</script>`;
}

/** @param {string[]} paths */
export function documentsElement(paths) {
  return packed(readDocuments(paths));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [template, out, ...paths] = process.argv.slice(2);
  if (!template || !out) {
    console.error('usage: node scripts/pack.mjs TEMPLATE OUT FILE|FOLDER...');
    process.exit(2);
  }
  writeFileSync(out, readFileSync(template, 'utf8').replace(PLACE, () => documentsElement(paths)));
}
