import { expect, test } from 'vitest';
import { findPhrases } from '../../scripts/words.ts';
import { makeTree } from '../support/temp-tree.ts';

test('words check finds phrases in comments and names of tests, with their lines, and none in code', () => {
  const tree = makeTree({
    'src/a.ts':
      "/**\n * What is read\n * stands here.\n */\nexport const said = 'what was'; // there are none\nconst a = 'http://told';\n",
    'test/a.test.ts':
      "test('file is told', run);\ntest.each([1])('reads on', run);\ndescribe.each(rows)('what can be', run);\n",
  });
  expect(findPhrases(tree)).toEqual([
    'src/a.ts:2: What is',
    'src/a.ts:3: stands',
    'src/a.ts:5: are none',
    'test/a.test.ts:1: told',
    'test/a.test.ts:3: what can',
  ]);
  expect(findPhrases(tree, 'src/')).toHaveLength(3);
});

test('words check takes a glob in a text for no comment', () => {
  const tree = makeTree({ 'src/a.ts': "const a = '/logs/**/*.log', b = 'what is', c = /* told */ '*/';\n" });
  expect(findPhrases(tree)).toEqual(['src/a.ts:1: told']);
});
