/** From the agent over an archive back into a service: `tailrace ingest --archive`, with the real programs. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { tailraceFor } from '../cli/tailrace.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const service = localService('logs');
const env = () => ({ TAILRACE_URL: service.url, TAILRACE_TOKEN: API_TOKEN });
const tailrace = (args: readonly string[]) => tailraceFor(env())(args);

const count = async (dataset: string): Promise<number> =>
  (await service.aggregate(dataset, [{ op: 'count' }]))[0] as number;
const numbersOf = async (dataset: string): Promise<number[]> =>
  (await service.events(dataset)).map(({ n }) => n as number).toSorted((a, b) => a - b);
const upTo = (lines: number): number[] => Array.from({ length: lines }, (_, n) => n);

/** Of an agent whose sink `keep` writes to `archive`, into datasets of these names. */
const configOf = (dataset: string, more = ''): string => `data_dir: data
telemetry: {listen: none}
sources:
  app: {type: file, include: ["*.log"]}
  web: {type: file, include: ["*.web"], dataset: ${dataset}-web}
sinks: {keep: {type: archive, path: archive, dataset: ${dataset}, batch: {max_age: 10ms}${more}}}
`;

/** An archive of so many batches of two events in each of these hours; returns the folder, and the names of the files. */
function makeArchive(hours: readonly string[], batches = 1, dataset = 'logs'): { root: string; files: string[] } {
  const files: Record<string, Uint8Array> = {};
  const manifests: Record<string, string> = {};
  let n = 0;
  for (const hour of hours)
    for (let batch = 0; batch < batches; batch++) {
      const key = createHash('sha256')
        .update(`${dataset} ${hour} ${batch} ${Math.random()}`)
        .digest('hex')
        .slice(0, 32);
      const content = zstdCompressSync(
        `{"n":${n++},"_time":"2026-11-27T00:00:00Z"}\n{"n":${n++},"_time":"2026-11-27T00:00:00Z"}\n`,
      );
      files[`${dataset}/${hour}/${key}.ndjson.zst`] = content;
      manifests[hour] = (manifests[hour] ?? '') + lineOf(`${key}.ndjson.zst`, content, 2);
    }
  const lines = Object.entries(manifests).map(([hour, text]) => [`${dataset}/${hour}/manifest.ndjson`, text] as const);
  return { root: makeTree({ ...files, ...Object.fromEntries(lines) }), files: Object.keys(files) };
}

function lineOf(file: string, content: Uint8Array, events: number): string {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return `${JSON.stringify({ file, key: file.split('.')[0], events, bytes: content.length, sha256 })}\n`;
}

test('an archive of an agent that was killed comes into a service whole, and a second run stores nothing twice', async () => {
  const folder = makeTree({ 'tailrace.yaml': configOf('trip') });
  const run = (...more: string[]) => startProgram(['run', '-c', join(folder, 'tailrace.yaml'), ...more]);
  const files = () => globSync(join(folder, 'archive/*/*/*/*.ndjson.zst'));
  let lines = 0;
  for (let round = 0; round < 3; round++) {
    const before = files().length;
    const agent = run();
    await until('some files are there', () => {
      const more = Array.from({ length: 20 }, () => `{"n":${lines++}}\n`);
      appendFileSync(join(folder, 'a.log'), more.join(''));
      appendFileSync(join(folder, 'b.web'), more.join(''));
      return files().length > before + round + 1;
    });
    agent.process.kill('SIGKILL');
    await agent.exited;
  }
  expect(await run('--once').exited).toBe(0);
  const args = ['ingest', '--archive', join(folder, 'archive'), '--create-dataset', '--json'];
  for (let time = 0; time < 2; time++) {
    const ended = await tailrace(args);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const of = (dataset: string) => ({
      files: globSync(join(folder, `archive/${dataset}/*/*/*.zst`)).length,
      ingested: lines,
      failed: 0,
    });
    expect(ended.json()).toMatchObject([
      {
        archive: join(folder, 'archive'),
        datasets: { trip: of('trip'), 'trip-web': of('trip-web') },
        files: files().length,
        requests: files().length,
        ingested: 2 * lines,
        failed: 0,
        left_out: [],
      },
    ]);
    for (const dataset of ['trip', 'trip-web']) expect(await numbersOf(dataset)).toEqual(upTo(lines));
  }
});

test('an archive whose oldest hours were swept comes into a service as far as it is there', async () => {
  const folder = makeTree({ 'tailrace.yaml': configOf('swept', ', keep: 1h') });
  const old = makeArchive(['2020-01-01/05', '2020-01-02/05'], 2, 'swept').root;
  renameSync(old, join(folder, 'archive'));
  mkdirSync(old);
  appendFileSync(
    join(folder, 'a.log'),
    upTo(100)
      .map((n) => `{"n":${n}}\n`)
      .join(''),
  );
  expect(await startProgram(['run', '-c', join(folder, 'tailrace.yaml'), '--once']).exited).toBe(0);
  expect(globSync(join(folder, 'archive/swept/2020*'))).toEqual([]);
  expect((await tailrace(['ingest', '--archive', join(folder, 'archive'), '--create-dataset'])).code).toBe(0);
  expect(await numbersOf('swept')).toEqual(upTo(100));
});

test('ingest --archive that is killed in the middle and run again stores every event once', async () => {
  const { root } = makeArchive(['2026-11-27/03', '2026-11-27/04'], 150, 'killed');
  const args = ['ingest', '--archive', root, '--create-dataset'];
  for (const stored of [1, 200]) {
    const run = startProgram(args, env());
    await until('some events are stored', async () => (await count('killed').catch(() => 0)) >= stored);
    await run.end('SIGKILL');
  }
  expect(await tailrace(args)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('600 events ingested into killed, 0 failed (300 files, '),
  });
  expect(await numbersOf('killed')).toEqual(upTo(600));
});

test('ingest --archive sends each file under its key, and with --since those of that hour and later alone', async () => {
  const hours = ['2025-11-26/23', '2025-11-27/03', '2025-11-27/04'];
  const { root } = makeArchive(hours, 2, 'since');
  const ended = await tailrace([
    'ingest',
    '--archive',
    root,
    '--since',
    '2025-11-27T03:59:59Z',
    '--create-dataset',
    '--json',
  ]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.json()).toMatchObject([{ files: 4, ingested: 8 }]);
  expect(await numbersOf('since')).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  // Under its key: the same file by another way is not stored again.
  const [file] = globSync(join(root, 'since/2025-11-27/03/*.zst'));
  const headers = {
    authorization: `Bearer ${API_TOKEN}`,
    'content-type': 'application/x-ndjson',
    'idempotency-key': basename(file!).split('.')[0]!,
  };
  const again = await fetch(`${service.url}/v1/ingest/since`, { method: 'POST', headers, body: '{"n":99}\n' });
  expect(again.status).toBe(200);
  expect(await count('since')).toBe(8);
  const later = await tailrace(['ingest', '--archive', root, '--since', '1h', '--json']);
  expect(later).toMatchObject({ code: 0 });
  expect(later.json()).toMatchObject([{ files: 0, ingested: 0, left_out: [] }]);
});

describe('ingest --archive names damaged files, sends the rest and ends with 1:', () => {
  let made = 0;
  const HOUR = '2026-11-27/03';
  type Spoil = (hour: string, file: string, root: string) => void;
  const rewrite = (file: string, content: Uint8Array, events = 2): void => {
    writeFileSync(file, content);
    const manifest = join(dirname(file), 'manifest.ndjson');
    const others = readFileSync(manifest, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.includes(basename(file)));
    writeFileSync(manifest, others.map((line) => `${line}\n`).join('') + lineOf(basename(file), content, events));
  };
  const cases: Record<string, [spoil: Spoil, says: RegExp, stored?: number]> = {
    'a changed byte': [(_, file) => writeFileSync(file, flip(readFileSync(file))), /does not match its checksum/],
    'a file that was cut off': [(_, file) => truncateSync(file, 9), /it has 9 bytes, the manifest says \d+/],
    'a file that is not there': [(_, file) => rmSync(file), /the manifest names it, and it is not there/],
    'a broken compression': [(_, file) => rewrite(file, Buffer.from('no zstd')), /cannot be unpacked/],
    'a cut compression': [(_, file) => rewrite(file, readFileSync(file).subarray(0, -4)), /cannot be unpacked/],
    'a compression bomb': [
      (_, file) => rewrite(file, zstdCompressSync(Buffer.alloc(100 * 1024 * 1024))),
      /cannot be unpacked/,
    ],
    'another number of events': [
      (_, file) => rewrite(file, readFileSync(file), 3),
      /it has 2 events, the manifest says 3/,
    ],
    'a file larger than any batch': [
      (_, file) => rewrite(file, Buffer.alloc(21 * 1024 * 1024)),
      /no batch has more than/,
    ],
    'a link in place of a file': [(_, file) => linkElsewhere(file), /symbolic link, which is not followed/],
    'a pipe in place of a file': [(_, file) => (rmSync(file), execFileSync('mkfifo', [file])), /no regular file/],
    'a folder in place of a file': [(_, file) => (rmSync(file), mkdirSync(file)), /no regular file/],
    'an unfinished file': [
      (hour) => writeFileSync(join(hour, '.f0.ndjson.zst.tmp'), 'half'),
      /\.f0\.ndjson\.zst\.tmp: it is not whole/,
      6,
    ],
    'a line that is none': [
      (hour) => appendFileSync(join(hour, 'manifest.ndjson'), 'nonsense\n'),
      /its line 4 does not describe a file/,
      6,
    ],
    'a line of another folder': [
      (hour) =>
        appendFileSync(join(hour, 'manifest.ndjson'), lineOf('../../../../../../etc/passwd', Buffer.from('x'), 1)),
      /its line 4 does not describe a file/,
      6,
    ],
    'a line with another key': [
      (hour) =>
        appendFileSync(
          join(hour, 'manifest.ndjson'),
          `{"file":"a.ndjson","key":"b","events":1,"bytes":1,"sha256":"${'0'.repeat(64)}"}\n`,
        ),
      /its line 4 does not describe a file/,
      6,
    ],
    'a huge line': [
      (hour) => appendFileSync(join(hour, 'manifest.ndjson'), `${'x'.repeat(30_000_000)}\n`),
      /its line 4 does not describe/,
      6,
    ],
    'a link in place of a day': [
      (_, __, root) => symlinkSync('/etc', join(root, `spoilt-${made}`, '2026-11-28')),
      /2026-11-28: it is a symbolic link/,
      6,
    ],
    'a link in place of a manifest': [
      (hour) => (
        renameSync(join(hour, 'manifest.ndjson'), join(hour, 'm')),
        symlinkSync('m', join(hour, 'manifest.ndjson'))
      ),
      /manifest\.ndjson: it cannot be read: it is a symbolic link/,
      6,
    ],
  };
  test.each(Object.entries(cases))('%s', async (_, [spoil, says, stored = 4]) => {
    const dataset = `spoilt-${++made}`;
    const { root, files } = makeArchive([HOUR], 3, dataset);
    spoil(join(root, dataset, HOUR), join(root, files[1]!), root);
    const ended = await tailrace(['ingest', '--archive', root, '--create-dataset', '--json']);
    expect(ended.stderr).toMatch(says);
    expect(ended.code).toBe(1);
    const [result] = ended.json<{ left_out: { file: string; reason: string }[] }>();
    expect(result).toMatchObject({ ingested: stored, failed: 0 });
    expect(result!.left_out).toHaveLength(1);
    expect(await count(dataset)).toBe(stored);
  });

  function flip(bytes: Buffer): Buffer {
    bytes[bytes.length - 1]! ^= 1;
    return bytes;
  }

  function linkElsewhere(file: string): void {
    renameSync(file, `${file}.real`);
    symlinkSync(`${file}.real`, file);
  }
});

test('ingest --archive takes what only a crash left: a file without a line, a line that was cut off; and leaves other files alone', async () => {
  const { root, files } = makeArchive(['2026-11-27/03'], 3, 'crash');
  const manifest = join(root, 'crash/2026-11-27/03/manifest.ndjson');
  truncateSync(manifest, readFileSync(manifest).length - 20);
  const gz = gzipSync('{"n":6}\n');
  writeFileSync(join(root, 'crash/2026-11-27/03/ab12.ndjson.gz'), gz);
  appendFileSync(join(root, 'crash/2026-11-27/03/notes.txt'), 'mine');
  for (const other of [
    '..x/2026-11-27/03',
    'a b/2026-11-27/03',
    'crash/2026-11/03',
    'crash/2026-11-27/.03.gone',
    'logs.old/2026-11-27/03',
  ]) {
    mkdirSync(join(root, other), { recursive: true });
    writeFileSync(join(root, other, 'cd34.ndjson.gz'), gz);
  }
  expect(files).toHaveLength(3);
  const ended = await tailrace(['ingest', '--archive', root, '--create-dataset', '--json']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.json()).toMatchObject([{ datasets: { crash: { files: 4, ingested: 7 } }, left_out: [] }]);
  expect(await numbersOf('crash')).toEqual(upTo(7));
});

test('ingest --archive sends a file once whose line the manifest has a thousand times', async () => {
  const { root } = makeArchive(['2026-11-27/03'], 1, 'thousand');
  const manifest = join(root, 'thousand/2026-11-27/03/manifest.ndjson');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').repeat(1000));
  const ended = await tailrace(['ingest', '--archive', root, '--create-dataset', '--json']);
  expect({ code: ended.code, found: ended.json() }).toMatchObject({ code: 0, found: [{ files: 1, requests: 1 }] });
});

test.each<[string, (root: string) => string[], number, string]>([
  ['a dataset beside it', (root) => ['logs', '--archive', root], 2, '"logs" was given, too'],
  ['labels', (root) => ['--archive', root, '--labels', 'a=b'], 2, '--archive does not take --labels'],
  ['a format', (root) => ['--archive', root, '--timestamp-field', 't'], 2, '--archive does not take --timestamp-field'],
  ['no folder', (root) => ['--archive', join(root, 'nope')], 2, 'cannot read the archive'],
  ['a folder that is no archive', (root) => ['--archive', join(root, 'logs')], 2, 'is no archive'],
  ['a time that is none', (root) => ['--archive', root, '--since', 'soon'], 2, '--since: "soon" is no time'],
  ['a number', (root) => ['--archive', root, '--since', '1764475353'], 2, 'is no time'],
  ['--since alone', () => ['logs', '--since', '1h'], 2, 'give --archive DIR'],
  [
    'a dataset that is not there',
    () => ['--archive', makeArchive(['2026-11-27/03'], 1, 'lgos').root],
    1,
    'did you mean "logs"?',
  ],
])('ingest --archive says what is wrong and what to do: %s', async (_, args, code, says) => {
  const { root } = makeArchive(['2026-11-27/03']);
  const ended = await tailrace(['ingest', ...args(root)]);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toContain(says);
  expect(ended.stderr).toContain('fix: ');
});

test('ingest --archive that fails says from which hour to go on', async () => {
  const { root } = makeArchive(['2026-11-27/03', '2026-11-28/04'], 1, 'gone');
  renameSync(join(root, 'gone/2026-11-28'), join(root, '2026-11-28'));
  mkdirSync(join(root, 'absent'));
  renameSync(join(root, '2026-11-28'), join(root, 'absent/2026-11-28'));
  await service.ask('POST', '/v1/datasets', { name: 'gone' });
  const { code, stderr } = await tailrace(['ingest', '--archive', root]);
  expect(code).toBe(1);
  expect(stderr).toContain('all before 2026-11-28 is done: 2 events');
  expect(stderr).toContain('to go on from here, add --since 2026-11-28T04:00Z');
  expect(stderr).toContain('`tailrace datasets create absent` makes it');
});
