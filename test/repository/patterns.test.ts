import { expect, test } from 'vitest';
import { checkPatterns } from '../../scripts/check-patterns.ts';
import { makeTree } from '../support/temp-tree.ts';

/** Those about files that are not in the tree are left out. */
async function violationsIn(source: string): Promise<string[]> {
  const found = await checkPatterns(makeTree({ 'src/a.ts': source }));
  return found.filter((each) => !each.startsWith('scripts/'));
}

test('patterns check finds each pattern that takes the square of a text, with its line and the text', async () => {
  const source = String.raw`export const a = /^\d+\.?\d*$/;
export const b = /^\d+(?:\.\d*)?$/, c = 'x'.replace(/\s+$/, '');
export const d = new RegExp('(?:a|a)*b' + '$');`;
  expect(await violationsIn(source)).toEqual([
    expect.stringMatching(
      /^src\/a\.ts:1: \/\^\\d\+\\\.\?\\d\*\$\/ is 2nd degree polynomial, as on '0' \+ '0'\.repeat\(\d+\)/,
    ),
    expect.stringMatching(/^src\/a\.ts:2: \/\\s\+\$\/ is 2nd degree polynomial/),
    expect.stringMatching(/^src\/a\.ts:3: \/\(\?:a\|a\)\*b\$\/ is exponential/),
  ]);
});

test('patterns check wants patterns that it can judge', async () => {
  expect(await violationsIn('export const a = (text: string): RegExp => new RegExp(text);')).toEqual([
    'src/a.ts:1: a regular expression made at run time: write it as a literal, or at the top of its module',
  ]);
});
