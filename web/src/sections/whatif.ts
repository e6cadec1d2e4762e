// What the run would take if: sliders that recompute the schedule of the whole graph in the page (whatif-engine.ts), exactly as
// `rocm-perf critical-path --what-if`. Without the graph in the document: one kernel at a time, as a bound (whatif-bound.ts).
import './whatif.css';
import { h, longName, uniqueId } from '../dom';
import * as format from '../format';
import type { Section } from '../section';
import { atMost, gainPoints } from '../whatif-bound';
import { shellWord, whatIfArguments } from '../whatif-command';
import { changesNothing, criticalPath, NO_CHANGES, schedule, type Path } from '../whatif-engine';
import { buildGraph, SPENT, TARGET_COPY, TARGET_KERNEL, TARGET_LAUNCH, whyNoGraph, type Graph } from '../whatif-graph';
import { movesTo, outcomeText, SPEEDUPS, speedupText, type Outcome, type Setting } from '../whatif-text';
import { inTerms } from '../words';
import { eachDocument, SPENT_KINDS, stackedBar, swatch, type Dag } from './criticalpath-parts';

/** Kernels that have a slider at first; others are added by choice. */
const SLIDERS = 6;

/** Answers by the graph. */
function byGraph(graph: Graph): (setting: Setting) => Outcome {
  return (setting) => {
    const times = schedule(graph, {
      kernels: new Map([...setting.kernels].map(([name, speedup]) => [name, 1 / speedup])),
      copies: 1 / setting.copies, launches: 1 / setting.launches, dropWaits: setting.dropWaits,
    });
    return { makespan: times.makespan, exact: true, rounding_ns: 0, path: criticalPath(graph, times) };
  };
}

/** Answers for one kernel alone, between the exact points of the document. */
function byGains(dag: Dag): (setting: Setting) => Outcome {
  return (setting) => {
    const changed = [...setting.kernels].find(([, speedup]) => speedup !== 1);
    const kernel = changed && dag.kernels.find((one) => one.name === changed[0]);
    const bound = kernel?.gains ? atMost(gainPoints(dag.critical_path_ns, kernel.gains), 1 / changed![1], kernel.dispatches) : null;
    if (bound === null) return { makespan: dag.critical_path_ns, exact: true, rounding_ns: 0, path: null };
    return { ...bound, path: null };
  };
}

/** A slider over SPEEDUPS with its label and value. */
class Slider {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly output: HTMLElement;

  constructor(readonly name: string, label: HTMLElement, note: string, private readonly changed: () => void) {
    const id = uniqueId('what-if');
    this.input = h('input', { type: 'range', id, min: 0, max: SPEEDUPS.length - 1, step: 1, value: 0, 'data-what': name, oninput: () => this.show(true) });
    this.output = h('output', { for: id });
    this.element = h('div', { class: 'slider' }, h('label', { for: id }, label, h('span', { class: 'muted' }, ` ${note}`)), this.input, this.output);
    this.show(false);
  }

  get speedup(): number {
    return SPEEDUPS[Number(this.input.value)] ?? 1;
  }
  reset(): void {
    this.input.value = '0';
    this.show(false);
  }
  private show(tell: boolean): void {
    const text = speedupText(this.speedup);
    this.output.textContent = text;
    this.input.setAttribute('aria-valuetext', text);
    this.element.toggleAttribute('data-changed', this.speedup !== 1);
    if (tell) this.changed();
  }
}

/** The sliders of one document with their outcome. */
class WhatIf {
  private readonly kernels: Slider[] = [];
  private readonly others: Slider[] = [];
  private readonly waits: HTMLInputElement;
  private readonly list = h('div', { class: 'sliders' });
  private readonly outcome = h('p', { class: 'what-if-outcome', role: 'status', 'aria-live': 'polite' });
  private readonly after = h('div');
  private readonly command = h('code', { class: 'what-if-command' });
  private readonly answer: (setting: Setting) => Outcome;
  private readonly recorded: Path | null;
  private pending = false;

  constructor(private readonly dag: Dag, private readonly graph: Graph | null) {
    this.answer = graph ? byGraph(graph) : byGains(dag);
    this.recorded = graph ? criticalPath(graph, schedule(graph, NO_CHANGES)) : null;
    this.waits = h('input', { type: 'checkbox', id: uniqueId('drop-waits'), onchange: () => this.changed() });
  }

  mount(host: HTMLElement): void {
    const { dag, graph } = this;
    for (const kernel of dag.kernels.filter((one) => graph !== null || one.gains !== null).slice(0, SLIDERS)) this.addKernel(kernel);
    if (graph) {
      const any = (target: number): boolean => graph.targets.some((bits) => (bits & target) !== 0);
      if (any(TARGET_COPY)) this.add(this.others, new Slider('copy', h('span', {}, 'copies'), 'all of them', () => this.changed()));
      if (any(TARGET_LAUNCH)) this.add(this.others, new Slider('launch', h('span', {}, 'launch calls'), 'the time inside them; the latency behind them stays', () => this.changed()));
    }
    host.append(this.outcome, this.after, this.list, h('div', { class: 'what-if-tools' }, this.chooser(),
      graph ? h('label', { class: 'check' }, this.waits, ' the host never waits for the GPU (a bound)') : null,
      h('button', { type: 'button', class: 'tool', onclick: () => this.reset() }, 'As recorded')),
    h('p', { class: 'what-if-same' }, 'The same, exactly, from the terminal:'), this.command);
    this.update();
  }

  private add(to: Slider[], slider: Slider): void {
    to.push(slider);
    this.list.append(slider.element);
  }

  private addKernel(kernel: Dag['kernels'][number]): void {
    const slider: Slider = new Slider(kernel.name, longName(kernel.name), `${format.duration(kernel.path_ns)} on the path`, () => {
      if (!this.graph) for (const other of this.kernels) if (other !== slider) other.reset();  // a bound is of one kernel alone
      this.changed();
    });
    this.kernels.push(slider);
    const before = this.others[0]?.element ?? null;
    this.list.insertBefore(slider.element, before);
  }

  /** Choice of a further kernel. */
  private chooser(): HTMLElement | null {
    const left = this.dag.kernels.filter((kernel) => (this.graph !== null || kernel.gains !== null) && !this.kernels.some((slider) => slider.name === kernel.name));
    if (left.length === 0) return null;
    const select = h('select', {
      'aria-label': 'Add a slider for another kernel', onchange: () => {
        const kernel = left[Number(select.value)];
        if (!kernel) return;
        select.selectedOptions[0]!.remove();
        select.value = '';
        this.addKernel(kernel);
      },
    }, h('option', { value: '' }, 'Another kernel …'), left.map((kernel, i) => h('option', { value: i }, kernel.name)));
    return select;
  }

  private setting(): Setting {
    const of = (name: string): number => this.others.find((slider) => slider.name === name)?.speedup ?? 1;
    return { kernels: new Map(this.kernels.map((slider) => [slider.name, slider.speedup])), copies: of('copy'), launches: of('launch'), dropWaits: this.waits.checked };
  }

  private reset(): void {
    for (const slider of [...this.kernels, ...this.others]) slider.reset();
    this.waits.checked = false;
    this.update();
  }

  /** Once a frame, however fast the slider moves. */
  private changed(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.update();
    });
  }

  private update(): void {
    const { dag } = this;
    const setting = this.setting();
    const outcome = this.answer(setting);
    const recorded = dag.critical_path_ns;
    const unchanged = changesNothing({ kernels: setting.kernels, copies: setting.copies, launches: setting.launches, dropWaits: setting.dropWaits });
    this.outcome.textContent = unchanged ? `As recorded the ${dag.segment === null ? 'run' : 'segment'} takes ${format.duration(recorded)}. Move a slider.` : outcomeText(recorded, outcome, setting, dag.segment !== null);
    Object.assign(this.outcome.dataset, { makespan: outcome.makespan, exact: outcome.exact });
    const args = whatIfArguments(setting.kernels, setting.copies, setting.launches, setting.dropWaits);
    const segment = dag.segment === null ? [] : ['--segment', String(dag.segment)];
    this.command.textContent = ['rocm-perf', 'critical-path', ...dag.environment.files, ...segment, ...args].map(shellWord).join(' ');
    this.after.replaceChildren(...this.bars(outcome, unchanged), ...this.moves(outcome, unchanged));
  }

  private bars(outcome: Outcome, unchanged: boolean): HTMLElement[] {
    const whole = Math.max(this.dag.critical_path_ns, outcome.makespan);
    const bar = (title: string, path: Path): HTMLElement => h('div', { class: 'bar-row' }, h('span', { class: 'muted' }, title),
      stackedBar(SPENT.map((_, i) => ({ title: SPENT_KINDS[i]!.title, value: path.spent[i]!, colour: SPENT_KINDS[i]!.colour })), whole, `${title}: ${SPENT.map((_, i) => `${SPENT_KINDS[i]!.title} ${format.duration(path.spent[i]!)}`).join(', ')}`));
    if (this.recorded && outcome.path) {
      const { path } = outcome, before = this.recorded;
      const legend = h('div', { class: 'bar-legend' }, SPENT_KINDS.filter((_, i) => before.spent[i]! > 0 || path.spent[i]! > 0).map((kind) => h('span', { title: inTerms(kind.meaning) }, swatch(kind.colour), kind.title)));
      return [bar('recorded', before), ...(unchanged ? [] : [bar('then', path)]), legend];
    }
    const plain = (title: string, time: number): HTMLElement => h('div', { class: 'bar-row' }, h('span', { class: 'muted' }, title), stackedBar([{ title, value: time, colour: 'series-1' }], whole, `${title}: ${format.duration(time)}`));
    return [plain('recorded', this.dag.critical_path_ns), ...(unchanged ? [] : [plain(outcome.exact ? 'then' : 'then, at most', outcome.makespan)])];
  }

  /** Where the critical path goes. */
  private moves(outcome: Outcome, unchanged: boolean): HTMLElement[] {
    if (unchanged || !this.recorded || !outcome.path) return [];
    const more = movesTo(this.recorded, outcome.path);
    if (more.length === 0) return [h('p', { class: 'what-if-moves muted' }, 'The critical path stays where it was.')];
    return [h('p', { class: 'what-if-moves' }, 'The critical path moves to ', more.slice(0, 3).map((one, i) => [i > 0 ? ', ' : '', longName(one.name), h('span', { class: 'muted' }, ` (${format.duration(one.more)} more of it)`)]), more.length > 3 ? h('span', { class: 'muted' }, ` and ${format.count(more.length - 3)} more`) : null, '.')];
  }
}

export const whatIf: Section = {
  id: 'what-if',
  title: 'What if',
  applies: (docs) => docs.every('dag').some(({ document }) => document.kernels.length > 0),
  mount(host, context) {
    eachDocument(host, context, 'dag', (part, dag) => {
      if (dag.kernels.length === 0) return;
      const why = whyNoGraph(dag);
      part.append(h('p', { class: 'lead' }, why === null
        ? 'Sliders make kernels, copies or launch calls faster; the whole graph is scheduled anew in this page, to the nanosecond as the program does it.'
        : 'Sliders make one kernel faster. The run’s time is a convex function of the kernel’s, so between exact points a straight line is the most that it takes.'));
      if (why !== null) part.append(context.note(`Here ${why}: gains are lower bounds.`, 'The command below gives the exact figure.'));
      const graph = why === null ? buildGraph(dag) : null;
      if (graph && !graph.targets.some((bits) => bits & TARGET_KERNEL)) return;
      if (!graph && dag.kernels.every((kernel) => kernel.gains === null)) {
        part.append(context.note('No gain of a kernel is in the document either, so there is nothing to slide.', 'rocm-perf critical-path FILE --what-if kernel:NAME=2x computes one.'));
        return;
      }
      new WhatIf(dag, graph).mount(part);
    });
  },
};
