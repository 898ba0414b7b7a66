import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvCell } from '../../src/cli/client/output/row-writers.ts';
import { cellText, cut, fitWidths, renderRow, textWidth } from '../../src/cli/client/output/table.ts';
import { rawNumber } from '../../src/json/numbers.ts';

function table(names: readonly string[], rows: readonly (readonly unknown[])[], terminal?: number): string[] {
  const widths = fitWidths(names, rows, terminal);
  return [names, ...rows].map((row) => renderRow(row, widths));
}

test('table aligns texts to the left and numbers to the right, as they are shown', () => {
  expect(
    table(
      ['name', 'n', 'x'],
      [
        ['é漢字', 5, { a: [1] }],
        ['b', 1234, null],
        [undefined, rawNumber('9007199254740993'), true],
      ],
    ),
  ).toEqual([
    'name   n                 x',
    'é漢字                 5  {"a":[1]}',
    'b                  1234',
    '       9007199254740993  true',
  ]);
});

test('table holds nothing that a terminal obeys', () => {
  expect(cellText('a\u001b[31m\nb\u0000\u009bc\u202e\r\td\u000b')).toBe(
    'a\\u001b[31m\\nb\\u0000\\u009bc\\u202e\\r\\td\\u000b',
  );
  expect(renderRow(['a\r\u001b[31m\nb\u0085'], [40], 'lines')).toBe('a\\r\\u001b[31m\nb\\u0085');
});

test('table prints the lines of a text below each other, where asked to', () => {
  const trace = 'Error: no\r\n\tat main (app.js:7)\n\tat run (app.js:9)';
  const rows = [
    [1, trace, 'x'],
    [20, 'fine', 'two\nlines'],
  ];
  const widths = fitWidths(['n', 'message', 'z'], rows, undefined, 'lines');
  expect(rows.map((row) => renderRow(row, widths, 'lines'))).toEqual([
    ' 1  Error: no               x\n        at main (app.js:7)\n        at run (app.js:9)',
    '20  fine                    two\n                            lines',
  ]);
  expect(table(['message'], [[trace]])[1]).toBe('Error: no\\r\\n\\tat main (app.js:7)\\n\\tat run (app.js:9)');
  // As many as no call takes as arguments.
  expect(fitWidths(['message'], [['x\n'.repeat(500_000)]], 80, 'lines')).toEqual([7]);
});

test('table shows the time whole, whatever else is cut, unless it takes half of the terminal', () => {
  const rows = [['2026-01-02T03:04:05.678Z', ...Array.from({ length: 5 }, () => 'x'.repeat(40))]];
  const names = ['_time', 'a', 'b', 'c', 'd', 'e'];
  expect(table(names, rows, 80)[1]).toMatch(/^2026-01-02T03:04:05\.678Z {2}x+…/);
  expect(table(names, rows, 40)[1]).toMatch(/^2026-\S*… {2}x+…/);
});

test('table cuts nothing where there is no terminal', () => {
  expect(table(['a'], [['x'.repeat(500)]])[1]).toHaveLength(500);
});

test('table is as wide as the terminal, and takes the room from its widest columns', () => {
  const rows = [['2026-01-02T03:04:05Z', 'GET', 'x'.repeat(100), 'y'.repeat(200)]];
  const [head, row] = table(['_time', 'method', 'path', 'message'], rows, 81);
  expect(row).toBe(`2026-01-02T03:04:05Z  GET     ${'x'.repeat(24)}…  ${'y'.repeat(23)}…`);
  expect(textWidth(row!)).toBe(81);
  expect(head).toMatch(/^_time {17}method {2}path {23}message$/);
});

test('table leaves columns out that a terminal has no room for', () => {
  const names = Array.from({ length: 30 }, (_, n) => `column${n}`);
  const widths = fitWidths(names, [names], 80);
  expect(widths.length).toBe(10);
  expect(textWidth(renderRow(names, widths))).toBeLessThanOrEqual(80);
});

test('table never is wider than the terminal', () => {
  const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null));
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 5 }),
      fc.integer({ min: 1, max: 120 }),
      (rows, terminal) => {
        const names = ['_time', 'bb', 'ccc'];
        for (const line of table(names, rows, terminal)) expect(textWidth(line)).toBeLessThanOrEqual(terminal);
        const widths = fitWidths(names, rows, terminal, 'lines');
        for (const line of rows.flatMap((row) => renderRow(row, widths, 'lines').split('\n')))
          expect(textWidth(line)).toBeLessThanOrEqual(terminal);
      },
    ),
  );
});

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdefg', 6, 'abcde…'],
  ['漢字漢字', 6, '漢字…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
])('cut shortens %j to %i columns as %j', (text, width, wanted) => {
  expect(cut(text, width)).toBe(wanted);
});

test.each<[unknown, string]>([
  [null, ''],
  ['', '""'],
  ['a', 'a'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  [' a', '" a"'],
  ['5', '"5"'],
  ['true', '"true"'],
  [5, '5'],
  [true, 'true'],
  [{ a: 1 }, '"{""a"":1}"'],
  [rawNumber('9007199254740993'), '9007199254740993'],
])('CSV writes %j as %s', (value, wanted) => {
  expect(csvCell(value)).toBe(wanted);
});
