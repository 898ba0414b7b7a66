import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const CONFIG = `data_dir: data
telemetry: {listen: none}
sources: {app: {type: file, include: ["*.log"]}}
sinks: {keep: {type: archive, path: archive, dataset: logs, batch: {max_age: 10ms}}}
`;

test('archive has every line of a file once after kill -9 at any time, each batch in one file that its manifest names', async () => {
  const folder = makeTree({ 'tailrace.yaml': CONFIG });
  const run = (...more: string[]) => startProgram(['run', '-c', join(folder, 'tailrace.yaml'), ...more]);
  const files = (): string[] => globSync(join(folder, 'archive/logs/*/*/*.ndjson.zst'));
  let lines = 0;
  for (let round = 0; round < 6; round++) {
    const before = files().length;
    const agent = run();
    // Written bit by bit, so that the kill meets batches in every state.
    await until('some files are there', () => {
      appendFileSync(join(folder, 'a.log'), Array.from({ length: 20 }, () => `{"n":${lines++}}\n`).join(''));
      return files().length > before + round;
    });
    agent.process.kill('SIGKILL');
    await agent.exited;
  }
  expect(await run('--once').exited).toBe(0);
  const numbers = files().flatMap((file) => {
    const events = zstdDecompressSync(readFileSync(file)).toString().trimEnd().split('\n');
    const manifest = readFileSync(join(dirname(file), 'manifest.ndjson'), 'utf8')
      .trimEnd()
      .split('\n');
    const entries = manifest.map((line) => JSON.parse(line) as { file: string; events: number });
    expect(entries.filter(({ file: name }) => name === basename(file))).toMatchObject([{ events: events.length }]);
    return events.map((event) => (JSON.parse(event) as { n: number }).n);
  });
  const keys = files().map((file) => basename(file));
  expect(new Set(keys).size).toBe(keys.length);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: lines }, (_, n) => n));
});

test('archive takes events of standard input, and check finds a wrong key', async () => {
  const folder = makeTree({ 'tailrace.yaml': CONFIG.replace(/app: .*/, 'in: {type: stdin}}') });
  const file = join(folder, 'tailrace.yaml');
  const agent = startProgram(['run', '-c', file, '--once'], {}, 'pipe');
  agent.process.stdin?.end('one\ntwo\n');
  expect(await agent.exited).toBe(0);
  const [archived = ''] = globSync(join(folder, 'archive/logs/*/*/*.ndjson.zst'));
  expect(zstdDecompressSync(readFileSync(archived)).toString().trimEnd().split('\n')).toHaveLength(2);
  writeFileSync(file, CONFIG.replace('path: archive', 'path: archive, keeep: 1d'));
  expect(await startProgram(['check', '-c', file]).exited).toBe(2);
});
