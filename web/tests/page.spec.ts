// The page as a reader meets it: it opens without errors, its tables and charts hold the documents' figures, it sorts, filters, changes
// its theme, fits a phone, prints, works by keyboard, and takes no name for markup.
import { readFileSync, statSync } from 'node:fs';
import { expect, fitsWidth, open, openMade, screenshot, series, test, written } from './opened';
import { pageFile, template } from './places';
import { HOSTILE } from './setup';

/** A column of a table, as text. */
const column = (page: import('@playwright/test').Page, table: string, index: number): Promise<string[]> => page.locator(`#${table} tbody tr:not(.details) > td:nth-child(${index})`).allInnerTexts();

test('the template has one place for documents, loads nothing and is small', () => {
  const text = readFileSync(template, 'utf8');
  expect(text.split('<!--DOCUMENTS-->').length).toBe(2);
  expect(text).not.toMatch(/<(script|link|img|iframe)[^>]+(src|href)=["']?(https?:)?\/\//);
  expect(statSync(template).size).toBeLessThan(1.2e6);
});

test('the summary says what the run was', async ({ page }) => {
  await open(page, 'sample');
  const analysis = written('sample', 'analysis');
  await expect(page.locator('.banner')).toContainText(analysis.synthetic);
  const tiles = page.locator('.tiles');
  await expect(tiles).toContainText('28.11 ms'); // totals.span_ns of the sample
  await expect(tiles).toContainText(analysis.totals.dispatches.toLocaleString('en-US'));
  await expect(page.locator('.selected')).toContainText(analysis.selected_kernel.name);
  for (const kernel of analysis.bottlenecks.kernels.slice(0, 5)) await expect(page.locator('.verdict-list')).toContainText(kernel.summary.replace(`${kernel.label}: `, ''));
  await screenshot(page, 'sample-1280-light');
});

test('every section of the sample is there, and the navigation leads to it', async ({ page }) => {
  await open(page, 'sample');
  const ids = await page.locator('main > section').evaluateAll((sections) => sections.map((section) => section.id));
  for (const id of ['summary', 'verdicts', 'kernels', 'roofline', 'occupancy', 'activity', 'counters', 'missing', 'documents']) expect(ids).toContain(id);
  expect(await page.locator('nav.side a').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).hash.slice(1)))).toEqual(ids);
  await page.locator('nav.side a[href="#roofline"]').click();
  await expect(page.locator('#roofline-title')).toBeInViewport();
});

test('a verdict shows its evidence, thresholds and advice', async ({ page }) => {
  await open(page, 'sample');
  const analysis = written('sample', 'analysis');
  const cards = page.locator('#verdicts details.card');
  await expect(cards).toHaveCount(analysis.bottlenecks.kernels.length);
  const index = analysis.bottlenecks.kernels.findIndex((kernel: any) => kernel.against.length > 0 && kernel.next !== null);
  const kernel = analysis.bottlenecks.kernels[index];
  await cards.nth(index).locator('summary').first().click();
  const card = cards.nth(index);
  for (const evidence of [...kernel.evidence, ...kernel.against]) await expect(card).toContainText(evidence.why);
  await expect(card).toContainText(kernel.next.command);
  for (const advice of kernel.advice) await expect(card).toContainText(advice.text);
});

test('PC samples are shown with their intervals, and what other sources say of them', async ({ page }) => {
  await open(page, 'sampled');
  const analysis = written('sampled', 'analysis');
  const [first, second] = analysis.pc_sampling.kernels;
  const section = page.locator('#pc-samples');
  expect(await column(page, 'sampled-reasons', 4)).toEqual([first.issued, ...first.reasons].sort((a: any, b: any) => b.samples - a.samples).map((one: any) => one.samples.toLocaleString('en-US')));
  const hot = first.hot[0];
  await expect(section.locator('#sampled-instructions tbody tr').first()).toContainText(hot.text);
  await expect(section.locator('#sampled-instructions tbody tr').first()).toContainText(`(${(100 * hot.share.low).toPrecision(3)} to ${(100 * hot.share.high).toPrecision(3)})`);
  await expect(section).toContainText('relu(float*) (12)');
  await section.locator('select').selectOption('1');
  await expect(section.locator('#sampled-instructions tbody tr').first()).toContainText(second.hot[0].text);
  const card = page.locator('#verdicts details.card').first();
  await expect(card).toContainText('contradict');
  await expect(card).toContainText('samples wait for memory, and counters say they do not');
});

test('the kernels table holds the document, sorts and filters', async ({ page }) => {
  await open(page, 'sample');
  const kernels = written('sample', 'analysis').kernels as any[];
  const table = page.locator('#kernels-table');
  expect(await column(page, 'kernels-table', 5)).toEqual([...kernels].sort((a, b) => b.share - a.share).map((kernel) => kernel.dispatches.toLocaleString('en-US')));

  const dispatches = table.locator('th', { hasText: 'Count' });
  await expect(dispatches).toHaveAttribute('aria-sort', 'none');
  await dispatches.locator('button').click();
  await expect(dispatches).toHaveAttribute('aria-sort', 'descending');
  expect((await column(page, 'kernels-table', 5)).map((text) => Number(text.replace(',', '')))).toEqual(kernels.map((kernel) => kernel.dispatches).sort((a, b) => b - a));
  await dispatches.locator('button').press('Enter');
  await expect(dispatches).toHaveAttribute('aria-sort', 'ascending');
  expect((await column(page, 'kernels-table', 5)).map((text) => Number(text.replace(',', '')))).toEqual(kernels.map((kernel) => kernel.dispatches).sort((a, b) => a - b));

  await table.locator('input').fill('attention');
  const wanted = kernels.filter((kernel) => kernel.name.includes('attention')).length;
  await expect(table.locator('tbody tr')).toHaveCount(wanted);
  await expect(table.locator('.table-count')).toHaveText(`${wanted} of ${kernels.length}`);
  await table.locator('input').fill('no such kernel');
  await expect(table.locator('tbody')).toContainText('Nothing matches');
});

test('a kernel opens its details by keyboard', async ({ page }) => {
  await open(page, 'sample');
  const kernels = written('sample', 'analysis').kernels as any[];
  const first = [...kernels].sort((a, b) => b.share - a.share)[0];
  const button = page.locator('#kernels-table button.expand').first();
  await button.focus();
  await page.keyboard.press('Enter');
  const details = page.locator('#kernels-table tr.details');
  await expect(details).toHaveCount(1);
  await expect(details).toContainText(String(first.resources.vgpr_per_thread));
  for (const name of ['llvm', 'hip', 'resident']) await expect(details).toContainText(name);
  for (const cause of first.occupancy_gap.causes) if (cause.share !== 0) await expect(details).toContainText(cause.label);
  await expect(button).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(details).toHaveCount(0);
});

test('a chosen kernel is marked in other sections', async ({ page }) => {
  await open(page, 'sample');
  await page.locator('#kernels-table button.kernel-name').nth(2).click();
  await expect(page.locator('#kernels-table tr.chosen')).toHaveCount(1);
  await expect(page.locator('#roofline tr.chosen')).toHaveCount(1);
  const next = page.locator('#kernels-table button.kernel-name').nth(1);
  await next.focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('#kernels-table tr.chosen')).toHaveCount(1);
  await expect(next).toBeFocused(); // though all rows were drawn anew
});

test('the roofline draws the document\'s roofs and marks', async ({ page }) => {
  await open(page, 'sample');
  const roofline = written('sample', 'roofline');
  const chart = roofline.chart.gpus[0];
  const marks = chart.marks.filter((mark: any) => mark.level === 'hbm').map((mark: any) => [mark.x, mark.y]);
  expect(await series(page, 'roofline-0-0', 'marks hbm')).toEqual(marks);
  const vector = chart.roofs.find((roof: any) => roof.name === 'vector.fp32');
  expect((await series(page, 'roofline-0-0', 'roof vector.fp32')).every(([, y]) => y === vector.value)).toBe(true);
  const memory = chart.roofs.find((roof: any) => roof.name === 'hbm');
  for (const [x, y] of await series(page, 'roofline-0-0', 'roof hbm')) expect(y / x).toBeCloseTo(memory.value, 6);
  for (const roof of chart.roofs.filter((one: any) => one.kind === 'compute' || one.name === 'hbm')) await expect(page.locator('[data-chart="roofline-0-0"] svg')).toContainText(roof.label);

  await page.locator('#roofline select').first().selectOption('lds');
  expect(await series(page, 'roofline-0-0', 'marks lds')).toEqual(chart.marks.filter((mark: any) => mark.level === 'lds').map((mark: any) => [mark.x, mark.y]));
  await page.locator('#roofline select').first().selectOption('hbm');
  await page.locator('#roofline select').nth(1).selectOption('matrix.bf16');
  const points = await series(page, 'roofline-0-0', 'marks hbm');
  const type = roofline.kernels[0].flops.by_type.find((one: any) => one.pipe === 'matrix' && one.precision === 'bf16');
  expect(points[0][1]).toBeCloseTo((type.lane_corrected ?? type.flops.value) / roofline.kernels[0].time.total_ns, 6);
  await expect(page.locator('#roofline')).toContainText('computed here from the document');
});

test('hovering a mark names the kernel and its figures', async ({ page }) => {
  await open(page, 'sample');
  const roofline = written('sample', 'roofline');
  const mark = roofline.chart.gpus[0].marks.find((one: any) => one.letter === 'B' && one.level === 'hbm');
  const figure = page.locator('[data-chart="roofline-0-0"]');
  await figure.scrollIntoViewIfNeeded();
  const [x, y]: [number, number] = await page.evaluate(([chart, px, py]) => (window as any).__charts[chart as string].convertToPixel({ seriesId: 'marks hbm' }, [px, py]) as [number, number], ['roofline-0-0', mark.x as number, mark.y as number] as const);
  const box = (await figure.boundingBox())!;
  await page.mouse.move(box.x + x - 30, box.y + y);
  await page.mouse.move(box.x + x, box.y + y, { steps: 4 });
  await expect(figure.locator('.tip')).toContainText(roofline.kernels[mark.kernel].name.slice(0, 100));
  await expect(figure.locator('.tip')).toContainText('3.953 FLOP/byte');
});

test('the occupancy chart shows the models\' figures and the counters\'', async ({ page }) => {
  await open(page, 'sample');
  const kernels = (written('sample', 'analysis').kernels as any[]).filter((kernel) => kernel.occupancy?.theoretical != null);
  expect(await series(page, 'occupancy-kernels', 'theoretical')).toEqual(kernels.slice(0, 20).map((kernel) => kernel.occupancy.theoretical));
  const achieved = new Map((written('sample', 'roofline').kernels as any[]).map((kernel) => [kernel.name, kernel.features.flatMap((group: any) => group.figures).find((figure: any) => figure.name === 'occupancy.achieved').value / 100]));
  const drawn = await series(page, 'occupancy-kernels', 'achieved');
  kernels.forEach((kernel, index) => expect(drawn[index]).toBeCloseTo(achieved.get(kernel.name)!, 9));
  await page.locator('#occupancy .chart-table summary').click();
  await expect(page.locator('#occupancy .chart-table tbody tr')).toHaveCount(kernels.length);
});

test('dark mode changes page and charts, and is remembered', async ({ page }) => {
  await open(page, 'sample');
  const background = (): Promise<string> => page.evaluate(() => getComputedStyle(window.document.body).backgroundColor);
  const text = (): Promise<string> => page.evaluate(() => (window as any).__charts['roofline-0-0'].getOption().textStyle.color as string);
  const light = [await background(), await text()];
  await page.locator('#theme').click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  const dark = [await background(), await text()];
  expect(dark[0]).not.toBe(light[0]);
  expect(dark[1]).not.toBe(light[1]);
  await screenshot(page, 'sample-1280-dark');
  await page.reload();
  await page.waitForSelector('#page[data-ready]');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test.describe('with a dark system', () => {
  test.use({ colorScheme: 'dark' });
  test('the page is dark from the start', async ({ page }) => {
    await open(page, 'sample');
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  });
});

for (const name of ['sample', 'others', 'att', 'hostile'])
  test(`"${name}" fits 390 pixels`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open(page, name);
    await fitsWidth(page);
    await screenshot(page, `${name}-390-light`, name === 'sample' || name === 'others');
  });

test('prints light, without controls, with charts inside the paper', async ({ page }) => {
  await open(page, 'sample');
  await page.locator('#theme').click();
  await page.emulateMedia({ media: 'print' });
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await expect(page.locator('header.top')).toBeHidden();
  await expect(page.locator('nav.side')).toBeHidden();
  await page.emulateMedia({ media: 'screen' });
  const pdf = await page.pdf({ format: 'A4' });
  expect(pdf.byteLength).toBeGreaterThan(50_000);
  expect(await page.locator('#verdicts details.card:not([open])').count()).toBe(0);
});

test('what prints is whole at once: verdicts filled, folds open, cut tables named', async ({ page }) => {
  await open(page, 'sample');
  const empty = await page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint')); // layout follows with no turn of the event loop
    return [...window.document.querySelectorAll('#verdicts details.card')].filter((card) => card.childElementCount < 2).length;
  });
  expect(empty).toBe(0);
  expect(await page.locator('details.fold:not([open])').count()).toBe(0);
  const cut = page.locator('.table .print-only:not([hidden])');
  for (const line of await cut.all()) await expect(line).toHaveText(/^[\d,]+ of [\d,]+ rows/);
  await expect(page.locator('#kernels-table .print-only')).toBeHidden(); // all of it is there
});

test('the keyboard reaches the content and every control', async ({ page }) => {
  await open(page, 'sample');
  await page.keyboard.press('Tab');
  await expect(page.locator('.skip')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('#content')).toBeFocused();
  for (const box of await page.locator('.table-box').all()) await expect(box).toHaveAttribute('tabindex', '0');
  const unnamed = await page.locator('button, select, input').evaluateAll((controls) => controls.filter((control) => {
    const label = control.closest('label')?.cloneNode(true) as HTMLElement | undefined; // its text without that of the control, which of a select is its options
    label?.querySelectorAll('select, input').forEach((inner) => inner.remove());
    const own = control.tagName === 'BUTTON' ? control.textContent : '';
    return !(own?.trim() || control.getAttribute('aria-label') || label?.textContent?.trim() || (control.id && control.ownerDocument.querySelector(`label[for="${control.id}"]`)));
  }).map((control) => control.outerHTML));
  expect(unnamed).toEqual([]);
  const unlabelled = await page.locator('[role="img"]').evaluateAll((images) => images.filter((image) => !image.getAttribute('aria-label')).length);
  expect(unlabelled).toBe(0);
});

test('names that try to be markup stay names', async ({ page }) => {
  await open(page, 'hostile');
  for (const hash of ['kernels', 'verdicts', 'roofline']) for (const name of HOSTILE) await expect(page.locator(`#${hash}`)).toContainText(name);
  const figure = page.locator('[data-chart="occupancy-kernels"]');
  await figure.scrollIntoViewIfNeeded();
  const box = (await figure.boundingBox())!;
  for (let row = 0; row < 4; ++row) {
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40 + row * 27);
    await expect(figure.locator('.tip')).toBeVisible();
  }
  await page.locator('#kernels-table button.expand').first().click();
  for (const details of await page.locator('#documents .tree > details, #missing details').all()) await details.locator('summary').first().click();
  expect(await page.evaluate(() => (window as any).__hit)).toBeUndefined();
  expect(await page.locator('img, main script, main svg[onload]').count()).toBe(0);
});

test('a thread trace alone shows no times that nobody measured', async ({ page }) => {
  await open(page, 'att');
  expect(written('att', 'analysis').recordings).toEqual([]);
  await expect(page.locator('#summary .tiles')).toHaveCount(0);
  await expect(page.locator('#summary')).toContainText('No recording of a run was given');
  await expect(page.locator('#summary')).not.toContainText('0 ns');
});

test('what is missing stands with its reason', async ({ page }) => {
  await open(page, 'sample');
  const analysis = written('sample', 'analysis');
  for (const entry of analysis.missing.slice(0, 3)) await expect(page.locator('#missing')).toContainText(entry.reason);
  const profile = written('sample', 'profile').missing.find((entry: any) => entry.field === 'stability.label');
  const unknown = page.locator('.selected .unknown');
  await expect(unknown).toHaveText('unknown');
  await expect(unknown).toHaveAttribute('title', `${profile.reason} — ${profile.remedy}`);
});

test('the documents can be read in full', async ({ page }) => {
  await open(page, 'sample');
  const tree = page.locator('#documents .document', { hasText: 'analysis' }).first();
  await tree.locator('.tree summary').first().click();
  await expect(tree).toContainText('totals');
  const download = page.waitForEvent('download');
  await tree.locator('button', { hasText: 'Save' }).click();
  const saved = await (await download).path();
  expect(JSON.parse(readFileSync(saved, 'utf8'))).toEqual(written('sample', 'analysis'));
});

test('the optimisation ledger shows every candidate with its interval', async ({ page }) => {
  await open(page, 'others');
  const optimization = written('others', 'optimization');
  const section = page.locator('#optimization');
  await expect(section.locator('.result')).toContainText(optimization.decision.sentence);
  for (const candidate of optimization.candidates) await expect(section).toContainText(candidate.decision.sentence);
  const timed = optimization.candidates.filter((candidate: any) => candidate.measurement?.comparison);
  expect(await series(page, 'optimization-0-forest', 'interval')).toEqual(timed.map((candidate: any, index: number) => [index, candidate.measurement.comparison.low, candidate.measurement.comparison.high]));
  expect((await series(page, 'optimization-0-forest', 'ratio')).map((point) => point[0])).toEqual(timed.map((candidate: any) => candidate.measurement.comparison.ratio));
  await section.locator('button.expand').first().click();
  await expect(section.locator('tr.details')).toContainText('perturbed input');
  await screenshot(page, 'others-1280-light');
});

test('search, comparison, occupancy and doctor show their documents', async ({ page }) => {
  await open(page, 'others');
  const autotune = written('others', 'autotune');
  expect(await series(page, 'autotune-0-convergence', 'best')).toEqual(autotune.history.map((entry: any) => [entry.order, entry.best_so_far ?? '-']));
  const outside = autotune.history.filter((entry: any) => !entry.within_limits).length;
  expect(outside).toBeGreaterThan(0);
  await expect(page.locator('#autotune').locator('dl, ul, table').filter({ hasText: 'Outside of the limits' }).first()).toContainText(`${outside} configurations that worked`);
  await expect(page.locator('#autotune-0-history')).toContainText('power');
  await expect(page.locator('#autotune-2-front').locator('tbody tr')).toHaveCount(Math.min(15, written('front', 'autotune').front.points.length));
  const capture = page.locator('#autotune').locator('dl, ul, table').filter({ hasText: 'gemm(float const*)' });
  await expect(capture).toHaveCount(1);
  await expect(capture).toContainText('1.60x (1.58 to 1.62)');
  await expect(capture).toContainText('as f32: at most 2 ULP');
  await expect(capture).toContainText('work-group = 64; work-groups = 1024 // BN');
  await expect(page.locator('#autotune-1-history')).toContainText('the same within the tolerance');
  expect(await series(page, 'autotune-0-importance', 'share')).toEqual(autotune.importance.map((entry: any) => entry.share));
  const comparison = written('others', 'comparison');
  expect((await series(page, 'comparison-0', 'ratio')).map((point) => point[0])).toEqual(comparison.kernels.map((kernel: any) => kernel.ratio));
  const occupancy = written('others', 'occupancy');
  expect(await series(page, 'occupancy-0-models', 'waves')).toEqual(['resident', 'llvm', 'hip'].map((name) => occupancy.models[name].waves_per_simd));
  const steps = await series(page, 'occupancy-0-sweep', 'resident');
  expect(steps.length).toBe(2 * occupancy.sweep.length);
  expect(steps[0]).toEqual([occupancy.sweep[0].from, occupancy.sweep[0].models.resident.waves_per_simd]);
  for (const command of written('others', 'doctor').commands) await expect(page.locator('#doctor')).toContainText(command.command);
});

test('a comparison that decided nothing does not pass, and says why it can fail', async ({ page }) => {
  const made = written('others', 'comparison');
  Object.assign(made, { verdict: 'undecided', fails: false, regressions: 0, undecided: 3, comparisons: 12, sentence: 'no regression shown: 3 of 12 comparisons are undecided' });
  made.options.threshold = 2;
  made.kernels[0].gated = false;
  made.total = { ...made.total, estimate: false, verdict: 'SLOWER', regression: true, ratio: 3.5, interval: { low: 3.25, high: 3.75 } };
  await openMade(page, 'made-comparison', [made]);
  const gate = made.sentence;
  await expect(page.locator('#comparison .result')).toContainText(gate);
  await expect(page.locator('#summary .headlines')).toContainText(gate);
  await expect(page.locator('#content')).not.toContainText('passes');
  await expect(page.locator('#comparison .facts')).toContainText('3.500 (3.250 to 3.750) SLOWER fails');
  await expect(page.locator('#comparison-0-table tbody tr').first()).toContainText('not gated');
  const axis = await page.evaluate(() => { const { min, max } = ((window as any).__charts['comparison-0'].getOption().xAxis as { min: number; max: number }[])[0]!; return [min, max]; });
  expect(axis[0]).toBeGreaterThan(0);
  expect(axis[0]).toBeLessThan(1 / 3);
  expect(axis[1]).toBeGreaterThan(3);

  Object.assign(made, { kernels: [], total: null, undecided: 0, comparisons: 0, sentence: 'no regression shown: nothing was tested' });
  await openMade(page, 'made-comparison', [made]);
  await expect(page.locator('#summary .headlines')).toContainText('0 kernels compared; no regression shown: nothing was tested');
});

test('an occupancy that is unknown says why, and is no section', async ({ page }) => {
  const made = written('sample', 'analysis');
  for (const kernel of made.kernels) {
    for (const field of ['theoretical', 'wave_size', 'mode', 'models']) kernel.occupancy[field] = null;
    kernel.missing = ['theoretical', 'wave_size', 'mode', 'models'].map((field) => ({ field: `occupancy.${field}`, reason: 'the register count is missing', remedy: 'rocm-perf inspect FILE' }));
  }
  await openMade(page, 'made-occupancy', [made]);
  await expect(page.locator('#occupancy')).toHaveCount(0);
  await expect(page.locator('#kernels-table tbody tr').first().locator('.unknown.has-reason').first()).toHaveAttribute('title', 'the register count is missing — rocm-perf inspect FILE');
  await page.locator('#kernels-table button.expand').first().click();
  await expect(page.locator('#kernels-table tr.details .note')).toContainText('the register count is missing');
});

test('the page of a CUDA program speaks of warps, SMs and shared memory', async ({ page }) => {
  await open(page, 'cuda');
  await page.locator('#kernels-table button.expand').first().click();
  await expect(page.locator('#kernels-table tr.details')).toContainText('registers per thread');
  const said = await page.evaluate(() => [...document.querySelectorAll('main > section')].filter((section) => !['documents', 'provenance', 'missing'].includes(section.id)).flatMap((section) => {
    const copy = section.cloneNode(true) as HTMLElement;
    copy.querySelectorAll('.name, button.pick, canvas, svg, code, pre').forEach((element) => element.remove()); // names of kernels and commands are not the page's words
    const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT), texts: string[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode.textContent ?? '');
    for (const element of copy.querySelectorAll('[title], [aria-label]')) if (!element.closest('.name')) texts.push(element.getAttribute('title') ?? '', element.getAttribute('aria-label') ?? '');
    return texts.filter((text) => !/[(<]/.test(text));
  }));
  const foreign = /\b(waves?|wavefronts?|CUs?|LDS|[VSvs]GPRs?|[vs]gpr|HIP|hip|workgroups?|work-groups?|dispatch(es)?|gfx\w+|agent index|xcc|kernarg|scratch|rocprofv3)\b/;
  expect([...new Set(said.filter((text) => foreign.test(text)))]).toEqual([]);
});

test('two GPUs of one product with other ceilings are drawn', async ({ page }) => {
  const made = written('sample', 'roofline');
  const { roofs } = made.chart.gpus[0];
  for (const roof of [...roofs]) if (roof.kind !== 'mix') roofs.push({ ...roof, value: roof.value / 2, label: `${roof.label} (the other)` });
  await openMade(page, 'made-roofs', [made]);
  await expect(page.locator('#roofline')).not.toContainText('could not be drawn');
  await expect(page.locator('[data-chart="roofline-0-0"] svg')).toContainText('(the other)');
  const memory = roofs.filter((roof: any) => roof.name === 'hbm');
  for (const [x, y] of await series(page, 'roofline-0-0', 'roof hbm')) expect(y / x).toBeCloseTo(memory[0].value, 6);
});

test('a failed gate says which kernel and why', async ({ page }) => {
  await open(page, 'others');
  test.skip((await page.locator('#inspection').count()) === 0, 'no code objects on this machine');
  const inspection = written('others', 'inspection');
  const gate = inspection.gates.find((one: any) => !one.passed);
  await expect(page.locator('#inspection .headlines')).toContainText(gate.failures[0].why);
});

test('the bare template says that it holds no documents', async ({ page }) => {
  await page.goto(`file://${template}`);
  await expect(page.locator('h1')).toHaveText('This report cannot be shown');
  await expect(page.locator('main')).toContainText('--html report.html');
});

test('the page is small', () => {
  expect(statSync(pageFile('sample')).size).toBeLessThan(2.5e6);
});
