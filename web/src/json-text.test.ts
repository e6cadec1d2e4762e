import { describe, expect, it } from 'vitest';
import { indented, memberText } from './json-text';

describe('JSON as text', () => {
  const text = '{"page":1, "program":"a \\"quoted\\" }", "documents":[{"name":"x","document":{}} , {"name":"autotune","document":{"seed":18446744073709551615,"value":1.0,"deep":[[],[1,-2e-7],{"a":null}],"text":"{,:\\\\\\""}}]}';
  const document = memberText(memberText(memberText(text, 'documents')!, 1)!, 'document')!;
  it('finds members by key and by place', () => {
    expect(memberText(text, 'page')).toBe('1');
    expect(memberText(text, 'program')).toBe('"a \\"quoted\\" }"');
    expect(memberText(document, 'deep')).toBe('[[],[1,-2e-7],{"a":null}]');
    expect(memberText(memberText(text, 'documents')!, 2)).toBeNull();
    expect(memberText('{}', 'a')).toBeNull();
  });
  it('keeps numbers that no double holds, and says the same', () => {
    const lines = indented(document);
    expect(lines).toContain('  "seed": 18446744073709551615,\n  "value": 1.0,\n');
    expect(JSON.parse(lines)).toEqual(JSON.parse(document));
  });
  it('indents as JSON.stringify does', () => {
    const value = { a: [], b: {}, c: [1, { d: 'x, y: {z}' }], e: [[true], null] };
    expect(indented(JSON.stringify(value))).toBe(`${JSON.stringify(value, null, 2)}\n`);
    expect(indented(JSON.stringify(value, null, 4))).toBe(`${JSON.stringify(value, null, 2)}\n`);
  });
});
