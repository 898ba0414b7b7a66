/** The journald source on real journals, and with a child that does not do as it should. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Region } from '../../../src/core/block.ts';
import type { JournaldConfig } from '../../../src/sources/journald/journald-type.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import type { JournalRun, runJournalctl } from '../../../src/sources/journald/journalctl.ts';
import {
  JOURNAL_MAX_BACKOFF_MS,
  JOURNAL_SILENCE_MS,
  JOURNAL_WRITING_MS,
} from '../../../src/sources/journald/limits.ts';
import { createJournaldSource, type JournaldOptions } from '../../../src/sources/journald/source.ts';
import { type EntryFields, exportEntry, FIRST_US, Journal, lacksJournal } from '../../support/journal.ts';
import { journaldSourceConfig } from '../../support/source-config.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { createTestContext, type TestContext } from '../source-context.ts';

interface Started extends TestContext {
  readonly source: ReturnType<typeof createJournaldSource>;
  readonly running: Promise<void>;
}

/** `former`: the context of a former run, whose streams it goes on with. */
function make(
  directory: string,
  changes: Partial<JournaldConfig> = {},
  options: JournaldOptions = {},
  former?: TestContext,
) {
  const kernel = createKernel(256 * 1024 * 1024);
  const context = createTestContext({
    reserve: (bytes) => kernel.reserve(bytes),
    ...(former && { streams: former.streams }),
  });
  return { context, source: createJournaldSource(journaldSourceConfig(directory, changes), context, kernel, options) };
}

async function start(...given: Parameters<typeof make>): Promise<Started> {
  const { context, source } = make(...given);
  await source.open();
  const running = source.run();
  onTestFinished(async () => {
    context.lane.giveUp();
    await source.stop();
  });
  return { ...context, source, running };
}

const eventsOf = ({ lane }: TestContext): Record<string, unknown>[] =>
  lane.texts.map((text) => JSON.parse(text) as Record<string, unknown>);

/** The events of these entries, read from a real journal. */
async function read(
  entries: readonly EntryFields[],
  changes?: Partial<JournaldConfig>,
  options?: JournaldOptions,
  count = entries.length,
) {
  const journal = new Journal(makeTree({}));
  journal.add(...entries);
  const started = await start(journal.folder, changes, options);
  await started.lane.until((lane) => lane.count === count, 30_000);
  return { ...started, journal, events: eventsOf(started) };
}

describe.skipIf(lacksJournal !== undefined)(
  lacksJournal === undefined ? 'real journal' : `real journal (${lacksJournal})`,
  () => {
    test('entry has the names of syslog, its unit, and its own time to the microsecond', async () => {
      const { events } = await read([
        {
          MESSAGE: 'started',
          SYSLOG_IDENTIFIER: 'nginx',
          _PID: '13',
          PRIORITY: '3',
          SYSLOG_FACILITY: '3',
          _SYSTEMD_UNIT: 'nginx.service',
          _SOURCE_REALTIME_TIMESTAMP: String(FIRST_US - 7n),
        },
      ]);
      const own = { message: 'started', host: 'web-1', appname: 'nginx', procid: '13', unit: 'nginx.service' };
      const codes = { severity: 'err', severity_code: 3, facility: 'daemon', facility_code: 3 };
      expect(events).toEqual([{ _time: '2025-11-26T23:33:19.999993Z', ...own, ...codes }]);
    });

    test('all fields are there in lower case, binary ones as base64, repeated ones as lists, taken names unchanged', async () => {
      const others = {
        CODE_FILE: 'a.c',
        _PID: '7',
        PID: 'x',
        RAW: Buffer.from([0xff, 0x0a]),
        TEXT: Buffer.from('two\nlines'),
        N: ['1', '2'],
        HOST: 'h',
      };
      const { events } = await read([{ MESSAGE: 'm', SYSLOG_PID: '8', ...others }], { allFields: true });
      expect(events[0]).toMatchObject({
        procid: '8',
        code_file: 'a.c',
        raw: '/wo=',
        text: 'two\nlines',
        n: ['1', '2'],
        host: 'web-1',
        HOST: 'h',
      });
      expect(['7,x', 'x,7']).toContain([events[0]!['pid'], events[0]!['_PID'] ?? events[0]!['PID']].join());
      expect(Object.keys(events[0]!).filter((name) => name.startsWith('__'))).toEqual([]);
    });

    test('members of a message that is an object become fields, which overwrite nothing', async () => {
      const message = '{"level":"info","host":"other","n":12345678901234567890}';
      const { events, lane } = await read([{ MESSAGE: message }, { MESSAGE: '{"broken":' }], { parseJson: true });
      expect(events[0]).toMatchObject({ message, host: 'web-1', level: 'info' });
      expect(lane.texts[0]).toContain('"n":12345678901234567890');
      expect(events[1]).toMatchObject({ message: '{"broken":' });
    });

    test.each([
      ['text', 'x'.repeat(64 * 1024 * 1024)],
      ['several lines', Buffer.alloc(64 * 1024 * 1024, 'line\n')],
    ])('message of 64 MiB is cut, and what stands behind it is read (%s)', async (_, MESSAGE) => {
      const maxEventBytes = 64 * 1024;
      const huge = { SYSLOG_IDENTIFIER: 'before', MESSAGE, _PID: '9', ODD: 'x'.repeat(3_000_000) };
      const { events, source } = await read([huge, { MESSAGE: 'next' }], { maxEventBytes });
      const marks = { appname: 'before', procid: '9', truncated: true, original_bytes: 64 * 1024 * 1024 };
      expect(events.map(({ message: text, ...others }) => [String(text).length, others])).toMatchObject([
        [maxEventBytes, marks],
        [4, {}],
      ]);
      expect(source.stats.truncatedEvents).toBe(1);
    });

    test('own unit is left out; named, all of it but the lines about reading the journal', async () => {
      const own = (MESSAGE: string): EntryFields => ({ MESSAGE, _SYSTEMD_UNIT: 'tailrace.service' });
      const entries = [own('hello'), own('{"code":"E_JOURNAL"}'), { MESSAGE: 'other', _SYSTEMD_UNIT: 'a.service' }];
      const options = { unit: 'tailrace.service' };
      expect((await read(entries, {}, options, 1)).events).toMatchObject([{ message: 'other' }]);
      expect((await read(entries, { units: ['tailrace'] }, options, 1)).events).toMatchObject([{ message: 'hello' }]);
    });

    test('entries before a restart of the machine are followed, too', async () => {
      const boot = (n: number): EntryFields => ({ MESSAGE: String(n), _BOOT_ID: String(n).repeat(32) });
      const { journal, ...started } = await read([boot(1), boot(2)]);
      journal.add(boot(2), boot(3));
      await started.lane.until((lane) => lane.count === 4, 30_000);
      expect(eventsOf(started).map(({ message }) => message)).toEqual(['1', '2', '2', '3']);
    });

    test('units, identifiers and a priority choose entries', async () => {
      const entry = (MESSAGE: string, unit: string, id: string, PRIORITY: string): EntryFields => ({
        MESSAGE,
        PRIORITY,
        _SYSTEMD_UNIT: unit,
        SYSLOG_IDENTIFIER: id,
      });
      const entries = [
        entry('a', 'a.service', 'x', '6'),
        entry('b', 'b.service', 'x', '3'),
        entry('c', 'a.service', 'y', '3'),
      ];
      expect((await read(entries, { units: ['a.service'] }, {}, 2)).events).toMatchObject([
        { message: 'a' },
        { message: 'c' },
      ]);
      expect((await read(entries, { identifiers: ['x'] }, {}, 2)).events).toMatchObject([
        { message: 'a' },
        { message: 'b' },
      ]);
      expect((await read(entries, { priority: 'err' }, {}, 2)).events).toMatchObject([
        { message: 'b' },
        { message: 'c' },
      ]);
    });

    test('first start at a time begins there to the millisecond', async () => {
      const at = (ms: number): EntryFields => ({
        MESSAGE: `after ${ms} ms`,
        __REALTIME_TIMESTAMP: String(FIRST_US + BigInt(1000 * ms)),
      });
      const { events } = await read(
        [at(0), at(249), at(250), at(251)],
        { since: Number(FIRST_US / 1000n) + 250 },
        {},
        2,
      );
      expect(events).toMatchObject([{ message: 'after 250 ms' }, { message: 'after 251 ms' }]);
    });

    test('rotation and a journal that is made anew while it is followed lose nothing and repeat nothing', async () => {
      const { journal, ...started } = await read([{ MESSAGE: '0' }, { MESSAGE: '1' }]);
      for (let round = 1; round < 4; round += 1) {
        renameSync(
          journal.path,
          join(
            journal.folder,
            `system@${String(round).repeat(32)}-000000000000000${round}-000000000000000${round}.journal`,
          ),
        );
        journal.add({ MESSAGE: String(2 * round) }, { MESSAGE: String(2 * round + 1) });
        await started.lane.until((lane) => lane.count === 2 * round + 2, 30_000);
      }
      expect(eventsOf(started).map(({ message }) => message)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
      expect(started.minted).toHaveLength(4);
    });

    test('span is read again as it was, to where its entries end', async () => {
      const { minted, journal, ...former } = await read(
        Array.from({ length: 20 }, (_, n) => ({ MESSAGE: `entry ${n}` })),
      );
      await former.source.stop();
      const later = make(journal.folder, {}, {}, { ...former, minted });
      await later.source.open();
      const [record] = minted;
      const span = {
        source: 'journal',
        stream: record!.id,
        from: record!.startAt + 5,
        to: record!.startAt + 9,
        events: 4,
        sum: 0,
        tail: { length: 0, crc: 0 },
      };
      const texts: string[] = [];
      const lane = {
        accept: async ({ window, end }: { window: { bytes: Buffer }; end: number }) =>
          void texts.push(window.bytes.toString('utf8', 0, end)),
      };
      expect(await later.source.reread!(span, lane)).toBe(span.to);
      expect(texts.join('')).toBe(
        former.lane.texts
          .slice(5, 9)
          .map((text) => `${text}\n`)
          .join(''),
      );
      expect(await later.source.reread!({ ...span, from: record!.startAt + 18, to: record!.startAt + 30 }, lane)).toBe(
        record!.startAt + 20,
      );
      expect(await later.source.reread!({ ...span, from: record!.startAt + 40, to: record!.startAt + 50 }, lane)).toBe(
        record!.startAt + 40,
      );
    });
  },
);

test('source gives back all memory but what all loops share, as often as it is changed', () => {
  const kernel = createKernel(8 * 1024 * 1024);
  for (let change = 0; change < 200; change += 1) {
    const regions: Region[] = [];
    const reserve = (bytes: number): Region => {
      const region = kernel.reserve(bytes);
      regions.push(region);
      return region;
    };
    createJournaldSource(
      journaldSourceConfig('/nowhere', { maxEventBytes: 64 * 1024 }),
      createTestContext({ reserve }),
      kernel,
    );
    for (const region of regions) kernel.release(region);
  }
});

/** A child that prints these bytes, and then ends with a problem, or is silent for ever. */
function fakeRun(output: Buffer, end: string): JournalRun {
  let rest = output;
  const closed = Promise.withResolvers<number>();
  return {
    async read(into) {
      const count = rest.copy(into);
      rest = rest.subarray(count);
      return count > 0 || end !== 'silent' ? count : closed.promise;
    },
    close: () => closed.resolve(0),
    problem: () => Promise.resolve(end),
    said: () => '',
  };
}

const entryOf = (number: number, fields: EntryFields = { MESSAGE: `entry ${number}` }): Buffer =>
  exportEntry({
    __CURSOR: `s=${'a'.repeat(32)};i=${number.toString(16)};b=${'b'.repeat(32)};m=1;t=${(FIRST_US + BigInt(number)).toString(16)};x=${number}`,
    __REALTIME_TIMESTAMP: String(FIRST_US + BigInt(number)),
    ...fields,
  });

describe('child', () => {
  /** Each child in turn; the last one stays. Notes their arguments. */
  function children(...made: (() => JournalRun)[]): { run: typeof runJournalctl; args: string[][] } {
    const args: string[][] = [];
    return {
      args,
      run: (given) => {
        args.push([...given]);
        return (made[args.length - 1] ?? made.at(-1)!)();
      },
    };
  }
  const cursorIn = (args: readonly string[]): string | undefined =>
    args.find((arg) => arg.startsWith('--cursor'))?.split(';')[1];

  test('one that dies, or prints garbage, is replaced by one that goes on behind the last entry; the log has one line', async () => {
    const { run, args } = children(
      () => fakeRun(entryOf(1), 'exit code 1: it broke'),
      () => fakeRun(Buffer.concat([entryOf(1), entryOf(2), Buffer.from('-- garbage --\n')]), 'x'),
      () => fakeRun(Buffer.concat([entryOf(2), entryOf(3), entryOf(4).subarray(0, 100)]), 'exit code 1'),
      () => fakeRun(Buffer.concat([entryOf(3), entryOf(4)]), 'silent'),
    );
    const started = await start('/nowhere', {}, { run });
    await started.lane.until(({ count }) => count === 4, 30_000);
    expect(eventsOf(started).map(({ message }) => message)).toEqual([1, 2, 3, 4].map((n) => `entry ${n}`));
    expect(args.map(cursorIn)).toEqual([undefined, 'i=1', 'i=2', 'i=3']);
    expect(started.logged).toEqual(['error: cannot follow the journal, trying again: exit code 1: it broke']);
    expect(started.source.stats.past!.lostRanges).toBe(0);
  });

  // Symptom: an event without its message, of an entry that has one. Cause: journalctl leaves out a value that it meets while journald links
  // it to its entry. Fix: an entry without a message is read again.
  test('entry without a message is read again, once, and no second one in the same second', async () => {
    const { run, args } = children(
      () => fakeRun(Buffer.concat([entryOf(1), entryOf(2, { PRIORITY: '6' }), entryOf(3)]), 'silent'),
      () => fakeRun(Buffer.concat([1, 2].map((n) => entryOf(n)).concat(entryOf(3, {}), entryOf(4))), 'silent'),
    );
    const started = await start('/nowhere', {}, { run });
    await started.lane.until(({ count }) => count === 4, 30_000);
    expect(eventsOf(started).map(({ message }) => message)).toEqual(['entry 1', 'entry 2', undefined, 'entry 4']);
    expect(args.map(cursorIn)).toEqual([undefined, 'i=1']);
    expect(started.logged).toEqual([]);
  });

  // Symptom: reading the history cost a child a second where old entries have no message. Cause: each was read again. Fix: only one that may have
  // been written while it was read.
  test('old entry of this machine without a message is taken as it is, a new one is read again', async () => {
    const [old, recent] = [Date.now() - JOURNAL_WRITING_MS - 1000, Date.now() + 60_000].map((ms) =>
      Number(BigInt(ms) * 1000n - FIRST_US),
    );
    const { run, args } = children(
      () => fakeRun(Buffer.concat([entryOf(old!, {}), entryOf(recent!, {})]), 'silent'),
      () => fakeRun(Buffer.concat([entryOf(old!), entryOf(recent!)]), 'silent'),
    );
    const started = await start('/nowhere', { directory: undefined }, { run });
    await started.lane.until(({ count }) => count === 2, 30_000);
    expect(eventsOf(started).map(({ message }) => message)).toEqual([undefined, `entry ${recent}`]);
    expect(args).toHaveLength(2);
  });

  test('one that hangs is ended and replaced; one that is silent behind its first entry, too, without a word', async () => {
    const { run, args } = children(
      () => fakeRun(entryOf(1), 'silent'),
      () => fakeRun(Buffer.alloc(0), 'silent'),
      () => fakeRun(Buffer.concat([entryOf(1), entryOf(2)]), 'silent'),
    );
    const started = await start('/nowhere', {}, { run, silenceMs: 20 });
    await started.lane.until(({ count }) => count === 2, 30_000);
    expect(args.slice(0, 3).map(cursorIn)).toEqual([undefined, 'i=1', 'i=1']);
    expect(started.logged).toEqual([
      'error: cannot follow the journal, trying again: journalctl printed nothing for 0.02 s',
    ]);
    expect(started.source.overdue!()).toBeUndefined();
  });

  test('waits grow to half a minute', async () => {
    const waits: number[] = [];
    const kernel = createKernel(64 * 1024 * 1024);
    const context = createTestContext({ reserve: (bytes) => kernel.reserve(bytes) });
    const enough = Promise.withResolvers<void>();
    const clock = {
      ...context.clock,
      async sleep(ms: number, signal?: AbortSignal) {
        if (ms === JOURNAL_SILENCE_MS) return context.clock.sleep(ms, signal);
        waits.push(ms);
        await new Promise((resolve) => setImmediate(resolve));
        if (waits.length === 200) enough.resolve();
      },
    };
    const source = createJournaldSource(journaldSourceConfig('/nowhere'), { ...context, clock }, kernel, {
      run: () => fakeRun(Buffer.alloc(0), 'gone'),
    });
    await source.open();
    const running = source.run();
    await enough.promise;
    await source.stop();
    await running;
    expect(Math.max(...waits)).toBeLessThanOrEqual(JOURNAL_MAX_BACKOFF_MS);
    expect(Math.max(...waits.slice(50))).toBeGreaterThan(JOURNAL_MAX_BACKOFF_MS / 2);
    expect(Math.max(...waits.slice(0, 3))).toBeLessThanOrEqual(1000);
    expect(context.logged).toHaveLength(1);
  });

  // Symptom: a gap was not counted in a process that had lost held entries at its start. Cause: they were taken for those of the gap.
  test.each([0, 5])(
    'entry that was read last is gone: counted once, with both times, and reading goes on from the oldest (%i bytes lost before)',
    async (lostBytes) => {
      const { run } = children(
        () => fakeRun(entryOf(1), 'exit code 1'),
        () => fakeRun(Buffer.concat([entryOf(900), entryOf(901)]), 'exit code 1'),
        () => fakeRun(entryOf(901), 'silent'),
      );
      const started = await start('/nowhere', {}, { run });
      Object.assign(started.source.stats, { lostBytes });
      await started.lane.until(({ count }) => count === 3, 30_000);
      expect(started.source.stats.past!.lostRanges).toBe(1);
      expect(started.logged).toContain(
        'error: the journal no longer has the entry that was read last; entries between these times may have been deleted before they were read',
      );
    },
  );

  // Symptom: one gap counted and logged twice. Cause: it was noted again by the child that read the entry behind it again. Fix: the gap behind an
  // entry is noted once.
  test('gap counts once when the entry behind it is read again; the next one counts, too', async () => {
    const { run } = children(
      () => fakeRun(entryOf(1), 'exit code 1'),
      () => fakeRun(entryOf(900, {}), 'silent'),
      () => fakeRun(Buffer.concat([entryOf(900), entryOf(901)]), 'exit code 1'),
      () => fakeRun(entryOf(950), 'silent'),
    );
    const started = await start('/nowhere', {}, { run });
    await started.lane.until(({ count }) => count === 4, 30_000);
    expect(started.source.stats.past!.lostRanges).toBe(2);
    expect(started.logged.filter((line) => line.includes('no longer has'))).toHaveLength(2);
  });

  test('first start begins with this boot, with the oldest entry, or at a time', async () => {
    const first = async (changes: Partial<JournaldConfig>): Promise<string[]> => {
      const { run, args } = children(() => fakeRun(Buffer.alloc(0), 'silent'));
      const { source } = await start('/nowhere', changes, { run });
      await source.stop();
      return args[0]!.filter((arg) => /^--(boot|since|namespace|directory)|^_NAMESPACE/.test(arg));
    };
    const boot = expect.stringMatching(/^--since=@\d{10}\.\d{3}$/);
    expect(await first({ directory: undefined, since: 'boot' })).toEqual([boot]);
    expect(await first({ directory: undefined, since: 'all', namespaces: ['app'] })).toEqual(['--namespace=app']);
    expect(await first({ directory: undefined, since: 5000, namespaces: ['a', 'b'] })).toEqual([
      '--since=@5.000',
      '--namespace=*',
      '_NAMESPACE=a',
      '_NAMESPACE=b',
    ]);
    expect(await first({ since: 'boot' })).toEqual([boot, '--directory=/nowhere']);
  });
});
