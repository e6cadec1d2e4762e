// The words of the platform that a page is about, as src/hal/terms.h has them: AMD's documents say wave, CU, LDS and
// dispatch where NVIDIA's say warp, SM, shared memory and launch. Fields of documents have one set of names for both.
import type { Documents } from './documents';

const PAIRS: readonly (readonly [string, string])[] = [
  ['a CU', 'an SM'], ['work-groups', 'blocks'], ['work-group', 'block'], ['workgroups', 'blocks'], ['workgroup', 'block'], ['work-items', 'threads'], ['work-item', 'thread'],
  ['waves', 'warps'], ['wave', 'warp'], ['CUs', 'SMs'], ['CU', 'SM'], ['cu', 'SM'], ['compute units', 'SMs'], ['SIMDs', 'sub-partitions'], ['SIMD', 'sub-partition'], ['simd', 'sub-partition'],
  ['LDS', 'shared memory'], ['lds', 'shared memory'], ['VGPRs', 'registers'], ['VGPR', 'register'], ['vgpr', 'registers'], ['dispatches', 'launches'], ['dispatch', 'launch'],
  ['scratch', 'local memory'], ['agent index', 'GPU index'], ['resident model', 'cuda model'], ['HIP', 'CUDA'], ['matrix', 'tensor'], ['mfma', 'tensor'], ['valu', 'math'], ['vmem', 'load and store'],
];
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const WORDS = new Map(PAIRS.flatMap(([amd, nvidia]) => [[amd, nvidia], [capital(amd), capital(nvidia)]] as const));
const PATTERN = new RegExp(`(?<![\\w./-])(?:${[...WORDS.keys()].sort((a, b) => b.length - a.length).join('|')})(?![\\w/-])`, 'g');

let nvidia = false;

/** Whether everything in the documents ran on NVIDIA's GPUs. */
function onlyNvidia(docs: Documents): boolean {
  const named = docs.all.flatMap(({ document }) => {
    const one = document as { kernels?: unknown; gpus?: unknown; ranks?: unknown; gpu?: { architecture?: unknown } | null; architecture?: unknown };
    const kernels = Array.isArray(one.kernels) ? (one.kernels as { architecture?: unknown; gpu?: { architecture?: unknown } }[]).map((kernel) => kernel.architecture ?? kernel.gpu?.architecture) : [];
    const gpus = Array.isArray(one.gpus) ? (one.gpus as { processor?: unknown }[]).map((gpu) => gpu.processor) : [];
    const ranks = Array.isArray(one.ranks) ? (one.ranks as { gpu_name?: unknown }[]).map((rank) => rank.gpu_name) : [];
    return [...kernels, ...gpus, ...ranks, one.architecture, one.gpu?.architecture];
  }).filter((name): name is string => typeof name === 'string');
  return named.length > 0 && named.every((name) => name.startsWith('sm_'));
}

/** From here on the page speaks the words of what these documents are about. */
export function speakOf(docs: Documents): void {
  nvidia = onlyNvidia(docs);
}

/** Whether the page is about NVIDIA's GPUs alone. */
export const aboutNvidia = (): boolean => nvidia;

/** Fields of documents that only AMD's GPUs have: registers in two files, scalar registers, arguments in memory, dies. */
const ONLY_AMD: ReadonlySet<string> = new Set(['arch_vgpr', 'accum_vgpr', 'sgpr_per_wave', 'kernarg_bytes', 'xcc_count']);
/** Whether the platform has what a field says. */
export const hasField = (name: string): boolean => !nvidia || !ONLY_AMD.has(name);

/** Text of the page, written in AMD's words, in those of the platform. Not for names of kernels and files. */
export function inTerms(text: string): string {
  return nvidia ? text.replace(PATTERN, (word) => WORDS.get(word)!) : text;
}
