/**
 * What the agent promises with every sink: nothing is missing after kill -9, an outage, SIGTERM and a reload, keys stay, events at fault hold
 * nothing up, and the accounting holds at every scrape. Each type of the registry is tried on its subject (test/sinks/subjects/) from a file; the
 * first also from a journal.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { SINK_TYPES } from '../../src/sinks/registry.ts';
import { openState } from '../../src/state/database/store.ts';
import type { StoredBatch } from '../../src/state/database/stored-batch.ts';
import type { Destination, Subject } from '../sinks/subjects/subject.ts';
import { Journal, lacksJournal } from '../support/journal.ts';
import { type Program, startProgram } from '../support/program.ts';
import { addressOf, range, seqOf, sumOf } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

for (const type of Object.keys(SINK_TYPES)) {
  const { subject } = (await import(`../sinks/subjects/${type}.ts`)) as { readonly subject: Subject };
  describe(type, () => tryPromises(type, subject, logFile));
  if (type === 'ingest')
    describe.skipIf(lacksJournal)(`${type} from a journal (${lacksJournal ?? 'real'})`, () =>
      tryPromises(type, subject, journalIn),
    );
}

/** What a source reads in a folder. */
interface Input {
  /** The keys of the source, and others that it gets one after another. */
  readonly source: string;
  readonly changes: readonly string[];
  readonly add: (...lines: readonly Buffer[]) => void;
}

function logFile(folder: string): Input {
  return {
    source: 'type: file, include: [app.log], scan_interval: 100ms',
    changes: ['max_event_bytes: 2MiB', 'format: text', 'exclude: [b.log]', 'fields: {round: 3}'],
    add: (...lines) =>
      appendFileSync(join(folder, 'app.log'), Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))),
  };
}

function journalIn(folder: string): Input {
  const journal = new Journal(join(folder, 'journal'));
  return {
    source: 'type: journald, directory: journal, since: all',
    changes: ['priority: info', 'identifiers: [app]', 'fields: all', 'fields: {round: 3}'],
    add: (...lines) => journal.add(...lines.map((MESSAGE) => ({ MESSAGE, PRIORITY: '6', SYSLOG_IDENTIFIER: 'app' }))),
  };
}

/** A folder with a log, and an agent that ships it. */
interface Rig extends Destination {
  readonly folder: string;
  readonly add: Input['add'];
  readonly changes: Input['changes'];
  /** Adds so many numbered lines, longer together than what a pipe holds where they are many. */
  write(count: number): void;
  /** With more keys of sink and source. */
  configure(sink?: string, more?: string): void;
  /** Starts the agent, whose accounting is watched. */
  run(): Promise<Program>;
  /** Waits until every line is stored, and none twice where the sink tells. */
  hasAll(): Promise<void>;
  /** Batches that are committed and not settled, after the agent's end. */
  unsettled(): readonly StoredBatch[];
}

async function rigOf(type: string, subject: Subject, inputIn: (folder: string) => Input): Promise<Rig> {
  const folder = makeTree({ 'app.log': '' });
  const { source, add, changes } = inputIn(folder);
  const destination = await subject.destination(folder);
  const watch = watchAccounting();
  onTestFinished(async () => {
    await watch.stop();
    expect(watch.problems).toEqual([]);
  });
  let lines = 0;
  // Those of a journal are in the text of their message.
  const seqs = (): number[] =>
    destination
      .stored()
      .map((event) => event.replaceAll('\\"', '"'))
      .filter((event) => event.includes('"seq"'))
      .map(seqOf);
  const config = join(folder, 'tailrace.yaml');
  const rig: Rig = {
    ...destination,
    folder,
    add,
    changes,
    write: (count) => add(...range(count).map(() => Buffer.from(`{"seq":${lines++},"pad":"${'x'.repeat(100)}"}`))),
    configure(sink = '', more = '') {
      const keys = [`type: ${type}`, destination.keys, sink].filter((each) => each !== '').join(', ');
      const text = `data_dir: data\nshutdown_timeout: 1s\ntelemetry: {listen: "127.0.0.1:0"}\nsinks: {out: {${keys}}}\n`;
      writeFileSync(config, `${text}sources: {app: {${source}, ${more}}}\n`, { mode: 0o600 });
    },
    async run() {
      const agent = destination.start('run', '--config', config);
      const scrapes = watch.scrapes;
      watch.watch(await addressOf(agent));
      await until('it was scraped', () => watch.scrapes > scrapes);
      return agent;
    },
    async hasAll() {
      await until('every line is stored', () => new Set(seqs()).size === lines);
      if (destination.isOnce) expect(seqs()).toHaveLength(lines);
    },
    unsettled() {
      const state = openState({ folder: join(folder, 'data'), sinksOf: () => ['out'], log: silentLog });
      try {
        return state.ledger.unsettled();
      } finally {
        state.close();
      }
    },
  };
  rig.configure();
  return rig;
}

/** How many batches are committed and not settled, while the agent runs. */
function committed(folder: string): number {
  const database = new DatabaseSync(join(folder, 'data', 'state.db'), { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as n from batches').get()!['n']);
  } finally {
    database.close();
  }
}

function tryPromises(type: string, subject: Subject, input: (folder: string) => Input): void {
  test('has every event after kill -9 at any time, each in its batch', async () => {
    const rig = await rigOf(type, subject, input);
    for (let round = 0; round < 4; round++) {
      const had = rig.stored().length;
      const agent = await rig.run();
      // Written bit by bit, so that the kill meets batches in every state.
      await until('more is stored', () => {
        rig.write(20);
        return rig.stored().length > had + 40 * round;
      });
      await agent.end('SIGKILL');
    }
    const agent = await rig.run();
    await rig.hasAll();
    expect(await agent.end()).toBe(0);
    const keys = rig.storedKeys?.() ?? [];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('keeps the keys of batches that a kill -9 met while nobody took them', async () => {
    const rig = await rigOf(type, subject, input);
    rig.away();
    rig.write(4000);
    const spansOf = (batches: readonly StoredBatch[]): Map<string, string> =>
      new Map(
        batches.map(({ key, spans }) => [spans.map(({ stream, from, to }) => `${stream} ${from}-${to}`).join(), key]),
      );
    const known = new Map<string, string>();
    for (let round = 0; round < 2; round++) {
      const agent = await rig.run();
      await until('a batch is committed', () => committed(rig.folder) > 0);
      await agent.end('SIGKILL');
      const found = spansOf(rig.unsettled());
      for (const [spans, key] of known) if (found.has(spans)) expect(found.get(spans)).toBe(key);
      for (const [spans, key] of found) known.set(spans, key);
    }
    expect(known.size).toBeGreaterThan(0);
    rig.back();
    const agent = await rig.run();
    await rig.hasAll();
    expect(await agent.end()).toBe(0);
    if (rig.storedKeys) expect(rig.storedKeys()).toEqual(expect.arrayContaining([...known.values()]));
  });

  test('holds what nobody takes, counted, and delivers it once somebody does', async () => {
    const rig = await rigOf(type, subject, input);
    rig.write(10);
    const agent = await rig.run();
    await rig.hasAll();
    rig.away();
    rig.write(4000);
    await until('some are held', async () => (await sumOf(agent, 'tailrace_events_held')) > 0);
    rig.back();
    await rig.hasAll();
    await until('nothing is held', async () => (await sumOf(agent, 'tailrace_events_held')) === 0);
    expect(await sumOf(agent, 'tailrace_ingest_events_total')).toBe(4010);
    expect(await agent.end()).toBe(0);
  });

  test('ends on SIGTERM while nobody takes anything, and delivers the rest at the next start', async () => {
    const rig = await rigOf(type, subject, input);
    rig.away();
    rig.write(4000);
    const first = await rig.run();
    await until('some are held', async () => (await sumOf(first, 'tailrace_events_held')) > 0);
    expect(await first.end()).toBe(0);
    rig.back();
    const second = await rig.run();
    await rig.hasAll();
    expect(await second.end()).toBe(0);
  });

  test.each([
    [
      'its own keys',
      [16, 8, 24, 32].map(
        (memory, n) => [`transform: 'extend round = ${n}', buffer: {max_memory: ${memory}MiB}`] as const,
      ),
    ],
    ['its source', undefined],
  ])('goes on over reloads of %s, also while nobody takes anything', async (_, keys) => {
    const rig = await rigOf(type, subject, input);
    const agent = await rig.run();
    for (const [round, changed] of (keys ?? rig.changes.map((more) => ['', more] as const)).entries()) {
      if (round === 2) rig.away();
      rig.write(2000);
      rig.configure(...changed);
      agent.process.kill('SIGHUP');
      await until('it is in force', async () => (await sumOf(agent, 'tailrace_config_reloads_total')) === round + 1);
    }
    rig.back();
    rig.write(10);
    await rig.hasAll();
    expect(rig.stored().some((event) => /"round": ?3\b/.test(event))).toBe(true);
    expect(await agent.end()).toBe(0);
  });

  test('takes events that hurt, each as one line of JSON, and those at fault hold up no other', async () => {
    const rig = await rigOf(type, subject, input);
    rig.refuse?.('poison');
    rig.write(5);
    const hostile = [
      Buffer.from('{"message":"poison"}'),
      Buffer.from([0xff, 0xfe, 0x00, 0x41, 0xc3]),
      Buffer.from('{"a":"\\u0000\\u2028\\ud800","message":"half a pair"}'),
      Buffer.from(`{"message":${'['.repeat(500)}${']'.repeat(500)}}`),
      Buffer.from(`long ${'y'.repeat(1_200_000)}`),
      Buffer.from('{"message":"cut'),
      Buffer.from('\u001b[2J\u202e\u2028 "quoted" \\ \t end'),
    ];
    rig.add(...hostile);
    rig.write(5);
    const agent = await rig.run();
    await rig.hasAll();
    const all = 10 + hostile.length - (rig.refuse ? 1 : 0);
    await until('the others are stored', () => rig.stored().length >= all);
    expect(rig.stored().map((event) => typeof JSON.parse(event))).toEqual(Array.from({ length: all }, () => 'object'));
    await until('nothing is held', async () => (await sumOf(agent, 'tailrace_events_held')) === 0);
    expect(await agent.end()).toBe(0);
    const listed = startProgram(['dead-letters', 'list', '--json', '--config', join(rig.folder, 'tailrace.yaml')]);
    expect(await listed.exited).toBe(0);
    expect(listed.stdout().split('poison')).toHaveLength(rig.refuse ? 2 : 1);
  });
}
