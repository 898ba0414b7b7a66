/** Every recipe of docs/transform.md does what the page says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createShaper } from '../../src/shaping/shaper.ts';
import { compileTransform } from '../../src/shaping/transforms.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/transform.md'), 'utf8');
const recipes = [...page.matchAll(/^### ([^\n]*)\n\n```pipeline\n(.*?)```\n\n```\n(.*?)```/gms)].map(
  ([, title = '', text = '', examples = '']) => ({
    title,
    text,
    examples: examples.trimEnd().split('\n'),
  }),
);

test('page of transforms has recipes', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(5);
});

test.for(recipes)('recipe "$title" does what the page says', async ({ text, examples }) => {
  const compiled = await compileTransform({ kind: 'pipeline', text, path: 'transform', onError: undefined });
  const shaper = createShaper([compiled.createStage({ failed: (reason) => expect.fail(reason) })]);
  for (const example of examples) {
    const [line = '', sent = ''] = example.split(' -> ');
    const bytes = Buffer.from(`${line}\n`);
    const shaped = await shaper.shape({ bytes, count: 1, source: 'app', stream: 's', readAtMs: 0, offsetOf: () => 0 });
    expect(shaped.bytes.toString()).toBe(sent === 'nothing' ? '' : `${sent}\n`);
  }
});
