// The drawings of the section of ranks that a choice of ranks governs: time in communication, what the ranks did by time, who waits for whom.
import { tooltipBox, type ChartHandle } from '../chart';
import { h } from '../dom';
import * as format from '../format';
import type { Context } from '../section';
import { cellsOf, culpritsOf, meansOf, MOST_RANKS, viewsOf, type BundleTimes, type Cell, type Ranks, type View } from './ranks-model';
import { LEGEND, rankAxis, roomForLegend, timeAxis } from './ranks-words';
import { timeline } from './ranks-timeline';

const BAR = 22, DENSE = 13; // CSS pixels of a row
const rowHeight = (rows: number): number => (rows > 24 ? DENSE : BAR);
const GATHERED = { ranks: '', nodes: ' Each row is a node: the mean of its ranks; what they made others wait is added up.', 'groups of nodes': ' Each row is several neighbours: the mean of the ranks; what they made others wait is added up.' };

/** Rows with a rank whose cause is looked into. */
export function markedRows(view: View, ranks: Ranks): Set<number> {
  return new Set(ranks.stragglers.causes.map((cause) => view.rows.place[cause.rank]!).filter((place) => place >= 0));
}

const PARTS: readonly (readonly [keyof BundleTimes, string])[] = [['transfer', 'moving data'], ['wait', 'waiting'], ['unknown', 'moving or waiting: unknown'], ['caused', 'made each other rank wait']];

function times(host: HTMLElement, ranks: Ranks, current: () => View, context: Context): ChartHandle {
  let view = current(), sums: BundleTimes[] = [];
  const shown = (): typeof PARTS => PARTS.filter(([part]) => part !== 'unknown' || sums.some((one) => one.unknown > 0));
  const update = (): string[] => {
    view = current();
    sums = meansOf(view.rows, ranks.ranks);
    return view.rows.list.map((bundle) => bundle.label);
  };
  update();
  host.append(h('h3', {}, 'Time in communication, by rank'));
  const caption = `A rank that waits long is not the cause: the one that makes others wait is${ranks.stragglers.causes.length > 0 ? ' (▶: those whose lateness is explained above)' : ''}. Made each other rank wait: the mean over the others.${GATHERED[view.rows.of]}`;
  return context.chart(host, {
    id: 'ranks-times', height: 0, label: `Time that ${format.counted(ranks.ranks.length, 'rank')} moved data, waited, and made others wait`, caption,
    option: (colours, width) => {
      const names = update();
      const colour = { transfer: colours.series[0]!, wait: colours.warn, unknown: colours.series[7]!, caused: colours.bad };
      return {
        grid: { left: 8, right: 16, top: roomForLegend(width), bottom: 24, containLabel: true },
        legend: { ...LEGEND, textStyle: { color: colours.text } },
        tooltip: {
          trigger: 'axis', axisPointer: { type: 'shadow' },
          formatter: (points: unknown) => {
            const i = (points as { dataIndex: number }[])[0]!.dataIndex;
            return tooltipBox(names[i], [...shown().map(([part, label]) => [label, format.duration(sums[i]![part])] as const), ['ranks', format.count(view.rows.list[i]!.ranks.length)]]);
          },
        },
        xAxis: timeAxis(colours, 'time in all'),
        yAxis: rankAxis(colours, names, markedRows(view, ranks)),
        series: shown().map(([part, name]) => ({ id: part, name, type: 'bar' as const, ...(part === 'caused' ? {} : { stack: 'own' }), itemStyle: { color: colour[part] }, data: sums.map((one) => one[part]) })),
      };
    },
    table: () => {
      const names = update();
      return { columns: ['ranks', ...shown().map(([, name]) => name)], rows: sums.map((one, i) => [names[i]!, ...shown().map(([part]) => format.duration(one[part]))]) };
    },
  });
}

function matrix(host: HTMLElement, ranks: Ranks, current: () => View, context: Context): ChartHandle | null {
  host.append(h('h3', {}, 'Who waits for whom'));
  if (ranks.waits_for.length === 0) {
    host.append(context.note('Nobody waits, or it is not decided for whom.'));
    return null;
  }
  const columns = culpritsOf(ranks), large = ranks.ranks.length > MOST_RANKS;
  let view = current(), cells: Cell[] = [];
  const update = (): void => {
    view = current();
    cells = cellsOf(view.rows, columns, ranks.waits_for);
  };
  const shownWait = ranks.waits_for.reduce((sum, pair) => sum + pair.wait_ns, 0), whole = shownWait + ranks.waits_for_left_out_ns;
  const left = ranks.waits_for_left_out > 0 ? ` ${format.counted(ranks.waits_for_left_out, 'pair')} with the least waiting, ${format.percent(whole > 0 ? ranks.waits_for_left_out_ns / whole : 0)} of it, are left out of the document.` : '';
  return context.chart(host, {
    id: 'ranks-matrix', height: 0, renderer: large ? 'canvas' : 'svg', label: `Waiting of each rank for each other, ${format.counted(ranks.waits_for.length, 'pair')}`,
    caption: `Rows wait, columns come last: a dark column is a rank that many wait for.${large ? ' Columns are the ranks that others wait for the most; "Show" above takes rows apart.' : ''} Only operations of which it is decided who came last.${left}`,
    option: (colours) => {
      update();
      const rows = view.rows.list.map((bundle) => bundle.label), names = columns.list.map((bundle) => bundle.label), short = names.map((name) => name.replace(/^rank /, '')), most = cells[0]?.wait ?? 1;
      const causes = new Set(ranks.stragglers.causes.map((cause) => columns.place[cause.rank]!));
      return {
        grid: { left: 8, right: 16, top: 8, bottom: 62, containLabel: true },
        tooltip: {
          formatter: (point: unknown) => {
            const cell = cells[(point as { dataIndex: number }).dataIndex]!;
            return tooltipBox(`${rows[cell.waits]} waits for ${names[cell.last]}`, [['waiting', format.duration(cell.wait)], ['operations', format.count(cell.operations)]]);
          },
        },
        xAxis: { ...rankAxis(colours, short, causes), inverse: false, name: 'the rank that comes last', nameLocation: 'middle', nameGap: 28 },
        yAxis: rankAxis(colours, rows, new Set()),
        visualMap: { min: 0, max: most, calculable: false, orient: 'horizontal', left: 'center', bottom: 0, itemHeight: 90, itemWidth: 10, text: [format.duration(most), '0'], textStyle: { color: colours.muted, fontSize: 11 }, inRange: { color: [colours.surface, colours.warn, colours.bad] } },
        series: [{ id: 'waits', type: 'heatmap', data: cells.map((cell) => [cell.last, cell.waits, cell.wait]), itemStyle: { borderColor: colours.line, borderWidth: rows.length > 24 ? 0.3 : 0.6 } }],
      };
    },
    table: () => {
      update();
      return { columns: ['waits', 'for', 'waiting', 'operations'], rows: cells.slice(0, 200).map((cell) => [view.rows.list[cell.waits]!.label, columns.list[cell.last]!.label, format.duration(cell.wait), cell.operations]) };
    },
  });
}

/** The three drawings, and of a large job the choice of ranks before them. */
export function charts(host: HTMLElement, ranks: Ranks, context: Context): void {
  const views = viewsOf(ranks);
  let current = views[0]!;
  const view = (): View => current;
  if (views.length > 1) {
    const select = h('select', { id: 'ranks-view' }, views.map((one, i) => h('option', { value: i }, one.label)));
    select.addEventListener('change', () => {
      current = views[Number(select.value)]!;
      fit();
    });
    host.append(h('div', { class: 'controls' }, h('label', { class: 'choice' }, 'Show ', select)));
  }
  const bars = times(host, ranks, view, context);
  const byTime = timeline(host, ranks, view, context);
  const cells = matrix(host, ranks, view, context);
  const fit = (): void => {
    const rows = current.rows.list.length;
    bars.setHeight(76 + rowHeight(rows) * rows);
    bars.redraw();
    byTime?.fit();
    cells?.setHeight(84 + Math.max(rowHeight(rows) * rows, 110));
    cells?.redraw();
  };
  fit();
}
