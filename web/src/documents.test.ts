import { describe, expect, it } from 'vitest';
import { Documents, parseDocuments, type PageDocument } from './documents';
import { collectMissing, groupMissing } from './sections/missing';

const page = (documents: unknown[]): string => JSON.stringify({ page: 1, program: '1.2.3', documents });

describe('the documents of a page', () => {
  it('finds them by name', () => {
    const docs = parseDocuments(page([{ name: 'occupancy', file: null, document: { a: 1 } }, { name: 'occupancy', file: 'x.json', document: { a: 2 } }]));
    expect(docs.program).toBe('1.2.3');
    expect(docs.every('occupancy').map((entry) => entry.file)).toEqual([null, 'x.json']);
    expect(docs.first('analysis')).toBeUndefined();
    expect(docs.has('analysis', 'occupancy')).toBe(true);
  });
  it('keeps the runs of a page apart', () => {
    const two = parseDocuments(page([{ name: 'analysis', file: null, document: { run: 'a' } }, { name: 'profile', file: null, document: { run: 'a' } }, { name: 'analysis', file: null, document: { run: 'b' } }, { name: 'profile', file: null, document: { run: 'b' } }, { name: 'roofline', file: null, document: { run: 'b' } }]));
    expect(two.companion('profile')).toEqual({ run: 'a' });
    expect(two.companion('roofline')).toBeUndefined(); // the first run has none; that of the second is not shown beside it
    const one = parseDocuments(page([{ name: 'roofline', file: null, document: { run: 'a' } }, { name: 'analysis', file: null, document: { run: 'a' } }]));
    expect(one.companion('roofline')).toEqual({ run: 'a' });
    expect(parseDocuments(page([{ name: 'roofline', file: null, document: { run: 'a' } }])).companion('roofline')).toEqual({ run: 'a' });
  });
  it('refuses what it cannot show, in words', () => {
    expect(() => parseDocuments('{"page": 2, "documents": []}')).toThrow('page format 2');
    expect(() => parseDocuments('{"page": 1}')).toThrow('no list of documents');
  });
});

describe('what is missing', () => {
  const document = { missing: [{ field: 'a', reason: 'r', remedy: null }], kernels: [{ missing: [] }, { deep: { missing: [{ field: 'x.y', reason: 'q', remedy: 'do it' }] } }], other: null };
  it('is found at every depth, with its whole path', () => {
    expect(collectMissing(document).map((entry) => entry.field)).toEqual(['a', 'kernels[1].deep.x.y']);
  });
  it('is grouped by reason and remedy; what has a remedy comes first', () => {
    const twice = { ...document, kernels: [...document.kernels, { missing: [{ field: 'b', reason: 'q', remedy: 'do it' }] }] };
    const groups = groupMissing(new Documents([{ name: 'analysis', file: null, document: twice } as unknown as PageDocument], ''));
    expect(groups).toEqual([{ document: 'analysis', reason: 'q', remedy: 'do it', fields: ['kernels[1].deep.x.y', 'kernels[2].b'] }, { document: 'analysis', reason: 'r', remedy: null, fields: ['a'] }]);
  });
});
