// Writes the pages that the tests open, with the real program: the bundled sample with its counters; one of each other document;
// a thread trace where there is one to read; and the sample with names that try to be markup.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packed, readDocuments } from '../scripts/pack.mjs';
import { RANK_JOBS, writeJob } from './ranks-job';
import { pageFile, pcSamplesWriter, program, results, share, shared, template, web } from './places';

const run = (...args: string[]): string => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
/** Exit code 1 is an answer, not a failure. */
function answer(...args: string[]): string {
  try {
    return run(...args);
  } catch (error) {
    const { status, stdout } = error as { status?: number; stdout?: string };
    if (status === 1 && stdout) return stdout;
    throw error;
  }
}

/** A recorded search of 48 configurations, as Kernel Tuner writes it; some fail. */
function recording(): string {
  const cache: Record<string, unknown> = {};
  for (const block of [32, 64, 128, 256])
    for (const tile of [1, 2, 4, 8])
      for (const unroll of [0, 1, 2]) {
        const time = 2 + Math.abs(Math.log2(block / 128)) * 0.7 + Math.abs(Math.log2(tile / 4)) * 0.9 + (unroll === 1 ? 0 : 0.35);
        const fails = block === 256 && tile === 8;
        cache[`${block},${tile},${unroll}`] = { block_size_x: block, tile, unroll, time: fails ? 'RuntimeFailedConfig' : time, ...(fails ? {} : { power: 100 + block + 20 * tile, times: [time * 0.99, time, time * 1.01, time * 1.005, time * 0.995] }) };
      }
  return JSON.stringify({ device_name: 'a GPU of this test', kernel_name: 'smooth', tune_params_keys: ['block_size_x', 'tile', 'unroll'], tune_params: { block_size_x: [32, 64, 128, 256], tile: [1, 2, 4, 8], unroll: [0, 1, 2] }, objective: 'time', cache });
}

/** A search's document as one of a capture has it. */
function ofCapture(document: any): unknown {
  const proof = { verdict: 'within_tolerance', sentence: 'It computes what was captured, within the tolerance.', compared_bytes: 4096, code_object_hash: 'sha256:12', grid: [1024, 1, 1], workgroup: [64, 1, 1], dynamic_lds_bytes: 0 };
  const nothing = { type: null, max_ulp: null, max_relative: null, max_absolute: null, nan_equal: true };
  return {
    ...document, simulation: null,
    capture: { hash: 'sha256:77', kernel: '_Z4gemmPKf', demangled: 'gemm(float const*)', platform: 'cuda', isa: 'sm_90', launch: { workgroup: '64', grid: null, blocks: '1024 // BN', dynamic_lds: null }, tolerance: { ...nothing, type: 'f32', max_ulp: 2 }, iterations: 5, caches: 'warm', proof: { ...proof, verdict: 'bitwise', sentence: 'This capture reproduces itself, bitwise.' }, value: 3.25, samples: 12, cv: 0.01, gain: { ratio: 1.6, low: 1.58, high: 1.62 } },
    history: document.history.map((entry: any) => ({ ...entry, proof: entry.value === null ? null : proof })),
  };
}

function counterFiles(): string[] {
  const folder = join(share, 'decode_step_counters');
  return readdirSync(folder).filter((name) => name.startsWith('pass_')).sort().flatMap((pass) => readdirSync(join(folder, pass)).filter((file) => file.endsWith('.db')).map((file) => join(folder, pass, file)));
}

function others(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, `${name}.json`), text);
  const sample = join(share, 'decode_step.db');
  writeFileSync(join(results, 'recording.json.gz'), gzipSync(recording()));
  write('autotune', run('autotune', '--simulate', join(results, 'recording.json.gz'), '--budget', '30', '--limit', 'power<=300W', '--json'));
  write('occupancy', run('occupancy', '--arch', 'gfx942', '--vgpr', '72', '--lds', '16384', '--block', '256', '--sweep', 'vgpr', '--json'));
  write('comparison', answer('compare', sample, sample, '--json'));
  write('doctor', run('doctor', '--json'));
  write('optimization', readFileSync(join(web, '../tests/web/optimization.json'), 'utf8'));
  const code = join(shared, 'data/codeobjects/rdc_gfx90a_binary_search_kernels.hsaco');
  if (existsSync(code)) write('inspection', answer('inspect', code, '--max-vgpr', '10', '--json'));
  const ofACapture = join(results, 'autotune.json'); // report reads of a folder the names that commands write
  writeFileSync(ofACapture, JSON.stringify(ofCapture(JSON.parse(readFileSync(join(folder, 'autotune.json'), 'utf8')))));
  const ofTwoObjectives = join(results, 'front', 'autotune.json');
  mkdirSync(join(results, 'front'));
  writeFileSync(ofTwoObjectives, run('autotune', '--simulate', join(results, 'recording.json.gz'), '--budget', '30', '--objective', 'time', '--objective', 'power', '--json'));
  run('report', folder, ofACapture, ofTwoObjectives, '--html', pageFile('others'));
}

/** The names of the page of tests/page.spec.ts that try to be markup, or to leave their element. */
export const HOSTILE = ['<img src=x onerror="window.__hit=1">', '</script><script>window.__hit=1</script>', `"'><svg onload=window.__hit=1>`, `void ns::kernel<${'std::pair<int, float>, '.repeat(120)}int>(float*)`];

function hostile(folder: string): void {
  const documents = readDocuments([folder]).filter(({ name }) => ['analysis', 'roofline', 'dag', 'timeline', 'profile'].includes(name));
  const names = (JSON.parse(readFileSync(join(folder, 'analysis.json'), 'utf8')) as { kernels: { name: string }[] }).kernels.slice(0, HOSTILE.length).map((kernel) => kernel.name);
  let text = JSON.stringify(documents);
  names.forEach((name, index) => (text = text.replaceAll(JSON.stringify(name).slice(1, -1), JSON.stringify(HOSTILE[index]).slice(1, -1))));
  const page = readFileSync(template, 'utf8').replace('<!--' + 'DOCUMENTS-->', () => packed(JSON.parse(text) as never));
  writeFileSync(pageFile('hostile'), page);
}

/** PC samples of two kernels, and of a third that were only counted; the first one's verdict has counters that contradict them, as a recording
 *  with counters can have. */
function sampled(folder: string): void {
  const samples = join(results, 'pc-samples');
  execFileSync(pcSamplesWriter, ['--out', samples, '--form', 'json', '--kernel', 'copy,matrix', '--dispatches', '20']);
  run('analyze', '--pc-samples', samples, '--pc-interval', '65536', '--out', folder);
  const file = join(folder, 'analysis.json');
  const analysis = JSON.parse(readFileSync(file, 'utf8'));
  analysis.bottlenecks.kernels[0].cross_checks = [{ feature: 'pc_sampling.memory_wait', other: 'counters.wait_dependency', agrees: false, text: 'samples wait for memory, and counters say they do not' }];
  analysis.pc_sampling.sets[0].others = [{ name: 'relu(float*)', samples: 12 }];
  writeFileSync(file, JSON.stringify(analysis));
  run('report', folder, '--html', pageFile('sampled'));
}

export default function setup(): void {
  if (!existsSync(program)) throw new Error(`no program at ${program}: build it, or set ROCM_PERF`);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const folder = join(results, 'sample');
  run('analyze', join(share, 'decode_step.db'), '--counters', ...counterFiles(), '--out', folder, '--html', pageFile('sample'));
  others(join(results, 'others'));
  hostile(folder);
  sampled(join(results, 'sampled'));
  const recorded = join(share, 'decode_step_recorded');
  run('analyze', join(recorded, 'decode_step.db'), '--counters', join(recorded, 'counters/pass_1/1_results.db'), '--out', join(results, 'cuda'), '--html', pageFile('cuda'));
  for (const [name, job] of Object.entries(RANK_JOBS)) {
    writeJob(join(results, `${name}-job`), job);
    run('ranks', join(results, `${name}-job`), '--out', join(results, name), '--html', pageFile(name));
  }
  const att = join(shared, 'data/att/mi300_gemmv2');
  if (existsSync(att)) run('analyze', '--att', att, '--out', join(results, 'att'), '--html', pageFile('att'));
}
