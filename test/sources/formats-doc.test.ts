/** The examples of docs/formats.md: each configuration makes of its input exactly the events of the page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import { newStats } from '../../src/core/source.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { loadShaping, shapeOf } from '../../src/sources/framing/line-shaping.ts';
import { createLines } from '../../src/sources/framing/grouped/grouped-lines.ts';
import { configOf, configWith } from '../config/reading.ts';

const READ_AT_MS = Date.parse('2026-01-02T03:04:05.006Z');
const document = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'formats.md'), 'utf8');
const EXAMPLE = /```yaml\n((?:(?!```).)*)```\n```text\n(.*?)```\n```json\n(.*?)```\n/gs;
const examples = [...document.matchAll(EXAMPLE)].map(([, source = '', input = '', events = '']) => ({
  name: source.trim().split('\n').join(', '),
  source: source.trim(),
  input,
  events: events.trim().split('\n'),
}));

const kernel = createKernel(128 * 1024 * 1024);

test('formats.md has an example of each format', () => {
  const formats = ['auto', 'json', 'logfmt', 'cri', 'docker', 'combined', 'csv', 'regex', 'multiline'];
  expect(formats.filter((format) => !examples.some(({ source }) => source.includes(format)))).toEqual([]);
});

test.each(examples)('formats.md: $name', async ({ source, input, events }) => {
  const config = configOf(configWith({ source })).sources[0] as FileConfig;
  const shaping = await loadShaping(config);
  const lines = createLines({
    rules: config,
    shaping,
    stats: newStats(),
    reserve: (bytes) => kernel.reserve(bytes),
    clock: { now: () => READ_AT_MS },
  });
  const template = kernel.compile(shapeOf(config, shaping, {}), undefined);
  const slot = kernel.reserve(1024 * 1024);
  lines.commit(Buffer.from(input).copy(lines.free()));
  let got = '';
  for (let block = lines.next() ?? lines.flush(); block; block = lines.next() ?? lines.flush()) {
    const { window, start, end, single, ends } = block;
    const { written } = kernel.wrap(
      template,
      READ_AT_MS,
      window,
      start,
      end,
      slot,
      0,
      1_000_000,
      1000,
      single?.marks,
      ends,
    );
    got += slot.bytes.toString('utf8', 0, written);
  }
  const expected = events.map((event) =>
    event.replace('"_time":"read"', `"_time":"${new Date(READ_AT_MS).toISOString()}"`),
  );
  expect(got.trimEnd().split('\n')).toEqual(expected);
});
