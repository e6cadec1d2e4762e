// Light and dark: the system's wish until the reader says otherwise. Charts take their colours from the same variables as the page.

/** Colours that a chart needs, as CSS colours. */
export interface Theme {
  dark: boolean;
  text: string;
  muted: string;
  line: string;
  surface: string;
  accent: string;
  good: string;
  warn: string;
  bad: string;
  /** For series: distinguishable by colour-blind readers, in this order. */
  series: string[];
}

const KEY = 'rocm-perf-theme';
const listeners = new Set<() => void>();
const system = window.matchMedia('(prefers-color-scheme: dark)');
const printing = window.matchMedia('print');

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a file: page may have no storage
  }
}

function wanted(): 'light' | 'dark' {
  if (printing.matches) return 'light';
  const choice = stored() ?? document.documentElement.dataset['choice'];
  if (choice === 'light' || choice === 'dark') return choice;
  return system.matches ? 'dark' : 'light';
}

function apply(): void {
  const next = wanted();
  if (document.documentElement.dataset['theme'] === next) return;
  document.documentElement.dataset['theme'] = next;
  for (const listener of listeners) listener();
}

/** Sets the theme and keeps it up to date. */
export function startTheme(): void {
  apply();
  system.addEventListener('change', apply);
  printing.addEventListener('change', apply);
}

/** The other of light and dark, remembered where the browser lets us. */
export function toggleTheme(): void {
  const next = wanted() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['choice'] = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // remembered for this page only
  }
  apply();
}

export const isDark = (): boolean => document.documentElement.dataset['theme'] === 'dark';
export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

/** The colours in force. */
export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    dark: isDark(), text: colour('text'), muted: colour('muted'), line: colour('line'), surface: colour('surface'), accent: colour('accent'),
    good: colour('good'), warn: colour('warn'), bad: colour('bad'),
    series: [1, 2, 3, 4, 5, 6, 7, 8].map((index) => colour(`series-${index}`)),
  };
}
