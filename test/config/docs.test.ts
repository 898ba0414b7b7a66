/** Every configuration that the documentation prints whole, or as sources alone, is one that the agent takes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../../scripts/files.ts';
import { configOf } from './reading.ts';

const root = join(import.meta.dirname, '../..');
const SINK = '\nsinks: {store: {type: ingest, url: "http://127.0.0.1:4100", dataset: logs}}\n';

const examples = listFiles(root, ['.md']).flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```yaml\n(.*?)^```/gms)].flatMap(({ 1: yaml = '', index }) =>
    /^sources:/m.test(yaml) ? [{ place: `${page}:${text.slice(0, index).split('\n').length}`, yaml }] : [],
  );
});

test('documentation has configurations in README, configuration, operating and syslog', () => {
  const pages = new Set(examples.map(({ place }) => place.split(':')[0]));
  expect([...pages]).toEqual(
    expect.arrayContaining(['README.md', 'docs/configuration.md', 'docs/operations.md', 'docs/syslog.md']),
  );
});

test.each(examples)('configuration of $place has no problem', ({ yaml }) => {
  const text = /^sinks:/m.test(yaml) ? yaml : yaml + SINK;
  expect(configOf(text, { TAILRACE_TOKEN: 'xaat-1' }).sources.length).toBeGreaterThan(0);
});
