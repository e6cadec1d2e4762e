// The screenshot of the README, docs/report.png: the page of the recorded sample (decode_step_recorded) from a given place on, 1280 pixels wide, light.
// `node scripts/screenshot.mjs PAGE.html OUT.png [SECTION]`, after: rocm-perf analyze decode_step.db --counters counters/pass_*/*.db --html PAGE.html
import { chromium } from '@playwright/test';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findChromium, NO_CHROMIUM } from './chromium.mjs';

const [page, out, section = 'timeline'] = process.argv.slice(2);
if (!page || !out) {
  console.error('usage: node scripts/screenshot.mjs PAGE.html OUT.png [SECTION]');
  process.exit(2);
}
const executablePath = findChromium();
if (executablePath === null) {
  console.error(NO_CHROMIUM);
  process.exit(2);
}
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const view = await browser.newPage({ viewport: { width: 1280, height: 960 }, colorScheme: 'light' });
await view.goto(pathToFileURL(resolve(page)).href);
await view.waitForSelector('#page[data-ready]');
await view.evaluate((id) => document.getElementById(id)?.scrollIntoView(), section);
await view.waitForTimeout(300);
await view.screenshot({ path: out });
await browser.close();
