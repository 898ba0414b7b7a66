/** Times as programs write them, near misses of those, and their surroundings. */
import * as fc from 'fast-check';
import type { EventTimes } from '../../src/core/block.ts';
import { TIME_FORMS } from '../../src/core/time/forms.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const ZONES = [
  'UTC',
  'Europe/Athens',
  'America/New_York',
  'Asia/Kathmandu',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
];

/** Of times that name none; with the keys of the default, or others. */
export const eventTimes: fc.Arbitrary<EventTimes> = fc.record({
  zone: fc.constantFrom(...ZONES),
  keys: fc.constantFrom(
    [
      'time',
      'timestamp',
      'ts',
      '@timestamp',
      'eventTime',
      'Timestamp',
      '@t',
      'datetime',
      'asctime',
      't',
      '__REALTIME_TIMESTAMP',
      'instant',
    ],
    ['ts', 'a', 'time', 't', 'instant'],
    [],
  ),
  messageLeads: fc.boolean(),
});

const two = (value: number): string => String(value).padStart(2, '0');

interface Wall {
  readonly year: number;
  readonly date: readonly number[];
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Mostly of the year before the read, at times beside a change of clocks, a limit, or out of the calendar. */
const wall: fc.Arbitrary<Wall> = fc.record({
  year: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(2025, 2026) }, { weight: 1, arbitrary: fc.constantFrom(0, 1999, 2000, 2024, 2027, 9999) }),
  date: fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 })) },
    { weight: 2, arbitrary: fc.constantFrom([10, 25], [3, 29], [11, 1], [3, 8], [11, 21], [11, 22], [11, 23], [12, 22], [12, 23], [1, 1], [12, 31], [2, 29], [4, 5]) },
    { weight: 1, arbitrary: fc.constantFrom([2, 30], [4, 31], [13, 1], [0, 1], [1, 0], [1, 32]) },
  ),
  hour: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 23 }) }, { weight: 1, arbitrary: fc.constantFrom(1, 2, 3, 24) }),
  minute: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 59 }) }, { weight: 1, arbitrary: fc.constant(60) }),
  second: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 59 }) }, { weight: 1, arbitrary: fc.constant(60) }),
}); // prettier-ignore

/** The layout's text for a time. `weekday` and `hour` as they are to be written. */
export function written(layout: string, { year, date, minute, second }: Wall, weekday: string, hour: string): string {
  const [month = 1, day = 1] = date;
  const values: Readonly<Record<string, string>> = {
    2006: String(year).padStart(4, '0'),
    '06': two(year % 100),
    '01': two(month),
    '02': two(day),
    '04': two(minute),
    '05': two(second),
    15: hour,
    Jan: MONTHS[month - 1] ?? 'Foo',
    Mon: weekday,
    _2: String(day).padStart(2, ' '),
    2: String(day),
  };
  return layout.replace(/2006|Jan|Mon|_2|0[12456]|15|2/g, (token) => values[token]!);
}

const fraction = fc.constantFrom(
  '',
  '',
  '',
  '.1',
  ',123',
  '.123456',
  '.123456789',
  '.1234567890123',
  '.',
  ',',
  '.x',
  '.000',
  ':123',
  ':1234',
  ':x',
);
const meridiem = fc.constantFrom(
  '',
  '',
  '',
  '',
  '',
  '',
  ' PM',
  ' AM',
  'pm',
  ' a.m.',
  ' P.M.',
  ' p.m',
  ' PMs',
  ' PM.421',
);
// prettier-ignore
const zone = fc.constantFrom(
  '', '', '', '', 'Z', 'z', '+02:00', '-0530', '+01', ' UTC', ' GMT', ' CET', ' CEST', ' EEST', ' MSK', ' WEST', ' WETA', ' CST', ' EST', ' IST', ' SGT', ' BRT', ' AEST',
  ' INFO', ' X', ' GET/', ' NST_', ' +0100', ' -05:00', ' +01', ' -03', ' -15', ' -03:5', ' +1', '+1', '+24:00', '-00:60', '+01:5x', '+01:555', '-x', 'Zulu', ' UTC1', '+0100x',
  '+01:', ' -1234', ' Z', ' Z1', ' (UTC)', ' (SGT)', ' (FOO)', ' (CET', ' [+0200]', ' (-0130)', ' [+0200', ' GMT+2', ' UTC+02:00', ' GMT-0700', ' UTC-5', ' UTC+530', ' UTC+5:3',
  ' GMT+24', ' UTC+02000', ' UTC+x', ' Europe/Berlin', ' America/New_York', ' America/Argentina/Ushuaia', ' Etc/GMT-3', ' US/Pacific', ' Europe/Nowhere', ' America/',
  ' Foo/Bar', ' Antarctica/Troll', ' Australia/Eucla', '+02:00[Europe/Berlin]', 'Z[UTC]', '[Asia/Tokyo]', '[Asia/Tokyo', '[UTC]', '[Z]', '+02:00[x]', ' US',
);
const following = fc.constantFrom(
  '',
  '',
  '',
  ' 2026',
  ' 2025',
  ' 2024',
  ' 1999',
  ' 2001:db8::1',
  ' 2026: x',
  ' 2026.x',
  ' 20255',
  ' 2026 UTC',
  ' 2025 +0200',
  ' 0000',
  ' 2025 SGT',
);

/** All forms, their near misses, and text after their clock. */
export const form = fc
  .tuple(
    wall,
    fc.constantFrom(...TIME_FORMS),
    fc.tuple(fraction, meridiem, zone, following),
    fc.constantFrom('Sun', 'Mon', 'Xyz'),
    fc.constantFrom('pair', 'pair', 'pair', 'space', 'digit', 'two spaces'),
  )
  .map(([time, { layout, needs, behind }, parts, weekday, how]) => {
    const pair = two(time.hour);
    const hour =
      how === 'pair'
        ? pair
        : how === 'space'
          ? String(time.hour).padStart(2, ' ')
          : how === 'digit'
            ? String(time.hour)
            : ` ${pair}`;
    const isShort = behind !== undefined && time.second % 4 !== 0;
    const year = needs === 'year' && time.second % 5 !== 0 ? ` ${String(time.year).padStart(4, '0')}` : '';
    const level = needs === 'level' && time.second % 7 !== 0 ? ' INFO' : '';
    return `${isShort ? behind : ''}${written(layout, time, weekday, hour)}${parts.slice(0, 3).join('')}${year || parts[3]}${level}`;
  });

// prettier-ignore
const count = fc.constantFrom(
  '1795256100', '1795256100.123456', '1795256100123', '1795256100123.5', '1795256100123456', '1795256100123456789', '946684799', '946684800',
  '1795342500', '1795342501', '179525610012345678901', '1795256100e0', '17952561', '-1795256100', '1795256100.1234567890123', '1795256100123456.7890', '1795256100.',
);

const object = fc.oneof(
  form.map((text) => `{"$date":${JSON.stringify(text)}}`),
  form.map((text) => `{ "$date" : ${JSON.stringify(text)}, "a":1}`),
  count.map((text) => `{"$date":"${text}"}`),
  fc
    .tuple(count, fc.constantFrom('', ',"nanoOfSecond":118000000', ' , "nanoOfSecond" :\t5', ',"nanoOfSecond":1234567890', ',"nano":1', ',"nanoOfSecond":"1"', ',"nanoOfSecond":1.5'))
    .map(([second, nanos]) => `{"epochSecond":${second}${nanos}}`),
); // prettier-ignore

/** A JSON value: a time, nearly one, or none. */
export const timeValue: fc.Arbitrary<string> = fc.oneof(
  form.map((text) => JSON.stringify(text)),
  count,
  count.map((text) => `"${text}"`),
  form.map((text) => JSON.stringify(`${text} `)),
  object,
);

// prettier-ignore
const head = fc.constantFrom(
  '', '', '', '', '', '[', 'INFO ', '[INFO] ', '[warn ] [', 'ERROR: ', 'Error[', 'notice\t', 'SEVERE    ', 'CRITICAL      ', 'INFO         ', 'INFOS ', ' ', '[[', 'info',
  'err', 'Warning [', 'fatalities ', 'x ', '\x1b[2m', '\x1b[1;31mERROR\x1b[0m ', '\x1b[', '\x1b[31', 'I, [', 'D, ', '[I ', 'Q, [', '1:M ', '12:X', '[2932] ', '7 ', '1234: ', '12345678901 ',
  '7 8 ', 'INFO  [main] ', 'WARN [CompactionExecutor:6] ', '[10:15:00] ', '[1] [2] ', 'INFO|', 'INFO - ', '<13>', '<1234>', '(main) ', '(', '"', '<', '# Time: ', '# time: ',
  'level=info time="', 'ts=', 't=', 'a=b c="d e" ts=', 'a="x ts=', 'a=\\ ts=', 'type=SYSCALL msg=audit(', 'audit(', 'msg=', '[ab"c] ', `[${'x'.repeat(64)}] `, `[${'x'.repeat(65)}] `,
  'a_key.of@a-log=1 t=', `${'k'.repeat(32)}=1 t=`, `${'k'.repeat(33)}=1 t=`, `k=${'v'.repeat(128)} t=`, `k=${'v'.repeat(129)} t=`, '[a][b] ', '[INFO] [main] - ', '[\u00e9] ', '[a\tb] ',
);
const rest = fc.constantFrom(
  '',
  ' ',
  ' text',
  '] text',
  ': x',
  'x',
  '1',
  '\t{"a":1}',
  '"',
  '\\',
  ' -',
  '\r',
  '\u00e9',
  '\r\r',
  ' INFO',
  ' INFOS',
  '.5',
  '_',
  ':',
  '):',
);

/** A line of text that begins with a time, or nearly. */
export const timedText: fc.Arbitrary<Buffer> = fc
  .tuple(head, fc.oneof({ weight: 6, arbitrary: form }, { weight: 1, arbitrary: count }), rest)
  .map((parts) => Buffer.from(parts.join('')));
