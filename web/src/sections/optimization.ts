// The optimisation ledger: every candidate, what its guards, build, proof and times said, the decision that follows; the final proof and
// what it means for the whole run.
import { h, type Child } from '../dom';
import type { DocumentTypes } from '../documents';
import * as format from '../format';
import type { Context, Section } from '../section';
import { createTable } from '../table';
import { measured, outcomeBadge } from './comparison';
import { forestChart, type Tone } from './forest';
import { factList } from './summary';

type Optimization = DocumentTypes['optimization'];
type Candidate = Optimization['candidates'][number];
type Timing = NonNullable<Candidate['measurement']>;

const toneOf = (outcome: string): Tone => (outcome === 'accepted' ? 'good' : outcome === 'open' ? 'warn' : 'plain');
const nameOf = (candidate: Candidate): string => (candidate.summary ?? problemText(candidate) ?? 'no summary').split(':')[0]!;
function problemText(candidate: Candidate): string | null {
  return candidate.problem && `${format.words(candidate.problem.name)}${candidate.problem.detail ? `: ${candidate.problem.detail}` : ''}`;
}

function proof(title: string, found: Optimization['original']['proof']): Child {
  return [h('h4', {}, title), h('ul', {}, found.checks.map((check) => h('li', {}, h('span', { class: check.passed ? 'passed' : 'failed-check' }, check.passed ? 'passed' : 'failed'), ` ${format.words(check.name)}${check.detail ? `: ${check.detail}` : ''}`))), found.sentence ? h('p', {}, found.sentence) : null];
}

function timing(found: Timing): Child {
  const { comparison } = found;
  const facts: [string, Child][] = [['Order of the runs', h('span', { class: 'mono' }, found.order)], ['Samples', `${found.samples.before.length} before, ${found.samples.after.length} after`]];
  if (comparison) {
    facts.push(['Median before', format.known(comparison.median_before, (median) => measured(median, found.unit))], ['Median after', format.known(comparison.median_after, (median) => measured(median, found.unit))],
      ['After / before', `${format.known(comparison.ratio, (ratio) => format.fixed(ratio, 3))} (${format.known(comparison.low, (low) => format.fixed(low, 3))} to ${format.known(comparison.high, (high) => format.fixed(high, 3))})`], ['Confidence', format.percent(found.confidence)]);
  }
  for (const failure of [found.failure_before, found.failure_after]) if (failure) facts.push(['Failed', failure]);
  return [h('h4', {}, 'Times, taken in turns'), factList(facts)];
}

function details(candidate: Candidate): HTMLElement {
  const guards = candidate.guards ?? [];
  const failed = guards.filter((guard) => !guard.passed);
  const build = candidate.build;
  return h('div', { class: 'verdict' },
    candidate.summary ? h('p', {}, candidate.summary) : null, candidate.problem ? h('p', { class: 'bad-text' }, problemText(candidate)) : null,
    h('h4', {}, 'Guards on the source'), failed.length === 0 ? h('p', {}, guards.length === 0 ? 'none ran' : `${guards.length} passed: ${guards.map((guard) => format.words(guard.name)).join(', ')}`) : h('ul', {}, failed.map((guard) => h('li', { class: 'bad-text' }, `${format.words(guard.name)}: ${guard.detail ?? guard.reason ?? 'failed'}`))),
    build ? [h('h4', {}, 'Build'), h('p', {}, `${build.compiled ? 'compiled' : 'did not compile'}${build.reproducible === null ? '' : build.reproducible ? ', reproducible' : ', not reproducible'}`), build.compiler_text ? h('pre', { class: 'mono' }, build.compiler_text) : null] : null,
    candidate.object && candidate.object.changes.length > 0 ? [h('h4', {}, 'Resources'), h('ul', {}, candidate.object.changes.map((change) => h('li', { class: change.regression ? 'bad-text' : '' }, `${format.words(change.figure)}: ${format.known(change.before, format.number)} before, ${format.known(change.after, format.number)} after`)))] : null,
    candidate.proof ? proof('Proof', candidate.proof) : null, candidate.measurement ? timing(candidate.measurement) : null,
    h('p', { class: 'muted' }, `Judged against ${candidate.against === 0 ? 'the original' : `candidate ${candidate.against}`}; text in `, h('code', {}, candidate.file ?? 'no file')));
}

function ledger(document: Optimization, id: string): HTMLElement {
  return createTable<Candidate>({
    id, caption: 'Candidates', rows: document.candidates, filter: (candidate) => `${candidate.summary ?? ''} ${candidate.decision.outcome} ${candidate.decision.reason ?? ''}`, filterLabel: 'Filter by text or outcome',
    details, detailsLabel: (candidate) => `candidate ${candidate.number}`,
    columns: [
      { title: '#', numeric: true, key: (candidate) => candidate.number, show: (candidate) => candidate.number },
      { title: 'Candidate', wide: true, show: (candidate) => [h('strong', {}, nameOf(candidate)), h('div', { class: 'muted clamp' }, candidate.summary ?? problemText(candidate) ?? '')] },
      { title: 'Decision', key: (candidate) => candidate.decision.outcome, show: (candidate) => outcomeBadge(candidate.decision.outcome, toneOf(candidate.decision.outcome)) },
      { title: 'Reason', key: (candidate) => candidate.decision.reason, show: (candidate) => (candidate.decision.reason ? format.words(candidate.decision.reason) : '') },
      { title: 'In words', wide: true, show: (candidate) => candidate.decision.sentence ?? '' },
      { title: 'Proof', show: (candidate) => (candidate.proof ? (candidate.proof.reason === null ? 'passed' : format.words(candidate.proof.reason)) : h('span', { class: 'muted' }, 'not reached')) },
    ],
  }).element;
}

function projection(found: NonNullable<Optimization['projection']>): Child {
  return [h('h3', {}, 'The whole run'), h('p', {}, found.sentence), factList([
    ['Recorded', format.duration(found.makespan_ns)], ['Projected', `${format.duration(found.projected_ns)} (${format.duration(found.projected_low_ns)} to ${format.duration(found.projected_high_ns)})`],
    ['Of the critical path', `${format.duration(found.critical_path_ns)} in ${format.count(found.dispatches)} of its dispatches`]])];
}

function oneDocument(host: HTMLElement, document: Optimization, id: string, context: Context): void {
  const { source, accepted, decision } = document;
  host.append(h('p', { class: `result ${toneOf(decision.outcome)}` }, h('strong', {}, decision.outcome === 'accepted' ? 'Accepted. ' : decision.outcome === 'open' ? 'Open. ' : 'Nothing accepted. '), decision.sentence ?? ''),
    factList([['Kernel', h('code', {}, source.signature)], ['Source', source.name], ['Built for', source.host ? 'this machine\'s CPU' : (source.architecture ?? format.UNKNOWN)], ['Proposals by', document.proposer], ['A gain counts from', format.percent(document.options.min_gain)], ['It ended because', document.ended.sentence ?? format.words(document.ended.because)],
      ...(accepted?.speed_up ? [['Speed-up', `${format.fixed(accepted.speed_up.value, 3)} (${format.known(accepted.speed_up.low, (low) => format.fixed(low, 3))} to ${format.known(accepted.speed_up.high, (high) => format.fixed(high, 3))})`] as const] : [])]));
  const timed = document.candidates.filter((candidate) => candidate.measurement?.comparison);
  if (timed.length > 0) {
    const better = timed[0]!.measurement!.larger_is_better;
    const margin = document.options.min_gain;
    forestChart(host, {
      id: `${id}-forest`, label: `Ratio after / before with its interval for ${format.counted(timed.length, 'timed candidate')}`, axis: `after / before (${better ? 'right of 1: better' : 'left of 1: faster'})`, same: better ? [1, 1 + margin] : [1 / (1 + margin), 1],
      rows: timed.map((candidate) => { const found = candidate.measurement!.comparison!; return { label: `${candidate.number} ${nameOf(candidate)}`, ratio: found.ratio, low: found.low, high: found.high, tone: toneOf(candidate.decision.outcome), verdict: `${candidate.decision.outcome}${candidate.decision.reason ? `: ${format.words(candidate.decision.reason)}` : ''}`, tip: [['Against', candidate.against === 0 ? 'the original' : `candidate ${candidate.against}`], ['In words', candidate.decision.sentence ?? '']] }; }),
    }, context);
  }
  host.append(h('h3', {}, 'What was tried'), document.candidates.length > 0 ? ledger(document, `${id}-ledger`) : context.note('no candidate was proposed'));
  if (document.final) host.append(h('h3', {}, 'The final proof'), h('p', {}, `Candidate ${document.final.number} once more, from the start.`), h('div', {}, [proof('Correctness', document.final.proof), document.final.measurement ? timing(document.final.measurement) : null]));
  if (document.projection) host.append(h('div', {}, projection(document.projection)));
  else { const why = document.missing.find((entry) => entry.field === 'projection'); if (why) host.append(context.note(`What it means for the whole run is unknown: ${why.reason}.`, why.remedy)); }
}

export const optimization: Section = {
  id: 'optimization',
  title: 'Optimisation ledger',
  applies: (docs) => docs.has('optimization'),
  mount(host, context) {
    context.docs.every('optimization').forEach(({ document, file }, index) => {
      if (index > 0) host.append(h('h3', {}, file ?? `Optimisation ${index + 1}`));
      oneDocument(host, document, `optimization-${index}`, context);
    });
  },
};
