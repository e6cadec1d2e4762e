// The section of ranks: jobs of 8 and 1024 ranks (ranks-job.ts) that the program analysed; what stands on the page is what ranks.json says.
import { statSync } from 'node:fs';
import type { Page } from '@playwright/test';
import * as format from '../src/format';
import { expect, fitsWidth, open, openMade, screenshot, series, test, written } from './opened';
import { documentFile, pageFile } from './places';
import { RANK_JOBS } from './ranks-job';

type Range = { start: number; end: number };
const zoom = (page: Page): Promise<Range> => page.evaluate(() => {
  const { start, end } = ((window as any).__charts['ranks-timeline'].getOption().dataZoom as Range[])[0]!;
  return { start, end };
});
const rowsOf = (page: Page, chart: string): Promise<string[]> => page.evaluate((id) => ((window as any).__charts[id].getOption().yAxis as { data: string[] }[])[0]!.data, chart);
const sum = (values: number[]): number => values.reduce((all, one) => all + one, 0);

test('the answer stands first, and the figures are those of ranks.json', async ({ page }) => {
  await open(page, 'ranks8');
  const doc = written('ranks8', 'ranks');
  const section = page.locator('#ranks');
  await expect(page.locator('#summary .headlines')).toContainText(doc.stragglers.sentence);
  await expect(section.locator('.result')).toHaveText(doc.answer.who);
  for (const key of ['why', 'worth', 'collective', 'victim']) await expect(section.locator(`[data-answer=${key}]`)).toHaveText(doc.answer[key]);
  const facts = section.locator('.facts').first();
  for (const text of ['8 of 8', `${doc.job.decided} of ${doc.job.operations}`, format.duration(doc.job.kernel_time_ns), format.duration(doc.job.wait_ns), format.duration(doc.path.makespan_ns)]) await expect(facts).toContainText(text);

  // Of sends and receives nobody knows who waits: neither waiting nor moving data.
  const open_ = doc.job.kernel_time_ns - doc.job.judged_time_ns;
  expect(open_).toBeGreaterThan(0);
  await expect(facts).toContainText(`Waiting or moving: unknown${format.duration(open_)}`);
  expect(await series(page, 'ranks-times', 'transfer')).toEqual(doc.ranks.map((rank: any) => rank.judged_time_ns - rank.wait_ns));
  expect(await series(page, 'ranks-times', 'wait')).toEqual(doc.ranks.map((rank: any) => rank.wait_ns));
  expect(await series(page, 'ranks-times', 'unknown')).toEqual(doc.ranks.map((rank: any) => rank.kernel_time_ns - rank.judged_time_ns));
  expect(await series(page, 'ranks-times', 'caused')).toEqual(doc.ranks.map((rank: any) => rank.delay_caused_ns / 7));
  expect(sum(await series(page, 'ranks-times', 'unknown'))).toBe(open_);

  const { late } = RANK_JOBS.ranks8;
  expect(doc.stragglers.rank).toBe(late);
  const first = page.locator('#ranks-table tbody tr').first();
  await expect(first).toHaveClass(/straggler/);
  await expect(first).toContainText(`▶ ${late}`);
  await expect(first).toContainText(format.duration(doc.ranks[late].delay_caused_ns));
  await expect(section.locator('.ranks-causes')).toContainText(doc.stragglers.causes[0].sentence);
  await expect(section).toContainText(doc.path.sentence);
  await expect(section.locator('.ranks-gains li')).toHaveText(doc.path.what_if.map((one: any) => one.sentence));
  await screenshot(section, 'ranks8');
});

test('ranks by time, the matrix and the path draw what the document has', async ({ page }) => {
  await open(page, 'ranks8');
  const doc = written('ranks8', 'ranks');
  const stays = doc.operations.flatMap((one: any) => one.members.map((member: any) => ({ ...member, last: one.last === member.rank })));
  const known = stays.filter((stay: any) => stay.wait_ns !== null);
  expect(known.length).toBeLessThan(stays.length);
  expect(await series(page, 'ranks-timeline', 'wait')).toEqual(known.filter((stay: any) => stay.wait_ns > 0).map((stay: any) => [stay.rank, stay.entry_ns, stay.entry_ns + stay.wait_ns]));
  expect(await series(page, 'ranks-timeline', 'transfer')).toEqual(known.map((stay: any) => [stay.rank, stay.entry_ns + stay.wait_ns, stay.entry_ns + stay.duration_ns]));
  expect(await series(page, 'ranks-timeline', 'unknown')).toEqual(stays.filter((stay: any) => stay.wait_ns === null).map((stay: any) => [stay.rank, stay.entry_ns, stay.entry_ns + stay.duration_ns]));
  expect((await series(page, 'ranks-timeline', 'last')).map((one) => one[0])).toEqual(stays.filter((stay: any) => stay.last).map((stay: any) => stay.rank));
  // Times since 1970 are larger than a double keeps: those of the document count from the job's begin.
  expect(doc.job.begin_ns).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
  expect(known.every((stay: any) => stay.entry_ns >= 0 && stay.entry_ns + stay.duration_ns <= doc.path.makespan_ns)).toBe(true);

  const cells = await series(page, 'ranks-matrix', 'waits');
  expect(cells.length).toBe(doc.waits_for.length);
  for (const pair of doc.waits_for) expect(cells).toContainEqual([pair.last, pair.waits, pair.wait_ns]);

  const lanes = await rowsOf(page, 'ranks-path');
  const hops = [...(await series(page, 'ranks-path', 'work')), ...(await series(page, 'ranks-path', 'transfer'))].sort((a, b) => a[1] - b[1]);
  expect(hops.map(([lane, from, to]) => [lanes[lane], from, to])).toEqual(doc.path.hops.map((hop: any) => [`rank ${hop.rank}`, hop.from_ns, hop.to_ns]));
  expect(hops[0]![1]).toBe(0);
  expect(hops.at(-1)![2]).toBe(doc.path.makespan_ns);
});

test('the drawing by time is moved and zoomed by keys, and says what lies under the pointer', async ({ page }) => {
  await open(page, 'ranks8');
  const doc = written('ranks8', 'ranks');
  const drawing = page.locator('[data-chart=ranks-timeline]');
  await drawing.scrollIntoViewIfNeeded();
  await drawing.focus();
  await page.keyboard.press('+');
  await expect.poll(() => zoom(page)).toEqual({ start: 20, end: 80 });
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => zoom(page)).toEqual({ start: 32, end: 92 });
  await page.keyboard.press('0');
  await expect.poll(() => zoom(page)).toEqual({ start: 0, end: 100 });

  const one = doc.operations.find((operation: any) => operation.last !== null);
  const member = one.members[0];
  const [x, y] = await page.evaluate(([at, lane]) => (window as any).__charts['ranks-timeline'].convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [at!, lane!]) as number[], [member.entry_ns + member.wait_ns / 2, 0]);
  await drawing.hover({ position: { x: x!, y: y! } });
  await expect(drawing.locator('.tip')).toContainText(format.duration(member.wait_ns));
  await expect(drawing.locator('.tip')).toContainText(`waited forrank ${one.last}`);
  for (const summary of await page.locator('#ranks .chart-table > summary').all()) {
    await summary.focus();
    await page.keyboard.press('Enter');
  }
  await expect(page.locator('#ranks .chart-table table')).toHaveCount(4);
  await expect(page.locator('#ranks .chart-table table').nth(2).locator('tbody tr').first()).toContainText(`rank ${doc.waits_for[0].waits}rank ${doc.waits_for[0].last}${format.duration(doc.waits_for[0].wait_ns)}`);
});

test('1024 ranks are gathered, and can be taken apart', async ({ page }) => {
  const begin = Date.now();
  await open(page, 'ranks1024');
  console.log(`1024 ranks: the page is ready after ${Date.now() - begin} ms`);
  const doc = written('ranks1024', 'ranks');
  const { late } = RANK_JOBS.ranks1024;
  expect(doc.stragglers.rank).toBe(late);
  expect(statSync(documentFile('ranks1024', 'ranks')).size).toBeLessThan(6e6);
  expect(statSync(pageFile('ranks1024')).size).toBeLessThan(2.5e6);

  const rows = await rowsOf(page, 'ranks-times');
  expect(rows.length).toBe(32);
  expect(rows[16]).toBe('node064–067');
  const mean = (i: number, of: (rank: any) => number): number => sum(doc.ranks.slice(i * 32, i * 32 + 32).map(of)) / 32;
  expect((await series(page, 'ranks-times', 'wait'))[16]).toBeCloseTo(mean(16, (rank) => rank.wait_ns), 3);
  expect((await series(page, 'ranks-times', 'caused'))[16]).toBeCloseTo(doc.ranks[late].delay_caused_ns / 1023, 3);
  expect(await rowsOf(page, 'ranks-matrix')).toEqual(rows);
  expect(sum((await series(page, 'ranks-matrix', 'waits')).map((cell) => cell[2]))).toBe(sum(doc.waits_for.map((pair: any) => pair.wait_ns)));
  const byTime = await rowsOf(page, 'ranks-timeline');
  expect(byTime).toContain(`rank ${late}`);
  expect(byTime.length).toBeLessThanOrEqual(24);
  await screenshot(page.locator('#ranks'), 'ranks1024');

  await page.getByLabel('Show').selectOption({ label: 'node064–067' });
  await expect.poll(() => rowsOf(page, 'ranks-times')).toEqual(Array.from({ length: 32 }, (_, i) => `rank ${512 + i}`));
  expect(await rowsOf(page, 'ranks-timeline')).toContain('rank 543');
  expect((await series(page, 'ranks-matrix', 'waits')).length).toBe(doc.waits_for.filter((pair: any) => pair.waits >= 512 && pair.waits < 544).length);
  await page.getByLabel('Filter by number or host').fill(`node064`);
  await expect(page.locator('#ranks-table tbody tr')).toHaveCount(8);
});

for (const name of ['ranks8', 'ranks1024']) {
  test(`${name} can be read on a narrow screen, light and dark`, async ({ page }) => {
    await page.setViewportSize({ width: 420, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await open(page, name);
      await fitsWidth(page);
      await expect(page.locator('#ranks')).not.toContainText('could not be drawn');
      const widest = await page.locator('#ranks .chart').evaluateAll((charts) => Math.max(...charts.map((chart) => chart.getBoundingClientRect().right)));
      expect(widest).toBeLessThanOrEqual(420);
      await screenshot(page.locator('#ranks'), `${name}-420-${colorScheme}`);
    }
  });
}

test('what is not known stands with its reason', async ({ page }) => {
  const doc = written('ranks8', 'ranks');
  const missing = (field: string, reason: string): { field: string; reason: string; remedy: null } => ({ field, reason, remedy: null });
  const nothing = { ...doc, path: null, operations: [], waits_for: [], answer: { ...doc.answer, why: null, worth: null }, stragglers: { ...doc.stragglers, rank: null, causes: [] } };
  nothing.job = { ...doc.job, clocks: 2, nodes: [], size: null, missing_rank_count: 3, missing_ranks: [8, 9, 11], numbered: false, wait_ns: null, wait_error_ns: null };
  nothing.ranks = doc.ranks.map((rank: any) => ({ ...rank, host: null, last_share: null, judged_time_ns: 0, wait_ns: 0 }));
  nothing.missing = [missing('path', 'the clocks cannot be compared'), missing('answer.why', 'no rank causes much'), missing('answer.worth', 'there is no path'), missing('ranks[].host', 'no host is named'), missing('ranks[].last_share', 'no last arriver is decided'),
    missing('job.size', 'nobody says how many'), missing('job.wait_ns', 'nobody knows who waits'), missing('job.wait_error_ns', 'nobody knows who waits'), missing('collectives[].bus_gb_per_s', 'no sizes')];
  nothing.collectives = doc.collectives.map((one: any) => ({ ...one, bus_gb_per_s: null }));
  await openMade(page, 'made-ranks', [nothing]);
  const section = page.locator('#ranks');
  await expect(section).not.toContainText('could not be drawn');
  await expect(section.locator('[data-answer=why]')).toHaveText('unknown: no rank causes much');
  await expect(section.locator('[data-answer=worth]')).toHaveText('unknown: there is no path');
  await expect(section.locator('.ranks-doubts')).toContainText('3 ranks not recorded: 8, 9, 11.');
  await expect(section.locator('.ranks-doubts')).toContainText('2 sets');
  for (const reason of ['the clocks cannot be compared', 'nobody says how many', 'nobody knows who waits', 'no host is named']) await expect(section.locator(`.facts .has-reason[title="${reason}"]`)).toHaveCount(1);
  await expect(section.locator('#ranks-table tbody tr').first().locator('.has-reason[title="no last arriver is decided"]')).toHaveCount(1);
  await expect(section.locator('#ranks-table tbody tr').first().locator('.has-reason[title="nobody knows who waits"]')).toHaveCount(2);
  await expect(section.locator('#ranks-collectives tbody tr').first().locator('.has-reason[title="no sizes"]')).toHaveCount(1);
  await expect(section).toContainText('Nobody waits, or it is not decided for whom.');
  await expect(section).toContainText('unknown: the clocks cannot be compared');
  await expect(page.locator('[data-chart=ranks-path]')).toHaveCount(0);
});
