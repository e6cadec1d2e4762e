// The browser of the tests and of the screenshot: CHROMIUM, else what scripts/bootstrap takes for one, a program in PATH.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @param {string | undefined} path */
function runs(path) {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** @returns {string | null} its path; null: there is none, and the tests of the page are skipped */
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const found = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env.CHROMIUM, ...found].find(runs) ?? null;
}

export const NO_CHROMIUM = 'no Chromium is in PATH and none is named by CHROMIUM: the tests of the page are skipped (Debian: scripts/bootstrap test; else any Chromium or Chrome)';
