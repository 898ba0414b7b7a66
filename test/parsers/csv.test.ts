import { parse as parseCsv } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_CSV_COLUMNS } from '../../src/core/limits.ts';
import { createCsvGrouping, createCsvParser } from '../../src/parsers/formats/csv.ts';

const withHeader = (header: string, delimiter = ',') => {
  const parser = createCsvParser({ delimiter, columns: undefined });
  expect(parser.parse(header)).toEqual([]);
  return (text: string): unknown => JSON.parse(JSON.stringify(parser.parse(text)));
};

test.each([
  ['a,b,c', '1,two,', [{ a: '1', b: 'two', c: '' }]],
  ['a,b,c', '"1","x ""y"" z","two\nlines"', [{ a: '1', b: 'x "y" z', c: 'two\nlines' }]],
  ['a,b,c', ',,', [{ a: '', b: '', c: '' }]],
  ['a', '', []],
  ['"with, comma", spaced ,,a,a', '1,2,3,4,5', [{ 'with, comma': '1', spaced: '2', column_3: '3', a: '4', a_2: '5' }]],
  ['a,b', '1', [{ message: '1', parse_error: '1 values for 2 columns' }]],
  ['a,b', '1,2,3', [{ message: '1,2,3', parse_error: '3 values for 2 columns' }]],
  ['_time,message', '2026-11-21T10:15:00Z,hi', [{ _time: '2026-11-21T10:15:00Z', message: 'hi' }]],
  ['__proto__,b', 'x,y', JSON.parse('[{"__proto__":"x","b":"y"}]')],
])('csv with the header %s: %s', (header, text, events) => {
  expect(withHeader(header)(text)).toEqual(events);
});

test('csv keeps a malformed record whole, with the reason', () => {
  const [event] = withHeader('a,b')('x"y,1') as { message: string; parse_error: string }[];
  expect(event?.message).toBe('x"y,1');
  expect(event?.parse_error).toMatch(/^no CSV record: Invalid Opening Quote/);
  const [open] = withHeader('a,b')('"never closed,1') as { message: string; parse_error: string }[];
  expect(open?.parse_error).toMatch(/^no CSV record: Quote Not Closed/);
});

test('csv takes columns and a delimiter from the configuration', () => {
  const parser = createCsvParser({ delimiter: ';', columns: ['x', 'y'] });
  expect(JSON.parse(JSON.stringify(parser.parse('1;"a;b"')))).toEqual([{ x: '1', y: 'a;b' }]);
  parser.restart!();
  parser.learn!('not;a;header\n');
  expect(parser.parse('1;2')).toHaveLength(1);
});

test('csv finds its columns again from the beginning of the stream', () => {
  const parser = createCsvParser({ delimiter: ',', columns: undefined });
  parser.learn!('a,"b\nc"\n1,2\n3');
  expect(parser.parse('5,6')).toEqual([{ a: '5', 'b\nc': '6' }]);
  parser.restart!();
  expect(parser.parse('c,d')).toEqual([]);
  expect(parser.parse('7,8')).toEqual([{ c: '7', d: '8' }]);
});

test('csv takes at most so many columns', () => {
  const many = Array.from({ length: MAX_CSV_COLUMNS + 1 }, (_, n) => `c${n}`).join(',');
  const [event] = withHeader(many)(many) as { parse_error: string }[];
  expect(event?.parse_error).toBe(`${MAX_CSV_COLUMNS + 1} values for ${MAX_CSV_COLUMNS} columns`);
});

const value = fc.string({ unit: fc.constantFrom('a', 'é', ',', '"', '\n', '\r', ' ', ''), maxLength: 8 });
const record = fc.array(value, { minLength: 1, maxLength: 5 });
const written = (values: readonly string[]): string =>
  values.map((each) => (/[",\n\r]/.test(each) ? `"${each.replaceAll('"', '""')}"` : each)).join(',');

test('csv gives the record written, and agrees with csv-parse, for any record', () => {
  fc.assert(
    fc.property(record, (values) => {
      const columns = values.map((_, n) => `c${n}`);
      const text = written(values);
      fc.pre(text !== '');
      const [event] = createCsvParser({ delimiter: ',', columns }).parse(text);
      expect(Object.values(event!)).toEqual(values);
      expect(Object.values(event!)).toEqual(parseCsv(text)[0]);
    }),
    { numRuns: 2000 },
  );
});

test('csv takes any text and agrees with csv-parse where records begin and end', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', ' '), minLength: 1, maxLength: 12 }), (text) => {
      let values: string[] | undefined;
      try {
        const records = parseCsv(text, { relax_column_count: true });
        values = records.length === 1 ? records[0] : undefined;
      } catch {
        values = undefined;
      }
      const columns = Array.from({ length: values?.length ?? 1 }, (_, n) => `c${n}`);
      const [event] = createCsvParser({ delimiter: ',', columns }).parse(text);
      if (values) expect(Object.values(event!)).toEqual(values);
      else expect(event).toHaveProperty('parse_error');
    }),
    { numRuns: 3000 },
  );
});

test('csv joins the lines of a record whose quotes are open', () => {
  const grouping = createCsvGrouping({ maxLines: 100, maxBytes: 1000 });
  const lines = ['a,b', '"one', 'two ""', 'three"",x"', 'c'].map((line) => Buffer.from(line));
  expect(lines.map((line) => [grouping.begins(line, 0, line.length), grouping.isWhole()])).toEqual([
    [true, true],
    [true, false],
    [false, false],
    [false, true],
    [true, true],
  ]);
});
