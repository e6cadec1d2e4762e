// What ctest runs as web.page: Playwright's tests. Without a browser it says so and exits with 77, which ctest takes for a skip.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findChromium, NO_CHROMIUM } from './chromium.mjs';

if (findChromium() === null) {
  console.log(NO_CHROMIUM);
  process.exit(77);
}
const web = fileURLToPath(new URL('..', import.meta.url));
const { status } = spawnSync(process.execPath, ['node_modules/@playwright/test/cli.js', 'test', ...process.argv.slice(2)], { cwd: web, stdio: 'inherit' });
process.exit(status ?? 1);
