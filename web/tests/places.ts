// Where the tests find the program, its sample and a browser, and where pages and screenshots go.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from '../scripts/chromium.mjs';

export const web = resolve(dirname(fileURLToPath(import.meta.url)), '..');
export const root = resolve(web, '..');
const build = process.env.PERFLAB_BUILD ?? join(root, 'build/dev');

/** The program; the tests fail without it. */
export const program = resolve(process.env.ROCM_PERF ?? join(build, 'src/cli/rocm-perf'));
/** Writes PC samples. */
export const pcSamplesWriter = join(build, 'tests/support/make-pc-samples');
/** Folder of the bundled sample: decode_step.db and decode_step_counters. */
export const share = resolve(process.env.PERFLAB_SHARE ?? join(build, 'share'));
/** The page's template, as the build made it. */
export const template = resolve(process.env.PERFLAB_WEB_PAGE ?? join(build, 'web/index.html'));
/** Pages, documents and screenshots of the tests. */
export const results = resolve(process.env.PERFLAB_WEB_RESULTS ?? join(build, 'web-results'));
/** Recorded inputs that not every checkout has. */
export const shared = resolve(process.env.PERFLAB_SHARED ?? join(root, '../shared'));
/** The browser; null: the tests of the page are skipped (scripts/page.mjs). */
export const chromium = findChromium();

/** A page that setup.ts wrote: "sample", "others", "att", "hostile". */
export const pageFile = (name: string): string => join(results, `${name}.html`);
/** A document that setup.ts wrote beside the page. */
export const documentFile = (page: string, name: string): string => join(results, page, `${name}.json`);
