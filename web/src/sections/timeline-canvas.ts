// Draws a timeline: axis, critical path and lanes on two canvases, for a part of the time. What is narrower than a pixel is drawn
// as the name with the most time in that pixel. Knows no events; timeline-view.ts has them.
import { theme, type Theme } from '../theme';
import { spentKind } from './criticalpath-parts';
import { inView, isMerged, paletteOf, ticks, tickText, type Lane, type TimelineModel, type View } from './timeline-model';

/** Kernels with a colour of their own. */
export const OWN_COLOURS = 6;
/** Indices into the theme's series: the kernels, then other kernels, copies. Calls have the muted colour. */
const SERIES = [0, 1, 2, 3, 4, 6, 7, 5];

const AXIS = 30, PATH_LANE = 24, LANE = 20, GAP = 7, LABEL = 15;
/** Below this the labels stand above their lanes. */
const NARROW = 640;
const GUTTER = 148;

/** What is shown and how. */
export interface Look {
  view: View;
  /** By name, 1: stands out; null: all alike. */
  matches: Uint8Array | null;
  onlyPath: boolean;
  /** Chosen slice; lane -1: none. */
  lane: number;
  slice: number;
}

/** The drawing of one timeline, CSS pixels. */
export class TimelineCanvas {
  readonly head = document.createElement('canvas');
  readonly body = document.createElement('canvas');
  private readonly palette: Uint8Array;
  private width = 0;

  constructor(private readonly model: TimelineModel) {
    this.palette = paletteOf(model, OWN_COLOURS);
  }

  /** Sets the width; heights follow. */
  resize(width: number): void {
    this.width = width;
    this.fit(this.head, AXIS + (this.model.path ? PATH_LANE + GAP : 0));
    this.fit(this.body, this.model.lanes.length * this.rowHeight + GAP);
  }
  get narrow(): boolean {
    return this.width < NARROW;
  }
  get gutter(): number {
    return this.narrow ? 0 : GUTTER;
  }
  /** Pixels that time has. */
  get room(): number {
    return Math.max(1, this.width - this.gutter - 2);
  }
  private get rowHeight(): number {
    return LANE + GAP + (this.narrow ? LABEL : 0);
  }

  /** The lane at a height of the body; -1: none. */
  laneAt(y: number): number {
    const lane = Math.floor(y / this.rowHeight);
    return y >= 0 && lane < this.model.lanes.length ? lane : -1;
  }
  /** Top of a lane's row in the body, and its height. */
  laneBox(lane: number): { top: number; height: number } {
    return { top: lane * this.rowHeight, height: this.rowHeight };
  }
  /** Whether a height of the head is on the critical path's lane. */
  onPath(y: number): boolean {
    return this.model.path !== null && y >= AXIS && y <= AXIS + PATH_LANE;
  }
  timeAt(x: number, view: View): number {
    return view.from + ((x - this.gutter) / this.room) * (view.to - view.from);
  }
  x(time: number, view: View): number {
    return this.gutter + ((time - view.from) / (view.to - view.from)) * this.room;
  }

  /** Colour of a name by the theme. */
  colourOf(name: number, colours: Theme): string {
    const place = this.palette[name] ?? OWN_COLOURS;
    return place === OWN_COLOURS + 2 ? colours.muted : colours.series[SERIES[place]!]!;
  }

  draw(look: Look): void {
    const colours = theme();
    this.drawHead(look, colours);
    this.drawBody(look, colours);
  }

  private fit(canvas: HTMLCanvasElement, height: number): void {
    const scale = Math.max(window.devicePixelRatio || 1, 1);
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${height}px`;
  }

  /** A context in CSS pixels, cleared. */
  private begin(canvas: HTMLCanvasElement, colours: Theme): CanvasRenderingContext2D {
    const pen = canvas.getContext('2d')!;
    const scale = Math.max(window.devicePixelRatio || 1, 1);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
    pen.textBaseline = 'middle';
    pen.fillStyle = colours.text;
    return pen;
  }

  private drawHead(look: Look, colours: Theme): void {
    const pen = this.begin(this.head, colours);
    const { view } = look;
    const { span } = this.model;
    // Where the view lies in the whole run.
    pen.fillStyle = colours.line;
    pen.fillRect(this.gutter, 2, this.room, 4);
    pen.fillStyle = colours.accent;
    const left = (view.from / Math.max(span, 1)) * this.room, width = ((view.to - view.from) / Math.max(span, 1)) * this.room;
    pen.fillRect(this.gutter + Math.min(left, this.room - 3), 2, Math.max(3, width), 4);
    const marks = this.marks(view);
    for (const time of marks) {
      const x = this.x(time, view);
      pen.fillStyle = colours.line;
      pen.fillRect(Math.round(x), 22, 1, AXIS - 22);
      pen.fillStyle = colours.muted;
      const text = tickText(time, (marks[1] ?? view.to) - marks[0]!, Math.max(view.to, 1));
      const half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(Math.max(x - half, this.gutter), this.width - 2 * half - 2), 15);
    }
    if (this.model.path) this.drawPath(pen, look, colours);
  }

  private marks(view: View): number[] {
    return ticks(view.from, view.to, Math.max(2, Math.floor(this.room / 120)));
  }

  private drawPath(pen: CanvasRenderingContext2D, { view }: Look, colours: Theme): void {
    const style = getComputedStyle(document.documentElement);
    const colour = this.model.spentKinds.map((kind) => style.getPropertyValue(`--${spentKind(kind).colour}`).trim());
    const path = this.model.path!;
    if (!this.narrow) this.label(pen, 'critical path', AXIS + PATH_LANE / 2, colours, true);
    const times = new Float64Array(colour.length);
    const columns = new Columns(pen, AXIS, PATH_LANE, times, (kind) => colour[kind] ?? colours.muted);
    for (const stretch of path) {
      if (stretch.to < view.from) continue;
      if (stretch.from > view.to) break;
      columns.add(this.x(Math.max(stretch.from, view.from), view), this.x(Math.min(stretch.to, view.to), view), stretch.spent, stretch.to - stretch.from);
    }
    columns.flush();
  }

  private drawBody(look: Look, colours: Theme): void {
    const pen = this.begin(this.body, colours);
    const height = this.body.height;
    pen.fillStyle = colours.line;
    pen.globalAlpha = 0.55;
    for (const time of this.marks(look.view)) pen.fillRect(Math.round(this.x(time, look.view)), 0, 1, height);
    pen.globalAlpha = 1;
    this.model.lanes.forEach((lane, index) => this.drawLane(pen, lane, index, look, colours));
  }

  private drawLane(pen: CanvasRenderingContext2D, lane: Lane, index: number, look: Look, colours: Theme): void {
    const { top } = this.laneBox(index);
    const y = top + (this.narrow ? LABEL : 2);
    this.label(pen, lane.label, this.narrow ? top + LABEL / 2 + 1 : y + LANE / 2, colours, index === look.lane);
    pen.save();
    pen.beginPath();
    pen.rect(this.gutter, y - 2, this.room + 2, LANE + GAP);
    pen.clip();
    const times = new Float64Array(this.model.names.length);
    const columns = new Columns(pen, y, LANE, times, (name) => this.colourOf(name, colours));
    const pathColumns = new Columns(pen, y + LANE + 0.5, 2.5, new Float64Array(1), () => colours.text);
    const { view } = look;
    const [first, past] = inView(lane, view.from, view.to);
    for (let i = first; i < past; ++i) {
      if (lane.end[i]! < view.from) continue;
      const x0 = this.x(lane.start[i]!, view), x1 = this.x(lane.end[i]!, view), name = lane.name[i]!;
      const faint = (look.matches !== null && !look.matches[name]) || (look.onlyPath && lane.pathOf[i]! === 0);
      if (faint) columns.faint(x0, x1, name);
      else if (x1 - x0 < 1 || !isMerged(this.model, lane, i)) columns.add(x0, x1, name, lane.busyOf[i]!);
      else columns.partly(x0, x1, name, Math.min(1, lane.busyOf[i]! / Math.max(1, lane.end[i]! - lane.start[i]!)));
      if (lane.pathOf[i]! > 0) pathColumns.add(x0, x1, 0, 1);
      if (!faint && x1 - x0 > 44) this.nameIn(pen, this.model.names[name]!, x0, x1, y, isMerged(this.model, lane, i) ? colours.text : colours.dark ? '#0d1117' : '#ffffff');
    }
    columns.flush();
    pathColumns.flush();
    if (index === look.lane && look.slice >= 0) {
      const x0 = this.x(lane.start[look.slice]!, view), x1 = this.x(lane.end[look.slice]!, view);
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(x0 - 1, y - 1, Math.max(3, x1 - x0 + 2), LANE + 2);
    }
    pen.restore();
  }

  /** A name in a slice that has room for it, over whatever is there. */
  private nameIn(pen: CanvasRenderingContext2D, name: string, x0: number, x1: number, y: number, colour: string): void {
    const left = Math.max(x0, this.gutter) + 4, room = Math.min(x1, this.width) - left - 4;
    if (room < 28) return;
    pen.fillStyle = colour;
    pen.fillText(shortened(pen, name, room), left, y + LANE / 2 + 0.5);
  }

  private label(pen: CanvasRenderingContext2D, text: string, y: number, colours: Theme, strong: boolean): void {
    pen.fillStyle = strong ? colours.text : colours.muted;
    pen.fillText(shortened(pen, text, this.narrow ? this.width : GUTTER - 10), 0, y);
  }
}

/** Text that fits, its end replaced by "…" otherwise. */
function shortened(pen: CanvasRenderingContext2D, text: string, room: number): string {
  if (text.length * 4 < room && pen.measureText(text).width <= room) return text;
  let low = 0, high = Math.min(text.length, Math.ceil(room / 3));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low >= text.length ? text : low === 0 ? '' : `${text.slice(0, low)}…`;
}

/** Rectangles of a lane: what is narrower than a pixel is gathered by pixel and drawn as what has the most time in it. */
class Columns {
  private column = -1;
  private readonly touched: number[] = [];

  constructor(
    private readonly pen: CanvasRenderingContext2D, private readonly y: number, private readonly height: number,
    /** Room for times by key, all 0. */
    private readonly times: Float64Array, private readonly colour: (key: number) => string,
  ) {}

  add(x0: number, x1: number, key: number, time: number): void {
    if (x1 - x0 >= 1) {
      this.flush();
      this.pen.fillStyle = this.colour(key);
      // Half a pixel is left between neighbours that have room for it.
      this.pen.fillRect(x0, this.y, x1 - x0 > 4 ? x1 - x0 - 0.5 : x1 - x0, this.height);
      return;
    }
    const column = Math.floor(x0);
    if (column !== this.column) this.flush();
    this.column = column;
    if (this.times[key] === 0) this.touched.push(key);
    this.times[key]! += Math.max(time, 1);
  }

  /** Only part of the time is busy: as high as that part, over a pale ground. */
  partly(x0: number, x1: number, key: number, part: number): void {
    this.flush();
    this.pen.fillStyle = this.colour(key);
    this.pen.globalAlpha = 0.3;
    this.pen.fillRect(x0, this.y, x1 - x0, this.height);
    this.pen.globalAlpha = 1;
    const filled = Math.max(2, this.height * part);
    this.pen.fillRect(x0, this.y + this.height - filled, x1 - x0, filled);
  }

  faint(x0: number, x1: number, key: number): void {
    this.pen.globalAlpha = 0.16;
    this.pen.fillStyle = this.colour(key);
    this.pen.fillRect(x0, this.y, Math.max(x1 - x0, 0.5), this.height);
    this.pen.globalAlpha = 1;
  }

  flush(): void {
    if (this.touched.length === 0) return;
    let most = this.touched[0]!;
    for (const key of this.touched) if (this.times[key]! > this.times[most]!) most = key;
    this.pen.fillStyle = this.colour(most);
    this.pen.fillRect(this.column, this.y, 1, this.height);
    for (const key of this.touched) this.times[key] = 0;
    this.touched.length = 0;
    this.column = -1;
  }
}
