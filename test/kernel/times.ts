/** Times as programs write them, near misses of those, and what stands around them. */
import * as fc from 'fast-check';
import type { EventTimes } from '../../src/core/block.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const ZONES = ['UTC', 'Europe/Athens', 'America/New_York', 'Asia/Kathmandu', 'Africa/Casablanca', 'Australia/Lord_Howe'];

/** Of times that name none; with the keys of the default, or others. */
export const eventTimes: fc.Arbitrary<EventTimes> = fc.record({
  zone: fc.constantFrom(...ZONES),
  keys: fc.constantFrom(['time', 'timestamp', 'ts', '@timestamp', 'eventTime'], ['ts', 'a', 'time'], []),
  messageLeads: fc.boolean(),
});

const two = (value: number): string => String(value).padStart(2, '0');

/** Mostly of the year before the read, at times beside a change of clocks, a limit, or out of the calendar. */
const wall = fc.record({
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

const fraction = fc.constantFrom('', '', '.1', ',123', '.123456', '.123456789', '.1234567890123', '.', ',', '.x', '.000');
// prettier-ignore
const zone = fc.constantFrom(
  '', '', '', 'Z', 'z', '+02:00', '-0530', '+01', ' UTC', ' GMT', ' CET', ' CEST', ' EEST', ' MSK', ' WEST', ' WETA', ' CST', ' +0100', ' -05:00',
  ' +01', '+1', '+24:00', '-00:60', '+01:5x', '+01:555', '-x', 'Zulu', ' UTC1', '+0100x', '+01:', ' -1234', ' Z',
);

interface Wall {
  readonly year: number;
  readonly date: readonly number[];
}

const form = fc
  .tuple(wall, fc.nat(9), fraction, zone, fc.constantFrom('Sun', 'Mon', 'Xyz'))
  .map(([{ year, date, hour, minute, second }, which, parts, offset, weekday]) => {
    const [month = 1, day = 1] = date as Wall['date'];
    const name = MONTHS[month - 1] ?? 'Foo';
    const clock = `${two(hour)}:${two(minute)}:${two(second)}`;
    const full = String(year).padStart(4, '0');
    const spaced = String(day).padStart(2, ' ');
    // prettier-ignore
    const forms = [
      `${full}-${two(month)}-${two(day)}T${clock}${parts}${offset}`,
      `${full}-${two(month)}-${two(day)} ${clock}${parts}${offset}`,
      `${full}/${two(month)}/${two(day)} ${clock}${parts}${offset}`,
      `${two(day)}/${name}/${full}:${clock}${parts}${offset}`,
      `${weekday}, ${day} ${name} ${full} ${clock}${parts}${offset}`,
      `${name} ${spaced} ${clock}${parts}${offset}`,
      `I${two(month)}${two(day)} ${clock}${parts}${offset}`,
      `W${full}${two(month)}${two(day)} ${clock}${parts}${offset}`,
      `${weekday} ${name} ${spaced} ${clock}${parts}${offset} ${full}`,
      `${day}-${name}-${full} ${clock}${parts}${offset}`,
    ];
    return forms[which]!;
  });

// prettier-ignore
const count = fc.constantFrom(
  '1795256100', '1795256100.123456', '1795256100123', '1795256100123.5', '1795256100123456', '1795256100123456789', '946684799', '946684800',
  '1795342500', '1795342501', '179525610012345678901', '1795256100e0', '17952561', '-1795256100', '1795256100.1234567890123', '1795256100123456.7890',
);

/** A JSON value: a time, nearly one, or none. */
export const timeValue: fc.Arbitrary<string> = fc.oneof(
  form.map((text) => JSON.stringify(text)),
  count,
  count.map((text) => `"${text}"`),
  form.map((text) => JSON.stringify(`${text} `)),
);

// prettier-ignore
const head = fc.constantFrom(
  '', '', '', '', '[', 'INFO ', '[INFO] ', '[warn ] [', 'ERROR: ', 'Error[', 'notice\t', 'SEVERE    ', 'CRITICAL      ', 'INFO         ', 'INFOS ', ' ', '[[', 'info',
  'err', 'Warning [', 'fatalities ', 'x ',
);
const rest = fc.constantFrom('', ' ', ' text', '] text', ': x', 'x', '1', '\t{"a":1}', '"', '\\', ' -', '\r', '\u00e9', '\r\r');

/** A line of text that begins with a time, or nearly. */
export const timedText: fc.Arbitrary<Buffer> = fc.tuple(head, form, rest).map((parts) => Buffer.from(parts.join('')));
