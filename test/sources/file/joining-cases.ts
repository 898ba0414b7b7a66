/**
 * The promise of joined lines, case by case: an event that began in one file and goes on in the next is one event, and nothing else is.
 * Where the order of files or the hours between them matter, every file's times are the test's.
 */
import { steppedTimes } from './file-times.ts';
import { type Script, steps } from './steps.ts';
import type { RigOptions } from './tail-rig.ts';

export const multiline = {
  kind: 'start',
  pattern: '^[A-Z]',
  timeoutMs: 5000,
  maxLines: 1000,
  maxBytes: Infinity,
} as const;
export const stepped = (...times: Parameters<typeof steppedTimes>) => ({ multiline, times: steppedTimes(...times) });

export interface Group {
  /** Beside `multiline`; a function where each case needs its own. */
  readonly options?: RigOptions | (() => RigOptions);
  /** Played before each. */
  readonly begin?: Script;
  readonly cases: Readonly<Record<string, Script>>;
}

/** A file that was read, and rotated away within an event. */
export const ROTATED = 'write a.log "A one" " two"; start; drain; mv a.log a.log.1';
const ROTATED_LATER = 'write a.log Z "A one" " two"; start; drain; mv a.log a.log.1';
/** The same, of three generations: the last is under the path. */
export const READ = 'append a.log Z "A one"; start; drain';
/** Three more files under the path before anyone looks, made so long after each other; all but the last are rotated away. */
const unseen = (ms: number): string =>
  ['" two"', '" three"', '" four" B']
    .map((lines, n) => `mv a.log a.log.${n + 1}; later ${ms}; append a.log ${lines}`)
    .join('; ');
/** The file is copied aside and truncated, and these lines follow. */
export const aside = (n: number, lines: string): string =>
  `cp a.log a.log.${n}; cut a.log; ${lines && `append a.log ${lines}`}`;
/** A file with a date in its name that was read, with an event half a day old, and one that is open at its end. */
const dated = (name: string): string => `append ${name} Z; later 43200000; append ${name} "A one"; start; drain`;

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const T = '2026-11-21T10:15:00Z stdout';

const noRecord = JSON.stringify({
  message: '1,"2',
  parse_error: 'no CSV record: Quote Not Closed: the parsing is finished with an opening quote at line 1',
});

/** Within one file. */
const alone: readonly Group[] = [
  {
    cases: {
      'joined lines are read again until their event is over, and then come once': `
        write a.log "A first" " second"; start; drain; no-events; lag 16; append a.log " third" "B next"; drain
        events "A first\n second\n third"; spans A0-23`,
      'joined lines of an event that is not over are read again after a restart': `
        write a.log "A one" "B two" " more"; start; drain; commit; events "A one"; start; append a.log " and more" C; drain
        events "B two\n more\n and more"`,
      'span of joined lines is read again as the same events': `
        write a.log "A one" " more" "B two" "C three" " four" D; start; drain; events "A one\n more" "B two" "C three\n four"
        reread 12-32 "B two" "C three\n four"`,
    },
  },
  {
    options: { multiline: { ...multiline, timeoutMs: 3000 }, partialTimeoutMs: 60_000 },
    cases: {
      'joined lines are sent when nothing follows them for the timeout, the unfinished line only later': `
        write a.log "A one" " more" " unfin…"; start; drain; pass 1; no-events; pass 2; events "A one\n more"; append a.log ished B
        drain; events "A one\n more" " unfinished"`,
    },
  },
  {
    options: { once: true },
    cases: {
      'joined lines at the end of a file are sent with --once, also the unfinished one':
        'write a.log "A one" " more" " last…"; start; run; events "A one\n more\n last"',
    },
  },
  {
    options: { multiline: { ...multiline, timeoutMs: 30_000 }, partialTimeoutMs: 5000 },
    cases: {
      'timeout of joined lines holds where it is longer than that of unfinished ones':
        'write a.log "A one" " two"; start; pass 20; no-events; pass 15; events "A one\n two"',
    },
  },
];

/** Over a rename, a copy, a deletion. */
const rotated: readonly Group[] = [
  {
    begin: ROTATED,
    cases: {
      'event that a rename rotation cuts is one event': `
        write a.log " three" " four" "B next"; drain; events "A one\n two\n three\n four"; spans A0-11+B0-13
        pass 6; events "A one\n two\n three\n four" "B next"; spans A0-11+B0-13 B13-20; stats readBytes=31 lagBytes=0 lostBytes=0`,
      'event goes on in the next file also when that is empty for a while': `
        write a.log; pass 2; append a.log " th…"; pass 1; append a.log ree; pass 1; no-events; append a.log B; pass 1
        events "A one\n two\n three"`,
      'lines that come after the timeout are no part of the event before the rotation':
        'write a.log; pass 6; events "A one\n two"; append a.log " three" B; pass 1; events "A one\n two" " three"',
      'event over a rotation is sent when nothing follows it for the timeout': `
        write a.log " three"; pass 3; append a.log " four" " unfinished…"; pass 4; no-events; pass 3
        events "A one\n two\n three\n four" " unfinished"`,
      'event goes on over several rotations between two scans': `
        mv a.log.1 a.log.2; born; write a.log.1 " three"; born; write a.log " four" B; drain
        events "A one\n two\n three\n four"; spans A0-11+B0-7+C0-6`,
      'event of a deleted file goes on in the one that was made in its place':
        'scan; rm a.log.1; write a.log " three" B; drain; events "A one\n two\n three"',
      'file that begins with an event of its own does not wait for the file before': `
        write a.log "B one" " two" C; pass 1; events "B one\n two"; pass 6; events-any "A one\n two" "B one\n two" C
        spans A0-11 B0-11 A11-13`,
      'event over a rotation that the lane refuses is read again':
        'write a.log " three" B; poll; hold; give-up; start; drain; events "A one\n two\n three"',
      // The lane holds the event while the next file is changed.
      'next file that is removed while the event is taken is read on behind it': `
        write a.log " three" B; poll; hold; rm a.log; scan; release; drain; pass 12; events "A one\n two\n three" B; lost 0`,
      'next file that is truncated while the event is taken begins anew': `
        write a.log " three" B; poll; hold; write a.log "C new"; scan; release; drain; pass 12
        events "A one\n two\n three" "C new"; lost 2`,
    },
  },
  ...[{ maxLines: 3 }, { maxBytes: 20 }].map((limit) => ({
    options: { multiline: { ...multiline, ...limit } },
    begin: ROTATED,
    cases: {
      [`${Object.keys(limit)[0]} holds over a rotation`]:
        'write a.log " three" " four" " five" B; drain; events "A one\n two\n three" " four\n five"',
    },
  })),
  {
    options: { maxEventBytes: 64 },
    cases: {
      'line over the limit in the next file ends the event': steps`
        write a.log "A one" " two"; start; drain; mv a.log a.log.1; write a.log ${` three\n${'x'.repeat(1000)}\nB\n`}; drain
        events "A one\n two\n three" ${'x'.repeat(64)}`,
      'event that takes too much as UTF-8 is cut over a rotation, too, and both files go on behind it': steps`
        write a.log ${latin1(`A ${'\xff'.repeat(10)}\n`)}; start; drain; mv a.log a.log.1
        write a.log ${latin1(` ${'\xff'.repeat(20)}\nB\nC\n`)}; drain; spans A0-13+B0-22 B22-24; last B; stats truncatedEvents=1`,
    },
  },
  {
    cases: {
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
      'utf-16 files with byte order marks are joined without the second mark, files in different encodings are not': steps`
        write a.log ${utf16('\ufeffA ü\n two\n')}; write b.log "A ü" " two"; start; drain; mv a.log a.log.1
        write a.log ${utf16('\ufeff three €\nB\n')}; mv b.log b.log.1; write b.log ${utf16('\ufeff three €\nB\n')}; drain
        pass 6; events-any " three €" "A ü\n two" "A ü\n two\n three €" B B
        spans A0-20+B0-20 C0-10 D0-20 B20-24 D20-24`,
    },
  },
  {
    options: { glob: '*.log*' },
    cases: {
      'event goes on in the file that was rotated away unseen, not in the one behind it': `
        write a.log "A one" " two"; start; drain; mv a.log a.log.2; born; write a.log.1 M " more"; born; write a.log " rest of M" B; drain
        pass 6; events-any "A one\n two" B "M\n more\n rest of M"`,
    },
  },
  {
    options: { glob: '*' },
    cases: {
      'files that are merely alike by name are not joined': `
        write worker " rest" A " one"; write worker-1 " rest" B " one"; write worker-2 " rest" C " one"; start; drain; pass 6
        events-any " rest" " rest" " rest" "A\n one" "B\n one" "C\n one"`,
    },
  },
  {
    options: { format: 'cri', multiline: undefined },
    cases: {
      'pieces of a container message that a rotation cut are put together': steps`
        write a.log ${`${T} F whole\n${T} P first \n`}; start; drain; mv a.log a.log.1
        write a.log ${`${T.replace('stdout', 'stderr')} F other\n${T} F last\n${T} F next\n`}; drain
        messages whole "first last" other next`,
    },
  },
  {
    options: { format: 'cri' },
    cases: {
      'traces in container messages are joined over a rotation': steps`
        write a.log ${`${T} F A\n${T} F  one\n`}; start; drain; mv a.log a.log.1; write a.log ${`${T} F  two\n${T} F B\n`}; drain
        messages "A\n one\n two"`,
    },
  },
  {
    options: { format: 'csv', multiline: undefined },
    cases: {
      'csv records are not joined over a rotation': steps`
        write a.log ${'a,b\n1,"2\n'}; start; drain; mv a.log a.log.1; write a.log "a,b" "3,4"; drain; pass 6
        events ${['{"a":"3","b":"4"}', noRecord]}`,
    },
  },
];

/** Which of several generations of one path comes after which. */
const ordered: readonly Group[] = [
  {
    options: stepped,
    begin: READ,
    cases: {
      'files are joined in the order in which they were made, be it a tick of the clock apart': `${unseen(1)}; drain; events Z "A one\n two\n three\n four"`,
      'what was copied and truncated is joined in its order where an empty copy was not decided about since the restart': `
        later 1000; scan; ${aside(1, '')}; scan; later 1000; scan; ${aside(2, '" two"')}; scan; later 1000; scan; ${aside(3, '" three"')}; scan
        commit; start; later 1000; scan; ${aside(4, '" four" B')}; scan; drain; events "A one\n two\n three\n four"`,
      'copies that were made hours apart while no agent ran are joined: when they were made says nothing of their lines': `
        commit; ${aside(1, '" two"')}; later 3600000; ${aside(2, '" three"')}; later 3600000; ${aside(3, '" four" B')}; later 3600000
        start; drain; events "A one\n two\n three\n four"; lost 0`,
    },
  },
  {
    // Their streams are not made in that order.
    options: () => stepped(1, [1]),
    begin: READ,
    cases: {
      'files that were seen together are joined in the order in which they were made, also after a restart': `${unseen(1)}; scan; start; drain; events Z "A one\n two\n three\n four"`,
    },
  },
  {
    options: () => stepped(1000),
    begin: READ,
    cases: {
      'files that were made within one tick of the clock are not joined': `${unseen(0)}; drain; pass 20; events-any " four" " three" " two" "A one" B Z`,
      // Nor where their streams were made at one time.
      'files that were made within one tick of the clock are not joined after a restart': `
        ${unseen(0)}; scan; start; drain; pass 20; events-any " four" " three" " two" "A one" B Z`,
    },
  },
  {
    options: () => ({ ...stepped(), multiline: { ...multiline, timeoutMs: 100 } }),
    cases: {
      'event is not joined with a file that came so late after it that it was over': `
        append a.log "A one" " two"; start; drain; mv a.log a.log.1; later 200; append a.log " three" B; start; drain; pass 6
        events-any " three" "A one\n two" B`,
    },
  },
];

/** Files of which each has a date in its name. */
const byDate: readonly Group[] = [
  ...(
    [
      ['app-20261121.log', 'app-20261122.log'],
      ['2026-12-31.log', '2027-01-01.log'],
      ['app.2026-11-21T09.log', 'app.2026-11-21T10.log'],
      ['app-20261121.log', 'app-20261123.log'],
    ] as const
  ).map(([first, next]) => ({
    options: stepped,
    begin: dated(first),
    cases: {
      [`event that is cut between ${first} and ${next} is one event`]: `
        append ${next} " two" " three" B; drain; events-any "A one\n two\n three" Z; continued 0-12; pass 6
        events-any "A one\n two\n three" B Z`,
    },
  })),
  {
    options: stepped,
    begin: dated('app-20261121.log'),
    cases: Object.fromEntries([
      ...[
        ['the earlier date', 'app-20261120.log', 0],
        ['another name', 'web-20261122.log', 0],
        ['a number that is no date', 'app-20261322.log', 0],
        ['a date that came when its event was over', 'app-20261122.log', 6000],
      ].map(([what, name, ms]) => [
        `file of ${what} is not joined`,
        `later ${ms}; append ${name} " two" B; drain; pass 6; events-any " two" "A one" B Z`,
      ]),
      ...Object.entries({
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
      }),
    ]) as Record<string, string>,
  },
];

export const groups: readonly Group[] = [...alone, ...rotated, ...ordered, ...byDate];

/** More than what a file is known by. */
export const REST = ` two\n ${'x'.repeat(1500)}`;

/**
 * The fate of an event of two files, `A one` and `REST`, that was sent and not settled when the agent was killed: it is sent again under
 * its key, or where it cannot be read whole any more, its rest under another one.
 */
export interface Start {
  /** Done to the files before the start. */
  readonly act?: 'rm a.log.1' | 'rm a.log' | 'edit a.log' | 'refuse a.log' | 'allow a.log';
  readonly maxLines?: number;
  /** Sent of the event at this start; `parts` means more than one, which make up the whole. */
  readonly sent: readonly string[] | 'parts';
  /** That of the first sending, of the start before, or another than all before. */
  readonly key?: 'first' | 'same' | 'new';
  readonly lostBytes?: number;
}

const WHOLE = `A one\n${REST}`;
const goneCase = (act: 'rm a.log.1' | 'rm a.log', left: string, lostBytes: number): readonly Start[] => [
  { act, sent: [left], key: 'new', lostBytes },
  { sent: [left], key: 'same' },
  // Counted once, also where the key is retired once more.
  { maxLines: 500, sent: [left], key: 'new' },
];

export const kills: Readonly<Record<string, readonly Start[]>> = {
  'is sent again as one, under its key': [
    { sent: [WHOLE], key: 'first' },
    { sent: [WHOLE], key: 'first' },
  ],
  'of which the beginning is gone: what is left is sent under another key, the same at every start': goneCase(
    'rm a.log.1',
    REST,
    'Z\nA one\n'.length,
  ),
  'of which the rest is gone: what is left is sent under another key, the same at every start': goneCase(
    'rm a.log',
    'A one',
    `${REST}\n`.length,
  ),
  'of which a later file has other bytes now gets another key': [
    { act: 'edit a.log', sent: [WHOLE.slice(0, 1306) + 'y' + WHOLE.slice(1307)], key: 'new' },
  ],
  'that is not one any more by new rules comes in parts, under another key, and is never put together again': [
    { maxLines: 2, sent: 'parts', key: 'new' },
    // The rules are others once more.
    { sent: 'parts', key: 'new' },
  ],
  'of which a file cannot be read for now waits for the next start, whole, under its key': [
    { act: 'refuse a.log', sent: [] },
    { act: 'allow a.log', sent: [WHOLE], key: 'first' },
  ],
};
