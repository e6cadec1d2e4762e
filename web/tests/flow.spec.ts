// The sections of time: critical path, what-if, timeline, steps, thread trace. Pages are those of the real program (setup.ts);
// what they show is compared with the documents beside them and with the program's own answers.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { packed } from '../scripts/pack.mjs';
import type { DocumentTypes } from '../src/documents';
import { expect, fitsWidth, open, screenshot, test, written as document } from './opened';
import { program, results, share, template } from './places';

const sample = join(share, 'decode_step.db');
const ask = (...args: string[]): any => JSON.parse(execFileSync(program, ['critical-path', sample, '--json', ...args], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));

/** Moves a slider to a place. */
const slide = (slider: Locator, place: number): Promise<void> => slider.fill(String(place));

/** What the what-if section says the run takes, once it is `expected`. */
const takes = (page: Page, expected: number): Promise<void> => expect(page.locator('.what-if-outcome')).toHaveAttribute('data-makespan', String(expected));

test('the critical path has the figures of dag.json', async ({ page }) => {
  await open(page, 'sample');
  const dag = document('sample', 'dag');
  const { kernel, copy, launch_latency, host, idle } = dag.attribution;
  const parts = { kernel, copy, launch_latency, host_call: host.calls, sync_return: host.sync_return, host_code: host.code, idle };
  let sum = 0;
  for (const [key, part] of Object.entries(parts)) {
    const shown = Number(await page.locator(`#critical-path tr[data-spent="${key}"]`).getAttribute('data-ns'));
    expect(shown).toBe((part as { time_ns: number }).time_ns);
    sum += shown;
  }
  expect(sum).toBe(dag.critical_path_ns);
  const first = page.locator('#path-kernels tbody tr').first();
  await expect(first).toContainText(dag.kernels[0].name.slice(-12));
  expect(await first.locator('[data-ns]').evaluateAll((cells) => cells.map((cell) => Number((cell as HTMLElement).dataset['ns'])))).toEqual(dag.kernels[0].gains.map((gain: { gain_ns: number }) => gain.gain_ns));
  const longest = [...dag.bubbles.longest].sort((a, b) => b.to_ns - b.from_ns - (a.to_ns - a.from_ns))[0];
  await expect(page.locator('#bubbles tbody tr').first().locator('[data-ns]')).toHaveAttribute('data-ns', String(longest.to_ns - longest.from_ns));
  const bins = await page.evaluate(() => (window.__charts!['parallelism']!.getOption() as { series: { data: number[] }[] }).series.map((one) => one.data));
  expect(bins[0]).toEqual(dag.parallelism.bins.map((bin: { dispatches: number }) => bin.dispatches));
  expect(bins[1]).toEqual(dag.parallelism.bins.map((bin: { copies: number }) => bin.copies));
  await screenshot(page.locator('#critical-path'), 'critical-path');
});

test('the sliders give what the program gives, to the nanosecond', async ({ page }) => {
  test.slow(); // runs the program
  await open(page, 'sample');
  const dag = document('sample', 'dag');
  const sliders = page.locator('#what-if input[type=range]');
  await takes(page, dag.critical_path_ns);
  await sliders.nth(0).focus();
  for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowRight'); // 2x
  await takes(page, dag.kernels[0].gains[1].makespan_ns);
  await expect(sliders.nth(0)).toHaveAttribute('aria-valuetext', '2x as fast');
  await slide(sliders.nth(1), 17); // infinitely fast
  await slide(page.locator('#what-if input[data-what=launch]'), 17);
  await slide(page.locator('#what-if input[data-what=copy]'), 3);
  await expect(page.locator('.what-if-command')).toContainText('copy='); // the page follows once a frame
  // The command that the page shows is run as it stands.
  const command = await page.locator('.what-if-command').textContent();
  const shown = execFileSync('sh', ['-c', `${command!.replace('rocm-perf', '"$0"').replace(/\S*decode_step\.db/, '"$1"')} --json`, program, sample], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
  const answer = JSON.parse(shown).what_if;
  expect(answer.changes).toHaveLength(4);
  await takes(page, answer.makespan_ns);
  await expect(page.locator('.what-if-outcome')).toContainText('it gains');
  await screenshot(page.locator('#what-if'), 'what-if');
  await page.getByLabel('the host never waits').check();
  await expect(page.locator('.what-if-outcome')).toContainText('No program can do better');
  await page.getByRole('button', { name: 'As recorded' }).click();
  await takes(page, dag.critical_path_ns);
});

test('without the graph the sliders give bounds that hold, and say so', async ({ page }) => {
  test.slow(); // runs the program
  const dag = ask();
  expect(dag.nodes).toBeNull();
  const file = join(results, 'bound.html');
  writeFileSync(file, readFileSync(template, 'utf8').replace('<!--' + 'DOCUMENTS-->', () => packed([{ name: 'dag', file: null, document: dag }])));
  await page.goto(`file://${file}`);
  await page.waitForSelector('#page[data-ready]');
  await expect(page.locator('#what-if .note')).toContainText('lower bounds');
  const outcome = page.locator('.what-if-outcome');
  await slide(page.locator('#what-if input[type=range]').nth(0), 5);
  await takes(page, dag.kernels[0].gains[1].makespan_ns);
  await expect(outcome).toHaveAttribute('data-exact', 'true');
  await slide(page.locator('#what-if input[type=range]').nth(0), 7); // 3x: between exact points
  await expect(outcome).toHaveAttribute('data-exact', 'false');
  await expect(outcome).toContainText('at least');
  const exact = ask('--what-if', `kernel:^${dag.kernels[0].name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$=3x`).what_if.makespan_ns;
  expect(Number(await outcome.getAttribute('data-makespan')) + dag.kernels[0].dispatches).toBeGreaterThanOrEqual(exact);
  await slide(page.locator('#what-if input[type=range]').nth(1), 5); // one kernel at a time
  await expect(page.locator('#what-if input[type=range]').nth(0)).toHaveValue('0');
  await takes(page, dag.kernels[1].gains[1].makespan_ns);
});

test('the timeline shows what lies under the pointer, and moves by key, wheel and drag', async ({ page }) => {
  await open(page, 'sample');
  const timeline = document('sample', 'timeline');
  const view = page.locator('.timeline'), box = page.locator('.timeline-box'), body = box.locator('canvas').nth(1);
  const range = async (): Promise<number[]> => [Number(await view.getAttribute('data-from')), Number(await view.getAttribute('data-to'))];
  await box.scrollIntoViewIfNeeded();
  await box.focus();
  await page.keyboard.press('+');
  await expect(view).toHaveAttribute('data-from', /.+/);
  const [from, to] = await range();
  expect(to! - from!).toBeCloseTo(timeline.span_ns * 0.6, 3);
  await page.keyboard.press('0');
  await expect.poll(range).toEqual([0, timeline.span_ns]);

  // The longest slice of the first lane lies where its times say: 148 pixels of labels, then time to scale.
  const slices: number[][] = timeline.lanes[0].slices;
  const longest = slices.reduce((a, b) => (b[1]! > a[1]! ? b : a));
  const place = (await body.boundingBox())!;
  const x = place.x + 148 + ((longest[0]! + longest[1]! / 2) / timeline.span_ns) * (place.width - 150);
  await page.mouse.move(x, place.y + 12);
  const tip = page.locator('.timeline-box .timeline-tip');
  await expect(tip).toContainText(timeline.names[longest[2]!]);
  await expect(tip).toContainText(`${longest[1]!.toLocaleString('en-US')} ns`);

  await page.mouse.wheel(0, -400); // it has the focus
  await expect.poll(async () => (await range())[1]! - (await range())[0]!).toBeLessThan(timeline.span_ns * 0.6);
  const before = await range();
  await page.mouse.down();
  await page.mouse.move(x - 120, place.y + 12, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await range())[0]).toBeGreaterThan(before[0]!);

  await page.getByRole('button', { name: 'Show all' }).click();
  await box.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('n');
  await expect(page.locator('.timeline-chosen')).toContainText(timeline.names[slices[0]![2]!]);
  await screenshot(page.locator('#timeline'), 'timeline');
});

test('a search in the timeline counts what it finds, and a chosen kernel is chosen everywhere', async ({ page }) => {
  await open(page, 'sample');
  const timeline = document('sample', 'timeline');
  const name: string = document('sample', 'dag').kernels[1].name;
  const index = timeline.names.indexOf(name);
  const found = timeline.lanes.flatMap((lane: { slices: number[][] }) => lane.slices.filter((slice) => slice[2] === index));
  const operations = found.reduce((sum: number, slice: number[]) => sum + slice[3]!, 0);
  const search = page.getByLabel('Find in the timeline');
  await search.fill(name);
  await expect(page.locator('.timeline-tools .table-count')).toContainText(`${operations.toLocaleString('en-US')} operation`);
  await search.fill('');
  await page.locator('#path-kernels button.pick', { hasText: name.slice(0, 20) }).first().click();
  await expect(search).toHaveValue(name);
});

test('steps of the run are those of dag.json', async ({ page }) => {
  await open(page, 'sample');
  const { segments } = document('sample', 'dag');
  const lengths = await page.evaluate(() => (window.__charts!['segments']!.getOption() as { series: { data: { value: number }[] }[] }).series[0]!.data.map((one) => one.value));
  expect(lengths).toEqual(segments.list.map((one: { start_ns: number; end_ns: number }) => one.end_ns - one.start_ns));
  await expect(page.locator('#segments')).toContainText(`The slowest: segment ${segments.slowest.segment}`);
});

test('the thread trace lists instructions with their cycles and what they waited for', async ({ page }) => {
  await open(page, 'att');
  const { kernels } = document('att', 'thread_trace');
  const { thread_traces } = document('att', 'analysis');
  const rows = kernels[0].rows;
  await expect(page.locator('[data-part=wait]')).toHaveText(`${(100 * thread_traces.kernels[0].time.wait.share).toFixed(1)} %`);
  await page.getByRole('button', { name: 'Next hot instruction' }).click();
  const hot = thread_traces.kernels[0].hot[0];
  const chosen = page.locator('.vline[aria-selected=true]');
  await expect(chosen).toContainText(hot.text);
  await expect(page.locator('.trace-detail')).toContainText(`cost ${hot.cost.toLocaleString('en-US')}`);
  const pair = kernels[0].waits.pairs.find((one: number[]) => one[0] === hot.row);
  if (pair) {
    const cause = rows.text[rows.row.indexOf(pair[1])];
    await page.locator('.trace-detail button.jump', { hasText: cause }).first().click();
    await expect(chosen).toContainText(cause);
  }
  // Of thousands of rows only those in view are in the page.
  expect(await page.locator('.vline').count()).toBeLessThan(Math.min(rows.row.length, 120));
  await page.locator('.vlist').first().press('End');
  await expect(chosen).toContainText(rows.text.at(-1));
  const states = kernels[0].states[0];
  const drawn = await page.evaluate(() => (window.__charts!['wave-states']!.getOption() as { series: { name: string; data: number[] }[] }).series);
  expect(drawn.find((one) => one.name === 'executing')!.data).toEqual(states.exec.map((cycles: number) => cycles / states.bin_cycles));
  await screenshot(page.locator('#thread-trace'), 'thread-trace');
});

/** A thread trace with source text, which no recorded sample has. */
const traced: DocumentTypes['thread_trace'] = {
  schema_version: '1.0.0', document: 'thread_trace', generator: { name: 'rocm-perf', version: '0' }, traces: ['ui_output_agent_1_dispatch_2'],
  kernels: [{
    trace: 0, name: 'softmax(float*)', mangled_name: '_Z7softmaxPf', kernel: null, dispatch_id: 2, gfxip: 9, form: 'ui_output', confidence: 'low', confidence_reasons: ['only 1 wave was traced'],
    cycles: { hits: 5, latency: 120, stall: 94, idle: 6, cost: 126 },
    rows: {
      row: [1, 2, 4, 5], text: ['s_load_dwordx2 s[0:1], s[4:5], 0x0', 's_waitcnt lgkmcnt(0)', 'v_exp_f32_e32 v1, v0', 's_endpgm'], class: ['smem', 'waitcnt', 'valu', 'other'],
      code_object: [1, 1, 1, 1], vaddr: [4096, 4104, 4108, 4112], chain: [0, 1, 1, null], hits: [2, 2, 1, 0], latency: [10, 90, 20, 0], stall: [0, 90, 4, 0], idle: [0, 0, 6, 0], cost: [10, 90, 26, 0], wait_caused: [90, 0, 0, 0],
    },
    rows_left_out: { rows: 3, cycles: { hits: 0, latency: 0, stall: 0, idle: 0, cost: 0 }, wait_caused: 0 },
    labels: [{ row: 0, name: 'softmax(float*)' }], chains: [[0], [1, 0]], lines: [[0, 12], [1, 3]],
    sources: [{ path: '/src/softmax.hip', line_count: 40, parts: [{ first_line: 11, text: ['__global__ void softmax(float* x) {', '  float v = fast_exp(x[threadIdx.x]);'] }] }, { path: '/src/fast.h', line_count: 3, parts: [{ first_line: 1, text: ['#pragma once', '', '__device__ float fast_exp(float v) { return __expf(v); }'] }] }],
    waits: { links: 'trace', pairs: [[2, 1, 90, 2]], left_out: { pairs: 0, cycles: 0 } },
    states: null, waves: null, waves_left_out: 0, occupancy: null, missing: [{ field: 'states', reason: 'the waves have no timelines', remedy: null }],
  }],
};

test('instructions and source lead to each other, side by side and as tabs', async ({ page }) => {
  const file = join(results, 'traced.html');
  writeFileSync(file, readFileSync(template, 'utf8').replace('<!--' + 'DOCUMENTS-->', () => packed([{ name: 'thread_trace', file: null, document: traced }])));
  await page.goto(`file://${file}`);
  await page.waitForSelector('#page[data-ready]');
  const [code, source] = [page.locator('.vlist').nth(0), page.locator('.vlist').nth(1)];
  await expect(page.locator('#thread-trace')).toContainText('only 1 wave was traced');
  await expect(page.locator('#thread-trace')).toContainText('3 instructions with 0 cycles are left out');
  await expect(page.locator('#thread-trace')).toContainText('the waves have no timelines');
  await expect(source).toContainText('return __expf(v)'); // the file with the most cycles first
  await expect(code.locator('.vline', { hasText: 's_waitcnt' })).toContainText('71.4 %');

  await code.locator('.vline', { hasText: 's_load_dwordx2' }).click(); // of the other file
  await expect(source.locator('[data-marked]')).toContainText('fast_exp(x[threadIdx.x])');
  await expect(page.locator('.trace-detail')).toContainText('Waited for by s_waitcnt lgkmcnt(0) 90 cycles');
  await page.getByRole('button', { name: 's_waitcnt lgkmcnt(0)' }).click();
  await expect(source.locator('[data-marked]')).toContainText('return __expf(v)');
  await expect(page.locator('.trace-detail')).toContainText('fast.h:3 inlined at softmax.hip:12');

  await source.locator('.vline', { hasText: '__expf' }).click();
  await expect(code.locator('[data-marked]')).toHaveCount(2);
  await expect(page.locator('.trace-detail')).toContainText('2 instructions: 116 cycles (92.1 %), 94 of them stalled');
  await code.focus();
  await page.keyboard.press('Home');
  await expect(code.locator('[aria-selected=true]')).toContainText('s_load_dwordx2');

  await page.setViewportSize({ width: 390, height: 844 });
  await fitsWidth(page);
  await expect(source).toBeHidden();
  await page.getByRole('tab', { name: 'Source' }).click();
  await expect(source).toBeVisible();
  await expect(code).toBeHidden();
  await page.keyboard.press('ArrowLeft');
  await expect(code).toBeVisible();
  await screenshot(page.locator('#thread-trace'), 'thread-trace-390');
});

test('prints the whole timeline, light, whatever was in view', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, 'sample');
  const { span_ns } = document('sample', 'timeline');
  await page.locator('.timeline-box').focus();
  await page.keyboard.press('+');
  await page.evaluate((span) => window.addEventListener('beforeprint', () => {
    const { from, to } = window.document.querySelector<HTMLElement>('.timeline')!.dataset;
    window.document.body.dataset['printed'] = String(Number(from) === 0 && Number(to) === span);
  }), span_ns);
  const pdf = await page.pdf({ format: 'A4' });
  writeFileSync(join(results, 'sample.pdf'), pdf);
  expect(await page.evaluate(() => window.document.body.dataset['printed'])).toBe('true');
  await expect(page.locator('.timeline')).not.toHaveAttribute('data-from', '0'); // back to what was in view
});

for (const theme of ['light', 'dark'] as const)
  test(`fits 390 pixels, ${theme}`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: theme });
    await open(page, 'sample');
    await fitsWidth(page);
    for (const section of ['timeline', 'what-if', 'critical-path', 'segments']) await screenshot(page.locator(`#${section}`), `${section}-390-${theme}`);
  });
