// Opening a page of setup.ts: waits until it is drawn, and fails at every error in the console and at every request.
import { expect, test as base, type Locator, type Page } from '@playwright/test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packed } from '../scripts/pack.mjs';
import { documentFile, pageFile, results, template } from './places';

export { expect };
export const test = base.extend<{ problems: string[] }>({
  problems: [
    async ({ page }, use) => {
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') problems.push(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
      page.on('request', (request) => {
        if (!/^(file|data|blob):/.test(request.url())) problems.push(`request: ${request.url()}`);
      });
      await use(problems);
      expect(problems).toEqual([]);
    },
    { auto: true },
  ],
});

/** Opens one of setup.ts's pages; skips the test where that page could not be made. */
export async function open(page: Page, name: string): Promise<void> {
  test.skip(!existsSync(pageFile(name)), `no page "${name}": its input is not on this machine`);
  await page.goto(pathToFileURL(pageFile(name)).href);
  await page.waitForSelector('#page[data-ready]');
}

/** Opens a page of these documents, written as `name`.html beside those of setup.ts. */
export async function openMade(page: Page, name: string, documents: readonly { document: string }[]): Promise<void> {
  const file = pageFile(name);
  writeFileSync(file, readFileSync(template, 'utf8').replace('<!--' + 'DOCUMENTS-->', () => packed(documents.map((document) => ({ name: document.document, file: `${document.document}.json`, document })))));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('#page[data-ready]');
}

/** A document of that page, as the program wrote it. */
export function written<T = any>(page: string, name: string): T {
  return JSON.parse(readFileSync(documentFile(page, name), 'utf8')) as T;
}

/** The data of a series of a chart in the page, as plain values. */
export async function series(page: Page, chart: string, id: string): Promise<any[]> {
  return page.evaluate(([chartId, seriesId]) => {
    const found = (window as any).__charts?.[chartId!];
    if (!found) throw new Error(`no chart ${chartId}`);
    const list = found.getOption().series as { id: string; data: unknown[] }[];
    const one = list.find((entry) => entry.id === seriesId);
    if (!one) throw new Error(`no series ${seriesId} among ${list.map((entry) => entry.id).join(', ')}`);
    return JSON.parse(JSON.stringify(one.data.map((entry: any) => (entry !== null && typeof entry === 'object' && 'value' in entry ? entry.value : entry)))) as any[];
  }, [chart, id]);
}

/** The page has no scroll bar of its own to the right. */
export async function fitsWidth(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(content).toBeLessThanOrEqual(window!);
}

/**
 * Saves a screenshot beside the pages, for people to look at: PERFLAB_SCREENSHOTS=1 asks for them. On a busy machine one can take
 * minutes, and no test looks at it.
 */
export async function screenshot(shown: Page | Locator, name: string, fullPage = true): Promise<void> {
  if (process.env.PERFLAB_SCREENSHOTS === undefined) return;
  const path = join(results, `${name}.png`);
  await ('goto' in shown ? shown.screenshot({ path, fullPage }) : shown.screenshot({ path }));
}
