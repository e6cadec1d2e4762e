// The traced waves of an engine over time: a row for each slot, each column divided by the states in it, drawn
// on a canvas.
import { tooltipBox } from '../chart';
import { h } from '../dom';
import * as format from '../format';
import { onTheme, theme } from '../theme';
import { stateAt, stateColumns, WAVE_STATES, waveRows, type TracedWave } from './threadtrace-model';
import { ticks } from './timeline-model';

/** What fits on A4, CSS pixels. */
const PRINT_WIDTH = 670;
const ROW = 17, AXIS = 18, LABEL = 92;
/** States from top to bottom of a row: executing at its foot. */
const DRAWN = [0, 1, 4, 3, 2];

/** Draws the waves of one engine. */
export class WaveRows {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { role: 'img' });
  private readonly tip = h('div', { class: 'timeline-tip', hidden: true });
  private readonly rows: ReturnType<typeof waveRows>;
  private readonly from: number;
  private readonly to: number;
  private width = 600;

  constructor(waves: readonly TracedWave[], engine: number) {
    this.rows = waveRows(waves, engine);
    const all = this.rows.flatMap((row) => row.waves);
    this.from = all.reduce((first, wave) => Math.min(first, wave.begin), Infinity);
    this.to = all.reduce((last, wave) => Math.max(last, wave.end), -Infinity);
    this.canvas.setAttribute('aria-label', `${format.counted(all.length, 'traced wave')} of shader engine ${engine} over ${format.count(this.to - this.from)} cycles, by state`);
    this.element = h('div', { class: 'waves-box' }, this.canvas, this.tip);
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => (this.tip.hidden = true));
  }

  /** To be called when the element is in the page. */
  start(): void {
    const fit = (width: number): void => {
      if (width <= 0) return;
      this.width = width;
      this.draw();
    };
    new ResizeObserver(() => fit(this.element.clientWidth - 16)).observe(this.element);
    fit(this.element.clientWidth - 16);
    onTheme(() => this.draw());
    window.addEventListener('beforeprint', () => fit(Math.min(PRINT_WIDTH, this.width)));
    window.addEventListener('afterprint', () => fit(this.element.clientWidth - 16));
  }

  private get label(): number {
    return this.width < 560 ? 0 : LABEL;
  }
  private x(cycle: number): number {
    return this.label + ((cycle - this.from) / Math.max(1, this.to - this.from)) * (this.width - this.label);
  }

  private draw(): void {
    const scale = Math.max(window.devicePixelRatio || 1, 1), height = AXIS + this.rows.length * ROW;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext('2d')!;
    const colours = theme();
    const style = getComputedStyle(document.documentElement);
    const state = WAVE_STATES.map((one) => style.getPropertyValue(`--${one.colour}`).trim());
    pen.scale(scale, scale);
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    pen.textBaseline = 'middle';
    pen.fillStyle = colours.muted;
    for (const cycle of ticks(this.from, this.to, Math.max(2, Math.floor((this.width - this.label) / 110)))) {
      const text = format.count(cycle), x = this.x(cycle);
      pen.fillText(text, Math.min(x, this.width - pen.measureText(text).width), AXIS / 2);
      pen.fillRect(Math.round(x), AXIS - 4, 1, 4);
    }
    this.rows.forEach((row, index) => {
      const y = AXIS + index * ROW;
      pen.fillStyle = colours.muted;
      if (this.label > 0) pen.fillText(`SIMD ${row.simd} slot ${row.slot}`, 0, y + ROW / 2);
      for (const wave of row.waves) this.drawWave(pen, wave, y + 2, state);
    });
  }

  /** Each column of pixels is divided by what the wave did in it. */
  private drawWave(pen: CanvasRenderingContext2D, wave: TracedWave, top: number, colours: readonly string[]): void {
    const left = Math.floor(this.x(wave.begin)), columns = Math.max(1, Math.ceil(this.x(wave.end)) - left);
    const perPixel = (this.to - this.from) / Math.max(1, this.width - this.label);
    const from = this.from + (left - this.label) * perPixel;
    const parts = stateColumns(wave, from, from + columns * perPixel, columns);
    for (let column = 0; column < columns; ++column) {
      let y = top;
      for (const state of DRAWN) {
        const height = ((ROW - 4) * parts[column * WAVE_STATES.length + state]!) / perPixel;
        if (height <= 0) continue;
        pen.fillStyle = colours[state]!;
        pen.fillRect(left + column, y, 1.02, height);
        y += height;
      }
    }
  }

  private hover(event: PointerEvent): void {
    const row = this.rows[Math.floor((event.offsetY - AXIS) / ROW)];
    const cycle = this.from + ((event.offsetX - this.label) / Math.max(1, this.width - this.label)) * (this.to - this.from);
    const found = row ? stateAt(row.waves, cycle) : null;
    this.tip.hidden = found === null;
    if (!found || !row) return;
    const { wave, state, begin, cycles } = found;
    this.tip.replaceChildren(tooltipBox(`SIMD ${row.simd}, slot ${row.slot}, wave ${wave.id}`, [['compute unit', wave.cu ?? 'not recorded'], ['state', WAVE_STATES[state]?.title ?? String(state)], ['from cycle', format.count(begin)], ['for', `${format.count(cycles)} cycles`], ['life', `${format.count(wave.end - wave.begin)} cycles`]]));
    const left = Math.min(event.offsetX + 14, this.width - this.tip.offsetWidth - 4);
    const below = event.offsetY + 26;
    this.tip.style.transform = `translate(${Math.max(0, left)}px, ${below + this.tip.offsetHeight > this.element.clientHeight ? Math.max(0, event.offsetY - this.tip.offsetHeight - 6) : below}px)`;
  }
}
