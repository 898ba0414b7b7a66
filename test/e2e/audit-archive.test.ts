/** `tailrace audit` with an archive: what its manifests and the ledger prove of its files, and what it says of each that is not as they say. */
import {
  appendFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Audit } from '../../src/cli/audit/report.ts';
import { silentLog } from '../../src/core/log.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createArchiveSink } from '../../src/sinks/archive/sink.ts';
import { tailraceFor } from '../cli/tailrace.ts';
import { makeTree } from '../support/temp-tree.ts';

const run = tailraceFor({});

/** An agent's folder. It reads `app.log` into `path`. */
class Site {
  readonly folder = makeTree({ 'app.log': '{"n":1}\n{"n":2}\n' });
  readonly path: string;

  constructor(keys = '', path = join(this.folder, 'archive')) {
    this.path = path;
    writeFileSync(
      join(this.folder, 'tailrace.yaml'),
      `data_dir: data
telemetry: {listen: none}
sources: {app: {type: file, include: ["*.log"]}}
sinks: {keep: {type: archive, path: "${path}", dataset: logs, batch: {max_age: 10ms}${keys}}}
`,
    );
  }

  /** Reads to the end of the files. */
  async runs(): Promise<void> {
    const { code, stderr } = await run(['run', '--once', '-c', join(this.folder, 'tailrace.yaml')]);
    expect(code, stderr).toBe(0);
  }

  /** Writes a batch of so long ago. */
  async holds(key: string, hoursAgo: number): Promise<void> {
    const config = {
      id: 'keep',
      compression: 'zstd',
      path: this.path,
      maxBytes: undefined,
      keepMs: undefined,
    } as const;
    const request = { key, dataset: 'logs', events: 1, body: Buffer.from('{}\n'), encoding: 'identity' } as const;
    const readAtMs = Date.now() - hoursAgo * 3_600_000;
    const sent = await createArchiveSink(config, systemClock, silentLog).send(
      { ...request, readAtMs },
      new AbortController().signal,
    );
    expect(sent.outcome.kind).toBe('delivered');
  }

  get file(): string {
    return globSync(join(this.path, 'logs/*/*/*.zst'))[0]!;
  }

  get key(): string {
    return basename(this.file, '.ndjson.zst');
  }

  get manifest(): string {
    return join(dirname(this.file), 'manifest.ndjson');
  }

  /** A batch in the ledger that is settled, and that its mark has not passed. */
  settles(key: string, events: number, readAtMs = Date.now()): void {
    const database = new DatabaseSync(join(this.folder, 'data/state.db'));
    database.prepare("insert into batches values (99, ?, 'keep', 'logs', ?, 1, 0)").run(key, events);
    const columns =
      'batch, seq, source, stream, from_byte, to_byte, events, content_sum, tail_length, tail_crc, digest, reads';
    database
      .prepare(`insert into spans (${columns}) values (99, 0, 'app', 'gone', 0, 16, ?, 0, 0, 0, '', ?)`)
      .run(events, `0 ${readAtMs}`);
    database.close();
  }

  async audits(): Promise<{ code: number | null; text: string; held: Audit['held'][number] }> {
    const ask = (...more: string[]) => run(['audit', '-c', join(this.folder, 'tailrace.yaml'), ...more]);
    const { code, stdout } = await ask('--json');
    return { code, text: (await ask()).stdout, held: (JSON.parse(stdout) as Audit).held[0]! };
  }
}

test('audit counts what a whole archive holds, beside the ranges that are settled', async () => {
  const site = new Site();
  await site.runs();
  site.settles(site.key, 2);
  const { code, text, held } = await site.audits();
  expect(held).toMatchObject({
    sink: 'keep',
    path: site.path,
    held: { batches: 1, events: 2 },
    removed: {},
    faults: [],
    fault_count: 0,
  });
  expect(text).toMatch(/^sink keep in .*: 1 file, 2 events, \d+ B as the manifests say$/m);
  expect(code).toBe(0);
});

const faults: Readonly<
  Record<string, { readonly does: (site: Site) => unknown; readonly at?: 'manifest'; readonly why: RegExp }>
> = {
  'a file was deleted': { does: ({ file }) => rmSync(file), why: /names it, and it is not there/ },
  'a file was truncated': { does: ({ file }) => truncateSync(file, 5), why: /has 5 bytes, the manifest says/ },
  'a file was extended': { does: ({ file }) => appendFileSync(file, 'more'), why: /bytes, the manifest says/ },
  'a byte of a file was changed': {
    does: ({ file }) => {
      const bytes = readFileSync(file);
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(file, bytes);
    },
    why: /does not match its checksum/,
  },
  'a file is a link': {
    does: ({ file }) => {
      writeFileSync(`${file}.aside`, readFileSync(file));
      rmSync(file);
      symlinkSync(`${file}.aside`, file);
    },
    why: /symbolic link/,
  },
  'a line of a manifest is no entry': {
    does: ({ manifest }) => appendFileSync(manifest, '{}\n'),
    at: 'manifest',
    why: /line 2 does not/,
  },
  'a manifest counts other events than the ledger': {
    does: (site) => site.settles(site.key, 3),
    why: /counts 2 events.*ledger 3/,
  },
  'a manifest lost the line of a batch that counts as delivered': {
    does: (site) => {
      site.settles(site.key, 2);
      writeFileSync(site.manifest, '');
    },
    why: /the manifest has no line for it/,
  },
  'no manifest names a batch that counts as delivered': {
    does: (site) => site.settles('unknown', 7),
    at: 'manifest',
    why: /no line for a batch of 7 events/,
  },
};

test.each(Object.entries(faults))('audit names the file and ends with 1, when %s', async (_, { does, at, why }) => {
  const site = new Site();
  await site.runs();
  const path = site[at ?? 'file'];
  const key = why.source.includes('of 7') ? { key: 'unknown' } : at === undefined ? { key: site.key } : {};
  does(site);
  const { code, text, held } = await site.audits();
  expect(held).toMatchObject({ fault_count: 1, faults: [{ path, ...key, why: expect.stringMatching(why) as string }] });
  expect(text).toMatch(why);
  expect(code).toBe(1);
});

test.each([
  ['keep', ', keep: 1h'],
  ['max_bytes', ', max_bytes: 1MiB'],
])('audit says what %s removed, and misses no batch of it', async (because, keys) => {
  const site = new Site(keys);
  await site.holds('old', 30);
  await site.holds('older', 40);
  if (because === 'max_bytes') {
    const [large = ''] = globSync(join(site.path, 'logs/*/*/old.*'));
    const line = readFileSync(join(dirname(large), 'manifest.ndjson'), 'utf8');
    // Its size counts as the manifest has it.
    writeFileSync(join(dirname(large), 'manifest.ndjson'), line.replace(/"bytes":\d+/, '"bytes":2000000'));
  }
  await site.runs();
  site.settles('old', 1, Date.now() - 30 * 3_600_000);
  const { code, text, held } = await site.audits();
  expect(held).toMatchObject({
    held: { batches: 1, events: 2 },
    fault_count: 0,
    removed: { [because]: { hours: 2, batches: 2, events: 2 } },
  });
  expect(text).toMatch(
    new RegExp(`removed by ${because}: 2 hours up to \\d{4}-\\d\\d-\\d\\d/\\d\\d, 2 files, 2 events`),
  );
  expect(code).toBe(0);
});

test('audit of two agents speaks of the archive of each, and of all of one that they share', async () => {
  const shared = makeTree({});
  const [alone, first, second] = [new Site(), new Site('', shared), new Site('', shared)];
  for (const site of [alone, first, second]) await site.runs();
  rmSync(alone.file);
  expect(await alone.audits()).toMatchObject({ code: 1, held: { held: { batches: 0 } } });
  for (const site of [first, second])
    expect(await site.audits()).toMatchObject({ code: 0, held: { held: { batches: 2, events: 4 } } });
});

test('audit takes files that a crash left without a line, or half written, for no fault', async () => {
  const site = new Site();
  await site.runs();
  const before = readFileSync(site.manifest);
  writeFileSync(site.manifest, '');
  writeFileSync(join(dirname(site.file), '.b2.ndjson.zst.tmp'), 'half');
  mkdirSync(join(site.path, 'logs/notes'), { recursive: true });
  expect(await site.audits()).toMatchObject({ code: 0, held: { unlisted: 1, unfinished: 1, held: { batches: 0 } } });
  appendFileSync(join(site.folder, 'app.log'), '{"n":3}\n');
  await site.runs();
  expect(readFileSync(site.manifest).subarray(0, before.length)).toEqual(before);
  expect(await site.audits()).toMatchObject({
    code: 0,
    held: { unlisted: 0, unfinished: 0, held: { batches: 2, events: 3 } },
  });
});
