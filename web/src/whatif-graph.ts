// The graph of a run in typed arrays, as `nodes` of dag.json has it. What a node and an edge mean:
// schemas/dag.schema.json (nodes); which events a rule joins: `graph.rules` of the same document.
// What the changes of --what-if apply to: src/analyze/critical_path/gains.cpp.
import { isLaunchCall } from './launch-calls';

/** The fields of dag.json that the graph is made of. */
export interface GraphDocument {
  critical_path_ns: number;
  segment: number | null;
  graph: { rules: { rule: string; from: string; to: string }[] };
  nodes: GraphNode[] | null;
}

export interface GraphNode {
  id: number;
  kind: string;
  name: string;
  start_ns: number;
  own_ns: number;
  edges: { from: number; rule: string; lag_ns: number; binds: boolean }[];
}

/** What a stretch of the path is spent on, as `spent` of dag.json orders it. */
export const SPENT = [
  'kernel', 'copy', 'launch_latency', 'host_call', 'sync_return', 'host_code', 'idle',
] as const;
export type Spent = (typeof SPENT)[number];
const KERNEL = 0, COPY = 1, LAUNCH_LATENCY = 2, HOST_CALL = 3, SYNC_RETURN = 4, HOST_CODE = 5, IDLE = 6;

/** The HIP runtime copies with kernels of its own where no copy engine does. */
const COPY_KERNELS = '__amd_rocclr_copy';

/** Bits of Graph.targets. */
export const TARGET_KERNEL = 1, TARGET_COPY = 2, TARGET_LAUNCH = 4;
/** Bits of Graph.edgeEnds. */
export const FROM_END = 1, INTO_END = 2;

export interface Graph {
  size: number;
  edges: number;
  /** The document's critical path, ns. */
  recorded: number;
  /** By node; ns since the earliest start. `start` counts for nodes without an edge into it. */
  start: Float64Array;
  own: Float64Array;
  /** By node: 1 if an edge goes into its start. */
  bound: Uint8Array;
  /** By node: what of --what-if can mean it. */
  targets: Uint8Array;
  /** By node: SPENT of the time inside it. */
  inside: Uint8Array;
  /** By node: index into names. */
  name: Uint32Array;
  names: string[];
  /** Of edges into the node; one more entry than nodes. */
  firstEdge: Uint32Array;
  from: Uint32Array;
  lag: Float64Array;
  edgeEnds: Uint8Array;
  /** 1: binds in the recorded schedule. */
  binds: Uint8Array;
  /** By edge: SPENT of the wait behind it. */
  behind: Uint8Array;
  /** By edge: 1 for submission_order, whose time belongs to its origin. */
  ofOrigin: Uint8Array;
  edgeRule: Uint8Array;
  rules: string[];
}

/** Which kind of time a wait behind an edge is: src/analyze/critical_path/solve.cpp. */
function spentBehind(rule: string): number {
  switch (rule) {
    case 'program_order':
      return HOST_CODE;
    case 'launch':
    case 'launch_inside':
      return LAUNCH_LATENCY;
    case 'stream_sync':
    case 'device_sync':
    case 'event_sync':
    case 'blocking_call':
    case 'implicit_sync':
    case 'signal_wait':
      return SYNC_RETURN;
    default:
      return IDLE;
  }
}

function insideOf(kind: string): number {
  return kind === 'dispatch' ? KERNEL : kind === 'copy' ? COPY : HOST_CALL;
}

function targetsOf(kind: string, name: string): number {
  if (kind === 'dispatch') return TARGET_KERNEL | (name.startsWith(COPY_KERNELS) ? TARGET_COPY : 0);
  if (kind === 'copy') return TARGET_COPY;
  return isLaunchCall(name) ? TARGET_LAUNCH : 0;
}

/** Why the document has no graph to compute with; null when it has. */
export function whyNoGraph(document: GraphDocument): string | null {
  if (document.nodes === null) return 'the document does not hold the graph itself';
  if (document.segment !== null)
    return 'the document holds one segment; what follows it depends on the rest of the run';
  if (document.nodes.length === 0) return 'the run has no operations';
  return null;
}

/** The graph of a document that whyNoGraph has nothing against. Throws on edges that do not go
 * forward: the document is then not what its schema says. */
export function buildGraph(document: GraphDocument): Graph {
  const nodes = document.nodes ?? [];
  const ends = new Map<string, number>();
  for (const rule of document.graph.rules)
    ends.set(rule.rule, (rule.from === 'end' ? FROM_END : 0) | (rule.to === 'end' ? INTO_END : 0));
  const rules = [...ends.keys()];
  const ruleIndex = new Map(rules.map((rule, i) => [rule, i]));
  const size = nodes.length;
  let edges = 0;
  for (const node of nodes) edges += node.edges.length;
  const graph: Graph = {
    size, edges, recorded: document.critical_path_ns,
    start: new Float64Array(size), own: new Float64Array(size), bound: new Uint8Array(size),
    targets: new Uint8Array(size), inside: new Uint8Array(size), name: new Uint32Array(size), names: [],
    firstEdge: new Uint32Array(size + 1), from: new Uint32Array(edges), lag: new Float64Array(edges),
    edgeEnds: new Uint8Array(edges), binds: new Uint8Array(edges), behind: new Uint8Array(edges),
    ofOrigin: new Uint8Array(edges), edgeRule: new Uint8Array(edges), rules,
  };
  const nameIndex = new Map<string, number>();
  let edge = 0;
  nodes.forEach((node, i) => {
    let name = nameIndex.get(node.name);
    if (name === undefined) {
      name = graph.names.length;
      nameIndex.set(node.name, name);
      graph.names.push(node.name);
    }
    graph.name[i] = name;
    graph.start[i] = node.start_ns;
    graph.own[i] = node.own_ns;
    graph.targets[i] = targetsOf(node.kind, node.name);
    graph.inside[i] = insideOf(node.kind);
    graph.firstEdge[i] = edge;
    for (const into of node.edges) {
      if (!(into.from < i)) throw new Error(`node ${i} follows node ${into.from}, which does not come before it`);
      const end = ends.get(into.rule) ?? 0;
      if ((end & INTO_END) === 0) graph.bound[i] = 1;
      graph.from[edge] = into.from;
      graph.lag[edge] = into.lag_ns;
      graph.edgeEnds[edge] = end;
      graph.binds[edge] = into.binds ? 1 : 0;
      graph.behind[edge] = spentBehind(into.rule);
      graph.ofOrigin[edge] = into.rule === 'submission_order' ? 1 : 0;
      graph.edgeRule[edge] = ruleIndex.get(into.rule) ?? 0;
      ++edge;
    }
  });
  graph.firstEdge[size] = edge;
  return graph;
}
