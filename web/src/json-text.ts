// JSON as text, where numbers have to stay as they were written: a double cannot hold every integer of 64 bits.

/** The place behind the value that begins at `at`. The text is valid JSON. */
function endOf(text: string, at: number): number {
  if (text[at] === '"') {
    let i = at + 1;
    while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
    return i + 1;
  }
  let depth = 0;
  for (let i = at; i < text.length; ++i) {
    const letter = text[i]!;
    if (letter === '"') i = endOf(text, i) - 1;
    else if (letter === '{' || letter === '[') depth += 1;
    else if (letter === '}' || letter === ']') {
      depth -= 1;
      if (depth <= 0) return depth === 0 ? i + 1 : i;
    } else if (depth === 0 && (letter === ',' || /\s/.test(letter))) return i;
  }
  return text.length;
}

const skip = (text: string, at: number, what: RegExp): number => {
  let i = at;
  while (i < text.length && what.test(text[i]!)) i += 1;
  return i;
};

/** The text of a member of an object (by its key) or of an array (by its place); null when it is not there. */
export function memberText(text: string, wanted: string | number): string | null {
  let at = skip(text, 0, /\s/);
  const object = text[at] === '{';
  at = skip(text, at + 1, /\s/);
  for (let place = 0; at < text.length && text[at] !== '}' && text[at] !== ']'; ++place) {
    let key: unknown = place;
    if (object) {
      const end = endOf(text, at);
      key = JSON.parse(text.slice(at, end));
      at = skip(text, end, /[\s:]/);
    }
    const end = endOf(text, at);
    if (key === wanted) return text.slice(at, end);
    at = skip(text, end, /[\s,]/);
  }
  return null;
}

/** The same JSON with a member per line, two spaces a level; every number and string as it stands. */
export function indented(text: string): string {
  const out: string[] = [];
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (let i = skip(text, 0, /\s/); i < text.length; i = skip(text, i, /\s/)) {
    const letter = text[i]!;
    if (letter === '{' || letter === '[') {
      const next = skip(text, i + 1, /\s/);
      const empty = text[next] === '}' || text[next] === ']';
      if (!empty) depth += 1;
      out.push(letter, empty ? text[next]! : line());
      i = empty ? next + 1 : i + 1;
    } else if (letter === '}' || letter === ']') {
      depth -= 1;
      out.push(line(), letter);
      i += 1;
    } else if (letter === ',' || letter === ':') {
      out.push(letter === ',' ? `,${line()}` : ': ');
      i += 1;
    } else {
      const end = letter === '"' ? endOf(text, i) : skip(text, i, /[^\s,:{}[\]]/);
      out.push(text.slice(i, end));
      i = end;
    }
  }
  return `${out.join('')}\n`;
}
