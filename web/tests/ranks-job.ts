// A made-up job of many ranks, as PyTorch's profiler writes one: a file for each rank. In every step each rank runs a kernel and enters an
// all-reduce, which ends when the last one came; one rank's kernel takes longer, always. The host launches ahead. Deterministic.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Job {
  ranks: number;
  steps: number;
  late: number; ///< the rank that comes late
  lateBy: number; ///< ns, every time
  /** Every third operation is a send and receive, of which nobody knows who waits. */
  exchanges: boolean;
}
/** The jobs of the tests, by the name of their page. */
export const RANK_JOBS: Record<'ranks8' | 'ranks1024', Job> = {
  ranks8: { ranks: 8, steps: 30, late: 5, lateBy: 300_000, exchanges: true },
  ranks1024: { ranks: 1024, steps: 6, late: 513, lateBy: 300_000, exchanges: false },
};
const NODE = 8, WORK = 200_000, TRANSFER = 30_000; // ranks of a node; ns
const START = 1_700_000_000_000_000_000n; // ns since 1970: more than a double keeps
const micro = (ns: number): number => ns / 1000;

/** Of that rank and step: up to 20 us, another each time. */
const noise = (rank: number, step: number): number => (((rank * 7919 + step * 104729) % 1009) * 20_000) / 1009;

/** Writes the files of the job, which are returned. */
export function writeJob(folder: string, { ranks, steps, late, lateBy, exchanges }: Job): string[] {
  mkdirSync(folder, { recursive: true });
  const events: object[][] = Array.from({ length: ranks }, () => []);
  const now = new Array<number>(ranks).fill(0);
  for (let step = 0; step < steps; ++step) {
    const entries = now.map((time, rank) => Math.round(time + 8000 + WORK + noise(rank, step) + (rank === late ? lateBy : 0)));
    const exchange = exchanges && step % 3 === 2;
    const ready = Math.max(...entries);
    for (let rank = 0; rank < ranks; ++rank) {
      const id = step * 2 + 1, begin = now[rank]!, entry = entries[rank]!, end = (exchange ? entry : ready) + TRANSFER + (rank % 7) * 100;
      const device = rank % NODE;
      const call = (correlation: number, at: number): object => ({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 100 + rank, tid: 1, ts: micro(at), dur: 2, args: { cbid: 211, correlation } });
      const kernel = (correlation: number, name: string, from: number, to: number, stream: number, more: object): object => ({ ph: 'X', cat: 'kernel', name, pid: device, tid: stream, ts: micro(from), dur: micro(to - from), args: { device, context: 1, stream, correlation, grid: [8, 1, 1], block: [256, 1, 1], ...more } });
      const said = { 'Collective name': 'allreduce', 'In msg nelems': 262144, 'Out msg nelems': 262144, 'Group size': ranks, dtype: 'Float', 'Process Group Name': '0', 'Process Group Description': 'default_pg', 'Seq': step };
      events[rank]!.push(call(id, step * 6000), kernel(id, 'sm90_gemm_f16', begin + 6000, entry - 1000, 7, {}), call(id + 1, step * 6000 + 3000),
        exchange ? kernel(id + 1, 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', entry, end, 7, {}) : kernel(id + 1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)', entry, end, 7, said));
      now[rank] = end + 2000;
    }
  }
  return events.map((traceEvents, rank) => {
    const file = join(folder, `rank${String(rank).padStart(4, '0')}.pt.trace.json`);
    const deviceProperties = [{ id: rank % NODE, name: 'NVIDIA H100 80GB HBM3', totalGlobalMem: 85_000_000_000, computeMajor: 9, computeMinor: 0, numSms: 132, warpSize: 32 }];
    const host = `node${String(Math.floor(rank / NODE)).padStart(3, '0')}`;
    const text = JSON.stringify({ schemaVersion: 1, hostname: host, deviceProperties, distributedInfo: { backend: 'nccl', rank, world_size: ranks }, baseTimeNanoseconds: 0, traceEvents });
    writeFileSync(file, text.replace('"baseTimeNanoseconds":0', `"baseTimeNanoseconds":${START}`));
    return file;
  });
}
