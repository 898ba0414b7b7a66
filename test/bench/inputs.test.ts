/** The benchmarks' inputs: the same seed makes the same bytes, of the promised sizes. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checksumInput, writeInput, writeLines } from '../../bench/inputs.ts';
import type { InputKind } from '../../bench/inputs.ts';
import { suiteFolder } from '../support/temp-tree.ts';

const folder = suiteFolder();

function make(kind: InputKind, seed: number, name: string) {
  const input = writeInput(kind, seed, 2 << 20, join(folder, name));
  const bytes = readFileSync(input.file);
  return { input, bytes, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) };
}

test.each([
  ['text', 165, 190, '593e344ac942d089'],
  ['json', 300, 320, '343a6d69c330224b'],
] as const)(
  '%s input is the same bytes for the same seed, in lines of about the promised size',
  (kind, least, most, hash) => {
    const made = make(kind, 1, `${kind}-a`);
    expect(made.hash).toBe(hash);
    expect(make(kind, 1, `${kind}-b`).hash).toBe(made.hash);
    expect(make(kind, 2, `${kind}-c`).hash).not.toBe(made.hash);
    expect(made.bytes.length).toBe(made.input.bytes);
    const lines = made.bytes.toString().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.length).toBe(made.input.lines);
    expect(new Set(lines).size).toBe(lines.length);
    const mean = made.input.bytes / made.input.lines;
    expect(mean).toBeGreaterThan(least);
    expect(mean).toBeLessThan(most);
  },
);

test('json input is one object a line', () => {
  const { bytes } = make('json', 3, 'json-objects');
  for (const line of bytes.toString().trimEnd().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
});

test('checksum of an input changes when one byte does', async () => {
  const { input } = make('text', 4, 'sum');
  const sum = await checksumInput(input);
  const bytes = readFileSync(input.file);
  bytes[1000] = bytes[1000]! ^ 1;
  writeFileSync(input.file, bytes);
  expect(await checksumInput(input)).not.toBe(sum);
});

test('lines of a given length are the same text, cut elsewhere', () => {
  const texts = [20, 1000].map((length) => {
    const input = writeLines(length, 1 << 16, join(folder, `lines-${length}`));
    const lines = readFileSync(input.file, 'utf8').split('\n').slice(0, -1);
    expect(lines).toHaveLength(input.lines);
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([length - 1]));
    return lines.join('');
  });
  const least = Math.min(...texts.map((text) => text.length));
  expect(least).toBeGreaterThan(60_000);
  expect(texts[0]!.slice(0, least)).toBe(texts[1]!.slice(0, least));
});
