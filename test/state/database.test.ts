import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { STATE_RESERVE_BYTES } from '../../src/state/limits.ts';
import { openDatabase } from '../../src/state/database/database.ts';
import { openState } from '../../src/state/database/store.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../support/tmpfs.ts';
import { batch, commit, span } from './batches.ts';
import { openInTurn } from './open-in-turn.ts';

function open(folder: string) {
  const log = new MemoryLog();
  const state = openInTurn(folder, () => openState({ folder, sinksOf: () => ['store'], log }));
  return { log, state };
}

function begin() {
  const folder = makeTree({});
  return { folder, ...open(folder) };
}

/** A folder with a used, closed database of many pages. */
function makeUsed(): string {
  const { folder, state } = begin();
  state.noteStarted(['app']);
  for (let i = 0; i < 200; i++) state.streams.mint('app', `/var/log/${'x'.repeat(100)}${i}`);
  const stream = state.streams.mint('app', '/log/a').id;
  commit(state, span(stream, 0, 10));
  state.close();
  return folder;
}

const broken: [name: string, breakIt: (file: string) => void][] = [
  ['garbage', (file) => writeFileSync(file, 'no database at all, and certainly none of ours\n'.repeat(100))],
  ['a torn end', (file) => truncateSync(file, statSync(file).size - 4096 * 3 - 100)],
  ['one page', (file) => truncateSync(file, 4096)],
  ['half a header', (file) => truncateSync(file, 50)],
  [
    'pages overwritten',
    (file) => {
      const bytes = readFileSync(file);
      for (let at = 4096 * 2; at + 4096 <= bytes.length; at += 4096) bytes.fill(0xa5, at, at + 2048);
      writeFileSync(file, bytes);
    },
  ],
  [
    'a folder in its place',
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
];

test('database of a newer version is refused with the remedy, and stays as it is', () => {
  const folder = makeUsed();
  const database = new DatabaseSync(join(folder, 'state.db'));
  database.exec('pragma user_version = 99');
  database.close();
  const before = readFileSync(join(folder, 'state.db'));
  expect(() => open(folder)).toThrow(
    expect.objectContaining({
      code: 'E_STATE_NEWER',
      message: expect.stringContaining('format 99'),
      fix: expect.stringContaining('install that version'),
    }),
  );
  expect(readFileSync(join(folder, 'state.db'))).toEqual(before);
  expect(readdirSync(folder).filter((name) => name.includes('broken'))).toEqual([]);
});

test.for(broken)('database with %s is set aside, logged, and replaced', ([, breakIt]) => {
  const folder = makeUsed();
  breakIt(join(folder, 'state.db'));
  const { state, log } = open(folder);
  expect(state.streams.list('app')).toEqual([]);
  expect(state.ledger.unsettled()).toEqual([]);
  // The source did run here before: `start_at: end` must not skip anything now.
  expect(state.hasStarted('app')).toBe(true);
  const [line] = log.find('error', 'set aside');
  expect(line?.fields).toMatchObject({ file: join(folder, 'state.db'), reason: expect.stringMatching(/.+/) });
  expect(readdirSync(folder)).toContain(String(line?.fields['aside']).slice(folder.length + 1));
  const stream = state.streams.mint('app', '/log/b').id;
  commit(state, span(stream, 0, 10));
  const { state: again, log: quiet } = open(folder);
  expect(again.ledger.unsettled()).toHaveLength(1);
  expect(quiet.lines).toEqual([]);
});

test('database that is missing although the folder was used is logged', () => {
  const folder = makeUsed();
  rmSync(join(folder, 'state.db'));
  const { state, log } = open(folder);
  expect(log.find('warn', 'state database is missing')).toHaveLength(1);
  expect(state.hasStarted('app')).toBe(true);
});

// Symptom: files were read again from their beginning without a line in the log. Cause: a file of 0 bytes opens as an empty database and
// counted as found. Fix: a database without a schema is a fresh one.
test('database of zero bytes is logged like a missing one', () => {
  const folder = makeUsed();
  truncateSync(join(folder, 'state.db'), 0);
  const { state, log } = open(folder);
  expect(state.streams.list('app')).toEqual([]);
  expect(log.find('warn', 'state database is missing')).toHaveLength(1);
});

test('database of an unused folder is made without a word', () => {
  const { log } = open(makeTree({}));
  expect(log.lines).toEqual([]);
});

test('state on a full disk refuses commits, keeps settling in memory, and saves all once there is room', () => {
  const folder = mountTmpfs(1024);
  const { state, log } = open(folder);
  const stream = state.streams.mint('app', '/log/a').id;
  const first = commit(state, span(stream, 0, 10));
  const free = fillDisk(folder);

  const later = Array.from({ length: 300 }, (_, i) => batch(state.ledger.nextId(), [span(stream, 10 + i, 11 + i)]));
  expect(() => state.commit(later)).toThrow(/full/);
  expect(state.streams.markOf(stream, 'store')?.committedTo).toBe(10);
  state.ledger.settle(first);
  expect([state.save(), state.refused.failedSaves]).toEqual([false, 1]);
  // It is tried every second: not every try is a line.
  for (let i = 0; i < 50; i++) expect(state.save()).toBe(false);
  expect(log.find('error', 'cannot save checkpoints')).toHaveLength(1);
  expect(state.ledger.unsettled()).toEqual([first]);

  free();
  expect(state.save()).toBe(true);
  expect(state.refused.failedSaves).toBe(0);
  expect(log.find('info', 'checkpoints are saved again')).toHaveLength(1);
  expect(state.ledger.unsettled()).toEqual([]);
  state.commit(later);
  const { state: again } = open(folder);
  expect(again.ledger.unsettled()).toEqual(later);
});

// Symptom: delivery stopped when the disk of data_dir was full. Cause: nothing was kept for positions. Fix: the start takes it.
test('state with a reserve commits and saves on a full disk, over many checkpoints and restarts', () => {
  const folder = mountTmpfs(64 * 1024);
  const log = new MemoryLog();
  const start = () => openState({ folder, sinksOf: () => ['store'], log, reserves: true });
  let state = start();
  const stream = state.streams.mint('app', '/log/a').id;
  fillDisk(folder);
  let at = 0;
  const work = (count: number): void => {
    for (let n = 0; n < count; n += 1) {
      const open = Array.from({ length: 10 }, () => batch(state.ledger.nextId(), [span(stream, at, (at += 10))]));
      state.commit(open);
      for (const each of open) state.ledger.settle(each);
      expect(state.save()).toBe(true);
    }
  };
  work(1500);
  const before = statSync(join(folder, 'state.db-wal')).size;
  expect(before).toBeLessThan(STATE_RESERVE_BYTES);
  expect(state.close()).toBe(true);
  state = start();
  expect(state.streams.markOf(stream, 'store')?.committedTo).toBe(at);
  work(10);
  expect(state.close()).toBe(true);
  expect(log.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
});

// Symptom: forgetting a deleted file on a full disk ended the agent. Cause: it wrote at once. Fix: the next save does.
test('state forgets a stream on a full disk without failing', () => {
  const folder = mountTmpfs(1024);
  const { state } = open(folder);
  const stream = state.streams.mint('app', '/log/a').id;
  state.save();
  const free = fillDisk(folder);
  for (let i = 0; i < 400; i++) state.streams.forget(state.streams.mint('app', `/log/${i}`).id);
  state.streams.forget(stream);
  expect(state.streams.list('app')).toEqual([]);
  free();
  const { state: again } = open(folder);
  expect(again.streams.list('app')).toEqual([]);
});

// Symptom: after a start on a full disk all positions were gone. Cause: every failure to open set the database aside.
// Fix: what says nothing about the database itself (full disk, I/O error) ends the start and leaves it in place.
test('database is not set aside when the disk is full, and serves again once there is room', () => {
  const folder = mountTmpfs(1024);
  const { state } = open(folder);
  const stream = state.streams.mint('app', '/log/a').id;
  const held = commit(state, span(stream, 0, 10));
  state.close();
  const free = fillDisk(folder);
  const log = new MemoryLog();
  expect(() => openDatabase(folder, log)).toThrow(
    expect.objectContaining({ code: 'E_STATE', message: expect.stringContaining(join(folder, 'state.db')) }),
  );
  expect(() => open(folder)).toThrow(
    expect.objectContaining({ code: 'E_STATE', fix: expect.stringContaining('free space') }),
  );
  expect(log.lines).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.includes('broken'))).toEqual([]);
  free();
  const { state: again, log: quiet } = open(folder);
  expect(quiet.lines).toEqual([]);
  expect(again.ledger.unsettled()).toEqual([held]);
});

// Symptom: files that appeared while no agent ran were skipped under `start_at: end`. Cause: noting the sources truncated
// `instance` before it wrote, so that a full disk emptied it. Fix: it is written beside and renamed.
test('state keeps what it noted of its sources when the disk is full', () => {
  const folder = mountTmpfs(1024);
  const { state } = open(folder);
  state.noteStarted(['app']);
  const free = fillDisk(folder);
  expect(() => state.noteStarted(['app', 'net'])).toThrow(
    expect.objectContaining({ code: 'E_STATE', fix: expect.stringContaining('space') }),
  );
  free();
  const { state: again } = open(folder);
  expect([again.hasStarted('app'), again.hasStarted('net')]).toEqual([true, false]);
});

test('database of the first version is brought up to this one, with its positions, and has no checksum of the bytes before', () => {
  const folder = makeTree({});
  const first = new DatabaseSync(join(folder, 'state.db'));
  first.exec(`
    create table streams (id text primary key, source text not null, path text not null, device text, inode text, head_length integer,
      head_hash text, start_at integer not null, created_ms integer not null) strict;
    create table marks (sink text not null, stream text not null, settled_to integer not null, tail_length integer not null,
      tail_crc integer not null, primary key (sink, stream)) strict, without rowid;
    create table spans (batch integer not null, seq integer not null, source text not null, stream text not null, from_byte integer not null,
      to_byte integer not null, events integer not null, crc integer not null, tail_length integer not null, tail_crc integer not null,
      digest text not null, primary key (batch, seq)) strict, without rowid;
    insert into streams values ('s1', 'app', '/log/a', '1', '2', 12, 'ab', 0, 1000);
    insert into marks values ('store', 's1', 500, 64, 7);
    pragma user_version = 1;
  `);
  const { state, log } = open(folder);
  expect(log.lines).toEqual([]);
  expect(state.streams.list('app')).toMatchObject([
    { id: 's1', resumeAt: 500, tail: { length: 64, crc: 7 }, contentSum: undefined, createdMs: 1000 },
  ]);
  const { id } = state.streams.mint('app', '/log/b');
  const settled = commit(state, span(id, 0, 10), span('s1', 500, 510));
  state.ledger.settle(settled);
  const { state: again } = open(folder);
  expect(again.streams.list('app')).toMatchObject([
    { resumeAt: 510, contentSum: undefined },
    { resumeAt: 10, contentSum: span(id, 0, 10).sum },
  ]);
});

test('database of the third version keeps its positions and unsettled batches, and drops outdated checksums', () => {
  const { folder, state } = begin();
  const { id } = state.streams.mint('app', '/log/a');
  commit(state, span(id, 0, 10));
  state.close();
  const second = new DatabaseSync(join(folder, 'state.db'));
  second.exec(`alter table marks rename column content_sum to content_crc; update marks set content_crc = 99, points = '0 0 5 17';
    alter table spans rename column content_sum to crc; update spans set crc = 77; alter table spans drop column reads;
    alter table streams drop column seen_size; alter table streams drop column archive_end; alter table streams drop column real_path; alter table streams drop column in_line; alter table streams drop column headers;
    alter table spans drop column behind; alter table spans drop column bytes; alter table marks drop column behind;
    pragma user_version = 3`);
  const { state: again, log } = open(folder);
  expect(log.lines).toEqual([]);
  expect(again.streams.list('app')).toMatchObject([{ id, contentSum: undefined }]);
  expect(again.ledger.unsettled().flatMap(({ spans }) => spans)).toMatchObject([{ from: 0, to: 10, sum: 77 }]);
});

test('database of the fourth version keeps its positions; how much of a file was seen, and where a compressed file ended, is not known', () => {
  const { folder, state } = begin();
  const { id } = state.streams.mint('app', '/log/a.gz', {
    device: '1',
    inode: '2',
    headLength: 3,
    headHash: 'done ab',
  });
  commit(state, span(id, 0, 10));
  state.close();
  const fourth = new DatabaseSync(join(folder, 'state.db'));
  fourth.exec(
    'alter table streams drop column seen_size; alter table streams drop column archive_end; alter table streams drop column real_path; alter table streams drop column in_line; alter table streams drop column headers; alter table spans drop column behind; alter table spans drop column bytes; alter table marks drop column behind; alter table spans drop column reads; pragma user_version = 4',
  );
  const { state: again, log } = open(folder);
  expect(log.lines).toEqual([]);
  const [record] = again.streams.list('app');
  expect(record).toMatchObject({ id, resumeAt: 10, identity: { headHash: 'done ab' } });
  expect(record).not.toHaveProperty('seenSize');
  expect(record).not.toHaveProperty('compressedEnd');
  const end = { size: 7, contentSize: 10, tail: { length: 7, crc: 99 } };
  again.streams.see(id, 12);
  again.streams.noteCompressedEnd(id, end);
  const { state: third } = open(folder);
  expect(third.streams.list('app')).toMatchObject([{ id, resumeAt: 10, seenSize: 12, compressedEnd: end }]);
  third.streams.see(id, 11);
  third.streams.noteCompressedEnd(id, { ...end, contentSize: undefined });
  const { state: last } = open(folder);
  expect(last.streams.list('app')).toMatchObject([{ seenSize: 11, compressedEnd: { ...end, contentSize: undefined } }]);
});

test('database of the sixth version keeps its positions and identities; where links led is not known, and noted from then on', () => {
  const { folder, state } = begin();
  const identity = { device: '1', inode: '2', headLength: 3, headHash: 'ab', path: '/log/a.1' };
  const { id } = state.streams.mint('app', '/log/a', identity);
  commit(state, span(id, 0, 10));
  state.close();
  const sixth = new DatabaseSync(join(folder, 'state.db'));
  sixth.exec(
    'alter table streams drop column real_path; alter table streams drop column in_line; alter table streams drop column headers; alter table spans drop column behind; alter table spans drop column bytes; alter table marks drop column behind; pragma user_version = 6',
  );
  const { state: again, log } = open(folder);
  expect(log.lines).toEqual([]);
  expect(again.streams.list('app')).toMatchObject([{ id, resumeAt: 10, identity }]);
  expect(again.streams.list('app')[0]!.identity).not.toHaveProperty('realPath');
  again.streams.identify(id, { ...identity, realPath: '/data/a' });
  again.close();
  expect(open(folder).state.streams.list('app')).toMatchObject([
    { id, identity: { ...identity, realPath: '/data/a' } },
  ]);
});

test('database of the seventh version keeps its streams; whether a file begins or ends in a line, and its headers, are noted from then on', () => {
  const { folder, state } = begin();
  const identity = { device: '1', inode: '2', headLength: 3, headHash: 'ab' };
  const { id } = state.streams.mint('app', '/log/a', identity);
  commit(state, span(id, 0, 10));
  state.close();
  const seventh = new DatabaseSync(join(folder, 'state.db'));
  seventh.exec(
    'alter table streams drop column in_line; alter table streams drop column headers; alter table spans drop column behind; alter table spans drop column bytes; alter table marks drop column behind; pragma user_version = 7',
  );
  const identityNow = (): unknown => {
    const { state: again, log } = open(folder);
    expect(log.lines).toEqual([]);
    const [record] = again.streams.list('app');
    again.close();
    return record!.identity;
  };
  expect(identityNow()).toEqual(identity);
  for (const inLine of [
    { beginsInLine: true },
    { endsInLine: true },
    { beginsInLine: true, endsInLine: true },
    { headers: [{ at: 9, text: '#Fields: "a\'' }] },
    {},
  ]) {
    const { state: next } = open(folder);
    next.streams.identify(id, { ...identity, ...inLine });
    next.close();
    expect(identityNow()).toEqual({ ...identity, ...inLine });
  }
});

test('database of the eighth version keeps its positions and unsettled batches under their keys; state of interleaved events is kept from then on', () => {
  const { folder, state } = begin();
  const { id } = state.streams.mint('app', '/log/a');
  const { key } = commit(state, span(id, 0, 10));
  state.close();
  const eighth = new DatabaseSync(join(folder, 'state.db'));
  eighth.exec(
    'alter table spans drop column behind; alter table spans drop column bytes; alter table marks drop column behind; pragma user_version = 8',
  );
  eighth.close();
  const { state: again, log } = open(folder);
  expect(log.lines).toEqual([]);
  expect(again.streams.list('app')).toMatchObject([{ id, resumeAt: 10 }]);
  expect(again.streams.list('app')[0]).not.toHaveProperty('behind');
  expect(again.ledger.unsettled()).toMatchObject([{ key, spans: [{ from: 0, to: 10 }] }]);
  const groups = {
    before: [['a', 40]] as const,
    untils: [30, 25, 40],
    after: { gate: 40, sum: 5, earlier: [['b', 60]] as const },
  };
  const batch = commit(again, { ...span(id, 10, 20), groups });
  again.close();
  const { state: third } = open(folder);
  expect(third.ledger.unsettled()[1]).toMatchObject({ key: batch.key, spans: [{ groups }] });
  expect(third.streams.list('app')).toMatchObject([{ resumeAt: 20, behind: groups.after }]);
  for (const each of third.ledger.unsettled()) third.ledger.settle(each);
  third.close();
  expect(open(folder).state.streams.list('app')).toMatchObject([{ resumeAt: 20, behind: groups.after }]);
});

test('database of the ninth version keeps its unsettled batches; how many bytes entries of a journal had is kept from then on', () => {
  const { folder, state } = begin();
  const { id } = state.streams.mint('app', '/log/a');
  commit(state, span(id, 0, 10));
  state.close();
  const ninth = new DatabaseSync(join(folder, 'state.db'));
  ninth.exec('alter table spans drop column bytes; pragma user_version = 9');
  ninth.close();
  const { state: again, log } = open(folder);
  expect(log.lines).toEqual([]);
  expect(again.ledger.unsettled()[0]!.spans[0]).not.toHaveProperty('bytes');
  commit(again, { ...span(id, 10, 20), bytes: 1234 });
  again.close();
  expect(open(folder).state.ledger.unsettled()[1]).toMatchObject({ spans: [{ bytes: 1234 }] });
});

test('a stream is resumed where the sink that lags is, and knows where the others are', () => {
  const state = openState({ folder: makeTree({}), sinksOf: () => ['store', 'other', 'third'], log: new MemoryLog() });
  onTestFinished(() => void state.close());
  const { id } = state.streams.mint('app', '/log/a');
  for (const [owner, to] of [
    ['store', 10],
    ['other', 30],
    ['third', 10],
  ] as const)
    state.commit([batch(state.ledger.nextId(), [span(id, 0, to)], owner)]);
  expect(state.streams.list('app')).toMatchObject([{ resumeAt: 10, cuts: [30] }]);
});

// Symptom: the agent span, deaf to SIGTERM. Cause: Node's recursive mkdir tries for ever where a folder that is there answers ENOENT.
test('data folder that the system denies with ENOENT is refused, and does not hang', () => {
  const module = join(import.meta.dirname, '../../src/state/database/database.ts');
  const script = `import { prepareFolder } from ${JSON.stringify(module)}; try { prepareFolder('/proc/none/deeper'); } catch (error) { console.log(error.code); }`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  expect({ signal: ended.signal, said: ended.stdout }).toEqual({ signal: null, said: 'E_DATA_DIR\n' });
});
