// The page's recomputation against the program's own answers, and against an independent longest
// path on random graphs.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { atMost, gainPoints } from './whatif-bound';
import { exactPattern, shellWord, whatIfArguments } from './whatif-command';
import { changesNothing, criticalPath, NO_CHANGES, schedule, type Changes } from './whatif-engine';
import { buildGraph, whyNoGraph, type Graph, type GraphDocument, type GraphNode } from './whatif-graph';

const RULES = [
  { rule: 'program_order', from: 'end', to: 'start' },
  { rule: 'launch', from: 'end', to: 'start' },
  { rule: 'submission_order', from: 'start', to: 'start' },
  { rule: 'stream_sync', from: 'end', to: 'end' },
];

function documentOf(nodes: GraphNode[], length: number): GraphDocument {
  return { critical_path_ns: length, segment: null, graph: { rules: RULES }, nodes };
}

function node(id: number, kind: string, name: string, start: number, own: number, edges: GraphNode['edges'] = []): GraphNode {
  return { id, kind, name, start_ns: start, own_ns: own, edges };
}

/** Numbers that are the same every time (mulberry32). */
function numbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A graph of `size` nodes with random edges; recorded times are what the schedule gives. */
function randomDocument(size: number, seed: number): GraphDocument {
  const random = numbers(seed);
  const below = (n: number) => Math.floor(random() * n);
  const names = ['alpha', 'beta', 'gamma', '__amd_rocclr_copyBuffer'];
  const nodes: GraphNode[] = [];
  for (let i = 0; i < size; ++i) {
    const kind = ['dispatch', 'dispatch', 'copy', 'call'][below(4)]!;
    const name = kind === 'dispatch' ? names[below(names.length)]! : kind === 'copy' ? 'HOST_TO_DEVICE'
      : below(2) ? 'hipLaunchKernel' : 'hipDeviceSynchronize';
    const edges: GraphNode['edges'] = [];
    for (let k = Math.min(i, below(4)); k > 0; --k) {
      const rule = RULES[below(RULES.length)]!.rule;
      edges.push({ from: i - 1 - below(Math.min(i, 12)), rule, lag_ns: below(50), binds: false });
    }
    nodes.push(node(i, kind, name, i === 0 ? 0 : below(200), below(500), edges));
  }
  return documentOf(nodes, schedule(buildGraph(documentOf(nodes, 0)), NO_CHANGES).makespan);
}

/** Latest end by recursion over events, as the schema puts it: slow and unlike the engine. */
function slowMakespan(document: GraphDocument, factorOf: (node: GraphNode) => number): number {
  const nodes = document.nodes!;
  const joins = new Map(document.graph.rules.map((rule) => [rule.rule, rule]));
  const known = new Map<string, number>();
  const time = (id: number, event: string): number => {
    const key = `${event}${id}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const into = nodes[id]!.edges.filter((edge) => joins.get(edge.rule)!.to === event)
      .map((edge) => time(edge.from, joins.get(edge.rule)!.from) + edge.lag_ns);
    if (event === 'end') into.push(time(id, 'start') + Math.round(nodes[id]!.own_ns * factorOf(nodes[id]!)));
    else if (into.length === 0) into.push(nodes[id]!.start_ns);
    const result = Math.max(...into);
    known.set(key, result);
    return result;
  };
  return nodes.reduce((latest, _, id) => Math.max(latest, time(id, 'end')), 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

describe('schedule', () => {
  it('agrees with a longest path by recursion on random graphs', () => {
    for (let seed = 1; seed <= 60; ++seed) {
      const document = randomDocument(40, seed);
      const graph = buildGraph(document);
      for (const [alpha, copies, launches] of [[0.5, 1, 1], [0, 0.25, 1], [1, 1, 0], [2, 0, 0.5]]) {
        const changes: Changes = { kernels: new Map([['alpha', alpha!]]), copies: copies!, launches: launches!, dropWaits: false };
        const factor = (of: GraphNode) =>
          (of.name === 'alpha' ? alpha! : 1) *
          (of.kind === 'copy' || of.name.startsWith('__amd') ? copies! : 1) *
          (of.name === 'hipLaunchKernel' ? launches! : 1);
        expect(schedule(graph, changes).makespan).toBe(slowMakespan(document, factor));
      }
    }
  });

  it('has a path that adds up to the run, whatever changes', () => {
    for (let seed = 1; seed <= 60; ++seed) {
      const graph = buildGraph(randomDocument(60, seed));
      for (const changes of [NO_CHANGES, { ...NO_CHANGES, copies: 0 }, { ...NO_CHANGES, dropWaits: true }]) {
        const times = schedule(graph, changes);
        const path = criticalPath(graph, times);
        expect(sum(path.spent)).toBe(times.makespan);
        expect(path.spent.every((time) => time >= 0)).toBe(true);
      }
    }
  });

  it('never gets longer when work gets shorter, and is convex but for rounding', () => {
    for (let seed = 1; seed <= 40; ++seed) {
      const document = randomDocument(50, seed);
      const graph = buildGraph(document);
      const at = (factor: number) =>
        schedule(graph, { ...NO_CHANGES, kernels: new Map([['alpha', factor]]) }).makespan;
      const dispatches = document.nodes!.filter((one) => one.name === 'alpha').length;
      const points = gainPoints(at(1), [1.5, 2, null].map((factor) => ({
        factor, makespan_ns: at(factor === null ? 0 : 1 / factor),
      })));
      for (let factor = 0; factor <= 1; factor += 0.03125) {
        const bound = atMost(points, factor, dispatches)!;
        expect(at(factor)).toBeLessThanOrEqual(bound.makespan + bound.rounding_ns);
      }
      expect(atMost(points, 0.5, dispatches)).toEqual({ makespan: at(0.5), exact: true, rounding_ns: 0 });
      expect(atMost(points, 1.5, dispatches)).toBeNull();
    }
  });

  it('refuses a graph whose edges go back', () => {
    const bad = documentOf([node(0, 'call', 'a', 0, 1, [{ from: 0, rule: 'launch', lag_ns: 0, binds: true }])], 1);
    expect(() => buildGraph(bad)).toThrow('does not come before');
  });

  it('says why there is no graph', () => {
    expect(whyNoGraph({ ...documentOf([], 0), nodes: null })).toContain('does not hold');
    expect(whyNoGraph({ ...documentOf([node(0, 'call', 'a', 0, 1)], 1), segment: 2 })).toContain('segment');
    expect(whyNoGraph(documentOf([node(0, 'call', 'a', 0, 1)], 1))).toBeNull();
  });

  it('knows when nothing is changed', () => {
    expect(changesNothing({ ...NO_CHANGES, kernels: new Map([['a', 1]]) })).toBe(true);
    expect(changesNothing({ ...NO_CHANGES, launches: 0 })).toBe(false);
  });
});

describe('command', () => {
  it('names exactly one kernel, whatever it is called', () => {
    expect(exactPattern('void k<128, 16>(float*)')).toBe('^void k<128, 16>\\(float\\*\\)$');
    expect(shellWord("a'b")).toBe(`'a'\\''b'`);
    expect(whatIfArguments(new Map([['k', 2], ['unchanged', 1]]), 1, Infinity, false))
      .toEqual(['--what-if', 'kernel:^k$=2x', '--what-if', 'launch=0']);
  });
});

// The program's own answers, on the sample. ROCM_PERF: the binary; PERFLAB_SHARE: the folder of the sample.
const program = process.env.ROCM_PERF;
const sample = join(process.env.PERFLAB_SHARE ?? fileURLToPath(new URL('../../build/dev/share', import.meta.url)), 'decode_step.db');
const cannot = program === undefined ? 'ROCM_PERF is not set' : existsSync(sample) ? null : `${sample} is not there`;

describe.skipIf(cannot !== null)(`the program's answers${cannot === null ? '' : ` (skipped: ${cannot})`}`, () => {
  const ask = (args: string[], file = sample) =>
    JSON.parse(execFileSync(program!, ['critical-path', file, '--json', ...args], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }).toString());
  const attributed = ({ attribution: { kernel, copy, launch_latency, host, idle } }: Record<string, any>): number[] =>
    [kernel, copy, launch_latency, host.calls, host.sync_return, host.code, idle].map((part) => part.time_ns);
  let document: GraphDocument & Record<string, any>;
  let graph: Graph;
  beforeAll(() => {
    document = ask(['--full']);
    graph = buildGraph(document);
  }, 60_000);

  it('are the recorded run when nothing changes: times, attribution, kernels', () => {
    const times = schedule(graph, NO_CHANGES);
    expect(times.makespan).toBe(document.critical_path_ns);
    document['nodes']!.forEach((one, i) => {
      const recorded = one as typeof one & { duration_ns: number };
      if (times.start[i] !== one.start_ns || times.end[i] !== one.start_ns + recorded.duration_ns)
        expect.fail(`node ${i} is not where it was recorded`);
    });
    const path = criticalPath(graph, times);
    expect(path.spent).toEqual(attributed(document));
    for (const one of document.kernels)
      expect(path.names.find((name) => name.name === one.name)?.time ?? 0).toBe(one.path_ns);
  });

  // Orders that the sample does not have: overlap in a queue, events, null stream, waits for signals.
  const recorded = join(process.env.PERFLAB_SHARED ?? fileURLToPath(new URL('../../../shared', import.meta.url)), 'data/rocpd/emulated_mi300x');
  for (const name of ['streams', 'multi_runtime', 'rawhsa', 'single', 'multiproc/process_2'])
    it.skipIf(!existsSync(join(recorded, `${name}.db`)))(`are the same for ${name}.db: times, attribution, gains`, () => {
      const other = ask(['--full'], join(recorded, `${name}.db`));
      const made = buildGraph(other);
      const times = schedule(made, NO_CHANGES);
      expect(times.makespan).toBe(other.critical_path_ns);
      expect(criticalPath(made, times).spent).toEqual(attributed(other));
      for (const kernel of other.kernels)
        for (const gain of kernel.gains ?? [])
          expect(schedule(made, { ...NO_CHANGES, kernels: new Map([[kernel.name, gain.factor === null ? 0 : 1 / gain.factor]]) }).makespan).toBe(gain.makespan_ns);
    }, 60_000);

  it('are the same gains for every kernel', () => {
    for (const kernel of document.kernels)
      for (const gain of kernel.gains ?? []) {
        const factor = gain.factor === null ? 0 : 1 / gain.factor;
        const changes = { ...NO_CHANGES, kernels: new Map([[kernel.name, factor]]) };
        expect(schedule(graph, changes).makespan).toBe(gain.makespan_ns);
      }
  });

  it('are the same for changes together', () => {
    const names: string[] = document.kernels.map((kernel: { name: string }) => kernel.name);
    const cases: { kernels: [string, number][]; copies?: number; launches?: number; drop?: boolean }[] = [
      { kernels: [[names[0]!, 3]] },
      { kernels: [[names[1]!, 1.25], [names[2]!, 10]] },
      { kernels: names.map((name): [string, number] => [name, Infinity]) },
      { kernels: names.map((name): [string, number] => [name, 1.75]), copies: 4, launches: Infinity },
      { kernels: [], launches: 0.5 },
      { kernels: [[names[0]!, 0.3]], copies: 0.1 },
      { kernels: [[names[3]!, 2.5]], drop: true },
    ];
    for (const { kernels, copies = 1, launches = 1, drop = false } of cases) {
      const answer = ask(whatIfArguments(new Map(kernels), copies, launches, drop)).what_if;
      const mine = schedule(graph, {
        kernels: new Map(kernels.map(([name, speedup]) => [name, 1 / speedup])),
        copies: 1 / copies, launches: 1 / launches, dropWaits: drop,
      });
      expect(mine.makespan, JSON.stringify({ kernels, copies, launches, drop })).toBe(answer.makespan_ns);
      expect(answer.bound).toBe(drop);
    }
  }, 60_000);
});
