/** Every recipe of docs/transform.md does what the page says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { tailraceFor } from '../cli/tailrace.ts';
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

test('page of transforms has recipes, also for each step that lets a part of the events through', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(5);
  expect(recipes.flatMap(({ text }) => /^(throttle|dedupe|sample) /.exec(text)?.[1] ?? [])).toEqual([
    'throttle',
    'dedupe',
    'sample',
  ]);
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

const configurations = [
  ...page.matchAll(/^### ([^\n]*)\n(?:(?!^### |^```).*\n)*```yaml\n((?:(?!```).*\n)*?tests:\n(?:(?!```).*\n)*)```/gm),
].map(([, title = '', text = '']) => ({ title, text }));

test('page of transforms has a recipe for each known program', () => {
  expect(configurations.map(({ title }) => title.split(':')[0])).toEqual(['nginx', 'Postgres', 'Java', 'Kubernetes']);
});

test.for(configurations)('the tests of recipe "$title" pass', async ({ text }) => {
  const sinks = 'sinks: {store: {type: ingest, url: "http://127.0.0.1:4100", dataset: logs}}\n';
  const folder = makeTree({ 'tailrace.yaml': text + sinks });
  const tailrace = tailraceFor({});
  const { code, stdout, stderr } = await tailrace(['test'], { cwd: folder });
  expect([code, stdout, stderr]).toEqual([0, '1 test passed\n', '']);
  expect((await tailrace(['check'], { cwd: folder })).code).toBe(0);
});
