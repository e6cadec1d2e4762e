// Tests of the page in Chromium, on pages that the real program writes. ctest sets the environment (tests/web/CMakeLists.txt); by hand:
//   ROCM_PERF=../build/dev/src/cli/rocm-perf PERFLAB_SHARE=../build/dev/share npm run page
import { defineConfig } from '@playwright/test';
import { NO_CHROMIUM } from './scripts/chromium.mjs';
import { chromium, results } from './tests/places';

if (chromium === null) console.error(NO_CHROMIUM);

export default defineConfig({
  testDir: 'tests',
  ...(chromium === null ? { testIgnore: '**' } : {}),
  globalSetup: './tests/setup.ts',
  outputDir: `${results}/failures`,
  workers: 2,
  fullyParallel: true,
  timeout: 120_000, // a loaded machine is no failure
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 900 },
    launchOptions: {
      ...(chromium === null ? {} : { executablePath: chromium }),
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
});
