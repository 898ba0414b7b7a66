/**
 * Every call by which an archive reaches the disk fails once, and the process dies before every one: whatever comes next, each batch that was
 * delivered is in one file with one line, or in an hour that was removed and counted, and nothing half done is left.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import type { SinkRequest, Sink } from '../../../src/core/sink.ts';
import { proveArchive } from '../../../src/sinks/archive/prove.ts';
import { createArchiveSink } from '../../../src/sinks/archive/sink.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { mountTmpfs } from '../../support/tmpfs.ts';

/** `dies`: so does every call after it. */
const disk = vi.hoisted(() => ({
  failsAt: Infinity,
  dies: false,
  code: 'EIO',
  calls: [] as string[],
  synced: new Set<string>(),
}));

vi.mock('node:fs/promises', async (load) => {
  type Call = (...given: unknown[]) => Promise<unknown>;
  const counted =
    (name: string, call: Call): Call =>
    async (...given) => {
      disk.calls.push(name);
      const nth = disk.calls.length;
      if (nth < disk.failsAt || (nth > disk.failsAt && !disk.dies)) return call(...given);
      // A full disk takes the beginning.
      if (name === 'writeFile' && nth === disk.failsAt) await call(Buffer.from(given[0] as string).subarray(0, 9));
      throw Object.assign(new Error(`${disk.code}: ${name}`), { code: disk.code });
    };
  const real = await load<Record<string, Call>>();
  const mocked: Record<string, unknown> = { ...real };
  for (const name of ['mkdir', 'rename', 'rm', 'rmdir', 'truncate', 'readdir', 'readFile'])
    mocked[name] = counted(name, real[name]!);
  mocked['open'] = counted('open', async (...given) => {
    const file = (await real['open']!(...given)) as Record<string, Call>;
    const sync = file['sync']!.bind(file);
    file['sync'] = async () => {
      await sync();
      disk.synced.add(given[0] as string);
    };
    for (const name of ['writeFile', 'sync', 'truncate', 'stat']) file[name] = counted(name, file[name]!.bind(file));
    return file;
  });
  return mocked;
});

beforeEach(() => void Object.assign(disk, { failsAt: Infinity, dies: false, code: 'EIO' }));

const HOUR_MS = 3_600_000;
const body = Buffer.from('{"n":1}\n{"n":2}\n');
/** Two batches an hour; the last hours push out the first. */
const requests = [0, 0, 1, 2, 2, 3].map((hour, n): SinkRequest => ({
  ...{ key: `k${n}`, dataset: 'logs', events: 2, body, encoding: 'identity' },
  readAtMs: Date.parse('2026-11-27T01:00:00Z') + hour * HOUR_MS,
}));

function open(path: string): Sink {
  const clock = new SteppedClock();
  clock.now = () => Date.parse('2026-11-27T05:00:00Z');
  return createArchiveSink(
    { id: 'keep', compression: 'none', path, maxBytes: 3 * body.length, keepMs: undefined },
    clock,
    silentLog,
  );
}

/** Sends them in order, each until it is delivered; the times that one was not. */
async function sendAll(sink: Sink, tries: number): Promise<number> {
  let pauses = 0;
  for (const request of requests) {
    for (;;) {
      const { outcome } = await sink.send(request, new AbortController().signal);
      if (outcome.kind === 'delivered') break;
      pauses += 1;
      if (pauses === tries) return pauses;
    }
  }
  return pauses;
}

/** The faults of the archive once all were delivered. */
async function complaints(path: string): Promise<string[]> {
  const proof = await proveArchive(path, []);
  const wrong = proof.faults.map(({ path: file, why }) => `${file}: ${why}`);
  if (proof.unlisted + proof.unfinished > 0) wrong.push(`${proof.unlisted} unlisted, ${proof.unfinished} unfinished`);
  const lines = globSync(join(path, '*/*/*/manifest.ndjson')).flatMap((file) =>
    readFileSync(file, 'utf8').trimEnd().split('\n'),
  );
  const files = globSync(join(path, '*/*/*/*')).map((file) => basename(file));
  const listed = lines.map((line) => (JSON.parse(line) as { file: string }).file);
  if (
    listed.toSorted().join() !==
    files
      .filter((file) => file !== 'manifest.ndjson')
      .toSorted()
      .join()
  )
    wrong.push(`listed are ${listed.join()}, there are ${files.join()}`);
  const folders = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const folder of [dirname(path), path, ...folders.map(({ parentPath, name }) => join(parentPath, name))])
    if (!disk.synced.has(folder)) wrong.push(`${folder} was never synced`);
  // Those of the last hour are never removed.
  if (!listed.includes('k5.ndjson')) wrong.push('the last batch is not there');
  const hidden = readdirSync(path, { recursive: true }).filter((name) => basename(String(name)).startsWith('.'));
  if (hidden.length > 0) wrong.push(`left behind: ${hidden.join()}`);
  return wrong;
}

/** Calls where none fails. */
async function countCalls(root: string): Promise<number> {
  disk.calls = [];
  const path = join(root, 'none');
  expect(await sendAll(open(path), 1)).toBe(0);
  const calls = disk.calls.length;
  expect(await complaints(path)).toEqual([]);
  return calls;
}

test.each(['ENOSPC', 'EIO', 'ENOENT'])(
  'archive takes %s at any call as nothing but a delay, and sums up what it removed',
  async (code) => {
    const root = mountTmpfs(16_384);
    const calls = await countCalls(root);
    const wrong: string[] = [];
    for (let nth = 1; nth <= calls; nth++) {
      const path = join(root, String(nth));
      Object.assign(disk, { failsAt: nth, code, calls: [] });
      const pauses = await sendAll(open(path), 3);
      const name = `${nth} ${disk.calls[nth - 1]}`;
      disk.failsAt = Infinity;
      if (pauses > 1) wrong.push(`${name}: paused ${pauses} times`);
      wrong.push(...(await complaints(path)).map((each) => `${name}: ${each}`));
      const { held, removed } = await proveArchive(path, []);
      const sum = held.batches + (removed['max_bytes']?.batches ?? 0);
      // Where it seems to be gone others removed it.
      if (code !== 'ENOENT' && sum !== requests.length)
        wrong.push(`${name}: ${sum} of ${requests.length} are held or were removed`);
    }
    expect(wrong).toEqual([]);
  },
);

test('archive leaves nothing half done when the process is killed before any call, and a second one sends all again', async () => {
  const root = mountTmpfs(16_384);
  const calls = await countCalls(root);
  const wrong: string[] = [];
  for (let nth = 1; nth <= calls; nth++) {
    const path = join(root, String(nth));
    Object.assign(disk, { failsAt: nth, dies: true, calls: [] });
    await sendAll(open(path), 1);
    const name = `${nth} ${disk.calls[nth - 1]}`;
    Object.assign(disk, { failsAt: Infinity, dies: false });
    expect(await sendAll(open(path), 1), name).toBe(0);
    wrong.push(...(await complaints(path)).map((each) => `${name}: ${each}`));
  }
  expect(wrong).toEqual([]);
});
