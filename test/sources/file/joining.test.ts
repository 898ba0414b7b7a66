/**
 * Joined lines over a rotation: an event that began in one file and goes on in the next is one event, and nothing else is. Where the
 * order of files or the hours between them matter, every file's times are the test's.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { datedName } from '../../../src/sources/file/scan/rotated-names.ts';
import { LaneDouble } from '../lane-double.ts';
import { steppedTimes } from './file-times.ts';
import { scenarios } from './scenario.ts';
import { type Script, steps } from './steps.ts';
import { failingFileSystem, type RigOptions, TailRig } from './tail-rig.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;
const stepped = (...times: Parameters<typeof steppedTimes>) => ({ multiline, times: steppedTimes(...times) });

/** A file that was read, and rotated away within an event. */
const ROTATED = 'write a.log "A one" " two"; start; drain; mv a.log a.log.1';
const ROTATED_LATER = 'write a.log Z "A one" " two"; start; drain; mv a.log a.log.1';

async function rotated(options: RigOptions = {}, script: Script = ROTATED): Promise<TailRig> {
  const rig = new TailRig({ multiline, ...options });
  await rig.run(script);
  return rig;
}

test('event that a rename rotation cuts is one event', async () => {
  const rig = await rotated();
  await rig.play`write a.log " three" " four" "B next"; drain; events "A one\n two\n three\n four"; continued 0-13`;
  const [block] = rig.lane.blocks;
  expect(block).toMatchObject({ offset: 0, length: 11 });
  await rig.play`pass 6; events "A one\n two\n three\n four" "B next"; stats readBytes=31 lagBytes=0 lostBytes=0`;
  expect(rig.lane.blocks[1]).toMatchObject({ stream: block!.continued![0]!.stream, offset: 13 });
});

scenarios(
  {
    'event goes on in the next file also when that is empty for a while': `
      write a.log; pass 2; append a.log " th…"; pass 1; append a.log ree; pass 1; no-events; append a.log B; pass 1
      events "A one\n two\n three"`,
    'lines that come after the timeout are no part of the event before the rotation':
      'write a.log; pass 6; events "A one\n two"; append a.log " three" B; pass 1; events "A one\n two" " three"',
    'event over a rotation is sent when nothing follows it for the timeout': `
      write a.log " three"; pass 3; append a.log " four" " unfinished…"; pass 4; no-events; pass 3
      events "A one\n two\n three\n four" " unfinished"`,
    'event goes on over several rotations between two looks': `
      mv a.log.1 a.log.2; born; write a.log.1 " three"; born; write a.log " four" B; drain
      events "A one\n two\n three\n four"; continued 0-7 0-6`,
    'event of a deleted file goes on in the one that was made in its place':
      'scan; rm a.log.1; write a.log " three" B; drain; events "A one\n two\n three"',
  },
  { multiline },
  ROTATED,
);

scenarios(
  {
    'event that a copytruncate rotation cuts is one event': `
      write a.log "Z zero" "A one" " two"; start; drain; cp a.log a.log.1; cut a.log; append a.log " three" B; drain
      events "Z zero" "A one\n two\n three"; lost 0`,
    'event that a rotation cut is joined after a restart, before or after it was read': `
      ${ROTATED_LATER}; commit; write a.log " three" B; start; drain; events "A one\n two\n three"
      // Not committed: all of it once more.
      start; drain; events "A one\n two\n three"; commit; start; pass 6; events B`,
    'with --once everything is read, events over a rotation joined': `${ROTATED_LATER}; commit; write a.log " three" " fo…"; start once; run; events "A one\n two\n three" " fo"`,
    'unfinished last line of a rotated file is sent with its event, and nothing is joined to it': `
      write a.log "A one" " tw…"; start; drain; mv a.log a.log.1; write a.log " three" B; drain; pass 11
      events-any " three" "A one\n tw" B`,
  },
  { multiline },
);

scenarios(
  {
    'timeout of joined lines holds where it is longer than that of unfinished ones':
      'write a.log "A one" " two"; start; pass 20; no-events; pass 15; events "A one\n two"',
  },
  { multiline: { ...multiline, timeoutMs: 30_000 }, partialTimeoutMs: 5000 },
);

test('file that begins with an event of its own does not wait for the file before', async () => {
  const rig = await rotated();
  await rig.play`write a.log "B one" " two" C; pass 1; events "B one\n two"; pass 6; events-any "A one\n two" "B one\n two" C`;
  expect(rig.lane.blocks.every(({ continued }) => continued === undefined)).toBe(true);
});

test.each([
  ['maxLines', { maxLines: 3 }],
  ['maxBytes', { maxBytes: 20 }],
])('%s holds over a rotation', async (_, limits) => {
  const rig = await rotated({ multiline: { ...multiline, ...limits } });
  await rig.play`write a.log " three" " four" " five" B; drain; events "A one\n two\n three" " four\n five"`;
});

test('line over the limit in the next file ends the event', async () => {
  const rig = await rotated({ maxEventBytes: 64 });
  await rig.play`write a.log ${` three\n${'x'.repeat(1000)}\nB\n`}; drain; events "A one\n two\n three" ${'x'.repeat(64)}`;
});

test('event that takes too much as UTF-8 is cut over a rotation, too, and both files go on behind it', async () => {
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
  const rig = await rotated(
    { maxEventBytes: 64 },
    steps`write a.log ${latin1(`A ${'\xff'.repeat(10)}\n`)}; start; drain; mv a.log a.log.1`,
  );
  await rig.play`write a.log ${latin1(` ${'\xff'.repeat(20)}\nB\nC\n`)}; drain`;
  const [block] = rig.lane.blocks;
  expect(block!.single!.marks).toMatchObject({ truncated: true });
  expect(block!.continued).toMatchObject([{ from: 0, to: 22 }]);
  expect(rig.events.at(-1)).toBe('B');
});

scenarios(
  {
    'event goes on in the file that was rotated away unseen, not in the one behind it': `
      write a.log "A one" " two"; start; drain; mv a.log a.log.2; born; write a.log.1 M " more"; born; write a.log " rest of M" B; drain
      pass 6; events-any "A one\n two" B "M\n more\n rest of M"`,
  },
  { multiline, glob: '*.log*' },
);

scenarios(
  {
    'files that are merely alike by name are not joined': `
      write worker " rest" A " one"; write worker-1 " rest" B " one"; write worker-2 " rest" C " one"; start; drain; pass 6
      events-any " rest" " rest" " rest" "A\n one" "B\n one" "C\n one"`,
  },
  { multiline, glob: '*' },
);

test('event is not joined with a file that came so late after it that it was over', async () => {
  const rig = await rotated({ multiline: { ...multiline, timeoutMs: 100 } });
  for (const until = Date.now() + 200; Date.now() < until;);
  await rig.play`write a.log " three" B; start; drain; pass 6; events-any " three" "A one\n two" B`;
});

test('spans of an event over a rotation are read again as the same event, or by themselves', async () => {
  const rig = await rotated({}, ROTATED_LATER);
  await rig.play`write a.log " three" " four" B; drain`;
  const block = rig.lane.blocks.at(-1)!;
  const span = { source: 'app', stream: block.stream, from: 2, to: 13, events: 1, ...block.single! };
  const rest = { source: 'app', events: 0, ...block.continued![0]! };
  const lane = new LaneDouble();
  expect(await rig.source.reread!(span, lane, [rest])).toBe(span.to);
  expect(lane.events).toEqual(['A one\n two\n three\n four']);
  expect(lane.blocks[0]).toMatchObject({ single: block.single, continued: block.continued });
  const alone = new LaneDouble();
  expect(await rig.source.reread!(rest, alone)).toBe(rest.to);
  expect(alone.events).toEqual([' three\n four']);
  // By other rules it is no such event any more.
  await rig.start({ multiline: { ...multiline, maxLines: 3 } });
  expect(await rig.source.reread!(span, new LaneDouble(), [rest])).toBe(span.from);
  await rig.play`rm a.log; write a.log`;
  expect(await rig.source.reread!(span, new LaneDouble(), [{ ...rest, to: 100 }])).toBe(span.from);
});

const T = '2026-11-21T10:15:00Z stdout';
test.each<[string, RigOptions, string, string, string[]]>([
  [
    'pieces of a container message that a rotation cut are put together',
    { multiline: undefined },
    `${T} F whole\n${T} P first \n`,
    `${T.replace('stdout', 'stderr')} F other\n${T} F last\n${T} F next\n`,
    ['whole', 'first last', 'other', 'next'],
  ],
  ['traces in container messages are joined over a rotation', {}, `${T} F A\n${T} F  one\n`, `${T} F  two\n${T} F B\n`, ['A\n one\n two']],
])('%s', async (_, options, first, next, messages) => {
  const rig = await rotated({ format: 'cri', ...options }, steps`write a.log ${first}; start; drain; mv a.log a.log.1`);
  await rig.play`write a.log ${next}; drain`;
  expect(rig.events.map((text) => (JSON.parse(text) as { message: string }).message)).toEqual(messages);
});

test('utf-16 files with byte order marks are joined without the second mark, files in different encodings are not', async () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
  const rig = new TailRig({ multiline });
  await rig.play`
    write a.log ${utf16('A ü\n two\n')}; write b.log "A ü" " two"; start; drain; mv a.log a.log.1; write a.log ${utf16(' three €\nB\n')}
    mv b.log b.log.1; write b.log ${utf16(' three €\nB\n')}; drain; pass 6; events-any " three €" "A ü\n two" "A ü\n two\n three €" B B
  `;
  const joined = rig.lane.blocks.find(({ continued }) => continued)!;
  expect(joined.continued![0]!.to).toBe(2 + 2 * ' three €\n'.length);
});

test('csv records are not joined over a rotation', async () => {
  const rig = await rotated({ format: 'csv', multiline: undefined }, steps`write a.log ${'a,b\n1,"2\n'}; start; drain; mv a.log a.log.1`);
  await rig.play`write a.log "a,b" "3,4"; drain; pass 6`;
  expect(rig.events).toContain('{"a":"3","b":"4"}');
});

test('event over a rotation that the lane refuses is read again', async () => {
  const rig = await rotated();
  await rig.play`write a.log " three" B; poll`;
  rig.lane.hold();
  const polled = rig.source.readRound();
  await rig.lane.until(({ waiting }) => waiting > 0);
  rig.lane.giveUp();
  await expect(polled).rejects.toThrow();
  await rig.play`start; drain; events "A one\n two\n three"`;
});

// The lane holds the event while the next file is changed.
test.each<[string, (path: string) => void, string]>([
  ['removed while the event is taken is read on behind it', rmSync, 'events "A one\n two\n three" B; lost 0'],
  [
    'truncated while the event is taken begins anew',
    (path) => writeFileSync(path, 'C new\n'),
    'events "A one\n two\n three" "C new"; lost 2',
  ],
])('next file that is %s', async (_, change, expected) => {
  const rig = await rotated();
  await rig.play`write a.log " three" B; poll`;
  rig.lane.hold();
  const reading = rig.source.readRound();
  await rig.lane.until(({ waiting }) => waiting > 0);
  change(rig.path('a.log'));
  await rig.source.scanOnce();
  rig.lane.release();
  await reading;
  await rig.run(`drain; pass 12; ${expected}`);
});

test('files that are rotated away between being found and being opened are joined in the order in which they were made', async () => {
  const rig = new TailRig({ multiline: { ...multiline, timeoutMs: 60_000 } });
  const log = rig.path('a.log');
  let rotate: (() => void) | undefined;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      const act = path === log ? rotate : undefined;
      rotate = act ? undefined : rotate;
      act?.();
      return real.open(path);
    },
  }));
  writeFileSync(log, 'A one\n');
  await rig.start({ fileSystem });
  await rig.play`drain; mv a.log a.log.1; born; write a.log " two"`;
  rotate = () => {
    for (const [n, text] of [' three\n', ' four\nB\n more\n'].entries()) {
      renameSync(log, `${log}.${n + 2}`);
      rig.bornNow();
      writeFileSync(log, text);
    }
    renameSync(log, `${log}.4`);
  };
  await rig.play`scan; born; write a.log " and more" C; drain; events "A one\n two\n three\n four" "B\n more\n and more"`;
});

describe('order of several generations of one path', () => {
  const READ = 'append a.log Z "A one"; start; drain';
  /** Three more files under the path before anyone looks, made so long after each other; all but the last are rotated away. */
  const unseen = (ms: number): string =>
    ['" two"', '" three"', '" four" B'].map((lines, n) => `mv a.log a.log.${n + 1}; later ${ms}; append a.log ${lines}`).join('; ');
  /** What is in the file is copied aside, and truncated, and these lines follow. */
  const aside = (n: number, lines: string): string => `cp a.log a.log.${n}; cut a.log; ${lines && `append a.log ${lines}`}`;

  scenarios(
    {
      'files are joined in the order in which they were made, be it a tick of the clock apart': `${unseen(1)}; drain; events Z "A one\n two\n three\n four"`,
      'what was copied and truncated is joined in its order where an empty copy was not decided about since the restart': `
        later 1000; scan; ${aside(1, '')}; scan; later 1000; scan; ${aside(2, '" two"')}; scan; later 1000; scan; ${aside(3, '" three"')}; scan
        commit; start; later 1000; scan; ${aside(4, '" four" B')}; scan; drain; events "A one\n two\n three\n four"`,
      'copies that were made hours apart while no agent ran are joined: when they were made says nothing of their lines': `
        commit; ${aside(1, '" two"')}; later 3600000; ${aside(2, '" three"')}; later 3600000; ${aside(3, '" four" B')}; later 3600000
        start; drain; events "A one\n two\n three\n four"; lost 0`,
    },
    () => stepped(),
    READ,
  );

  scenarios(
    {
      // Their streams are not made in that order.
      'files that were seen together are joined in the order in which they were made, also after a restart': `${unseen(1)}; scan; start; drain; events Z "A one\n two\n three\n four"`,
    },
    () => stepped(1, [1]),
    READ,
  );

  scenarios(
    {
      'files that were made within one tick of the clock are not joined': `${unseen(0)}; drain; pass 20; events-any " four" " three" " two" "A one" B Z`,
    },
    () => stepped(1000),
    READ,
  );

  // Symptom: an event went on with lines that were written hours before it. Cause: what was in a file that was truncated after it was
  // recognised, and before the files were put in their order, counted as old as that file, and older than the copies before it.
  test('truncation at any moment of a start joins no event with lines of another one', async () => {
    const wrong: string[] = [];
    for (let nth = 1, isOver = false; !isOver; nth += 1) {
      const { times, ...options } = stepped();
      const rig = new TailRig({ times, ...options });
      await rig.run(`${READ}; commit; later 1000; ${aside(1, '" two" B')}; scan; later 1000; ${aside(2, '" three" C')}; scan; later 1000`);
      const log = rig.path('a.log');
      let calls = 0;
      const fileSystem = failingFileSystem(() =>
        Object.fromEntries(
          (['stat', 'readdir', 'open', 'fstat', 'peek'] as const).map((name) => [
            name,
            (...given: unknown[]): unknown => {
              const result: unknown = Reflect.apply(times.fileSystem[name], undefined, given);
              if ((calls += 1) !== nth) return result;
              times.copy(log, `${log}.3`);
              times.truncate(log);
              times.append(log, ' four\nD\n');
              return result;
            },
          ]),
        ),
      );
      await rig.start({ fileSystem });
      isOver = calls < nth;
      calls = Infinity;
      await rig.play`drain; pass 30`;
      const events = rig.events;
      const whole = ['A one\n two', 'B\n three', 'C\n four'];
      const lines = events.join('\n').split('\n').toSorted();
      const expected = (isOver ? 'A one\n two\nB\n three\nC' : `${whole.join('\n')}\nD`).split('\n').toSorted();
      const isWhole = events.every((event) => whole.includes(event) || !event.includes('\n'));
      if (!isWhole || lines.join() !== expected.join()) wrong.push(`${nth}: ${JSON.stringify(events)}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('files of dates', () => {
  /** A file that was read, with an event half a day old, and one that is open at its end. */
  const read = (name: string): string => `append ${name} Z; later 43200000; append ${name} "A one"; start; drain`;

  for (const [first, next] of [
    ['app-20261121.log', 'app-20261122.log'],
    ['2026-12-31.log', '2027-01-01.log'],
    ['app.2026-11-21T09.log', 'app.2026-11-21T10.log'],
    ['app-20261121.log', 'app-20261123.log'],
  ] as const)
    scenarios(
      {
        [`event that is cut between ${first} and ${next} is one event`]: `
          append ${next} " two" " three" B; drain; events-any "A one\n two\n three" Z; continued 0-12; pass 6
          events-any "A one\n two\n three" B Z`,
      },
      () => stepped(),
      read(first),
    );

  for (const [what, name, ms] of [
    ['the earlier date', 'app-20261120.log', 0],
    ['another name', 'web-20261122.log', 0],
    ['a number that is no date', 'app-20261322.log', 0],
    ['a date that came when its event was over', 'app-20261122.log', 6000],
  ])
    scenarios(
      { [`file of ${what} is not joined`]: `later ${ms}; append ${name} " two" B; drain; pass 6; events-any " two" "A one" B Z` },
      () => stepped(),
      read('app-20261121.log'),
    );

  scenarios(
    {
      'event that is cut while the agent is stopped is joined, also over a file that has nothing but its lines': `
        commit; append app-20261122.log " two"; append app-20261123.log " three" B; start; drain; events "A one\n two\n three"
        // Not committed: all of it once more.
        start; drain; events "A one\n two\n three"`,
      'event goes on in the file of the next date also where its own was renamed at once':
        'mv app-20261121.log app-20261121.log.1; append app-20261122.log " two" B; drain; events-any "A one\n two" Z',
      'file of an earlier date that is found late has no part in it':
        'append app-20261120.log Y; scan; append app-20261122.log " two" B; drain; pass 6; events-any "A one\n two" B Y Z',
      'files of two dates that are written side by side are not joined': `
        append app-20261122.log " banner" B; later 1000; append app-20261121.log " two"; drain; pass 6
        events-any " banner" "A one\n two" B Z`,
      'line that is cut between two dates comes as two lines, and nothing is joined to its beginning': `
        append app-20261121.log " tw…"; append app-20261122.log o " three" B; drain; pass 12; events-any "A one\n tw" B Z "o\n three"`,
    },
    () => stepped(),
    read('app-20261121.log'),
  );

  test.each([
    ['/l/app-20261121.log', '20261121', '/l/app-\0.log'],
    ['/2026-11-21/app.log', undefined, undefined],
    ['/l/2026.11.21_10:59.log', '2026.11.21_10:59', '/l/\0.log'],
    ['/l/app-202611211015.log', '202611211015', '/l/app-\0.log'],
    ['/l/app-2026-1121.log', undefined, undefined],
    ['/l/app-120261121.log', undefined, undefined],
    ['/l/app-1763700000.log', undefined, undefined],
  ])('date of %s is %s', (path, date, series) => {
    expect(datedName(path)).toEqual(date === undefined ? undefined : { date, series });
  });
});
