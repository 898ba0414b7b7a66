/**
 * Times of all forms × zones × prefixes: each line is written from an instant, by the calendar of Intl, which no reader uses, and both the
 * kernel and the reader in JavaScript give that instant again. TAILRACE_TIME_LINES sets how many (100,000), TAILRACE_TIME_SEED repeats a
 * run.
 */
import { expect, test } from 'vitest';
import { TIME_FORMS, type TimeForm } from '../../src/core/time/forms.ts';
import { formatEventTime, leadingTime } from '../../src/core/time/own-time.ts';
import { createZone } from '../../src/core/time/zone.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { written } from '../kernel/times.ts';

const wanted = Number(process.env['TAILRACE_TIME_LINES'] ?? 100_000);
const seed = Number(process.env['TAILRACE_TIME_SEED'] ?? Date.now() % 1_000_000_000);
const READ_AT_MS = Date.parse('2026-11-26T12:00:00.500Z');
const DAY_MS = 86_400_000;
const LINES_A_BLOCK = 5000;

/** Of times that name none, and zones as they are written, with the name by which Intl knows them. */
const OWN = ['UTC', 'Europe/Athens', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
const WRITTEN: readonly (readonly [text: string, zone: string | number])[] = [
  ['', 'own'],
  ['', 'own'],
  ['', 'own'],
  ['Z', 0],
  [' Z', 0],
  [' UTC', 0],
  [' (UTC)', 0],
  ['+02:00', 120],
  ['-0530', -330],
  [' +0545', 345],
  [' -03', -180],
  [' [+0200]', 120],
  [' GMT+2', 120],
  [' UTC-05:30', -330],
  [' GMT-0700', -420],
  [' EST', -300],
  [' PDT', -420],
  [' AEST', 600],
  [' ACDT', 630],
  [' JST', 540],
  [' NZDT', 780],
  [' CET', 60],
  [' MSK', 180],
  [' America/New_York', 'America/New_York'],
  [' Europe/Berlin', 'Europe/Berlin'],
  [' Asia/Kathmandu', 'Asia/Kathmandu'],
  [' Antarctica/Troll', 'Antarctica/Troll'],
  [' America/Argentina/Ushuaia', 'America/Argentina/Ushuaia'],
  [' US/Pacific', 'US/Pacific'],
  [' Etc/GMT-3', 'Etc/GMT-3'],
  ['+02:00[Europe/Athens]', 120],
  ['[Asia/Tokyo]', 'Asia/Tokyo'],
];
const HEADS = [
  '',
  '',
  '',
  '',
  '[',
  '(',
  'INFO ',
  '[WARN] ',
  'ERROR: ',
  'Error[',
  'INFO  [main] ',
  'INFO - ',
  'INFO|',
  'I, [',
  '[7] ',
  '12 ',
  '1:M ',
  '<13>',
  '\u001b[2m',
  '\u001b[1;31mERROR\u001b[0m [main] ',
  'time="',
  'ts=',
  'level=info msg="a b" t=',
  '[CompactionExecutor:6] ',
];
const TAILS = ['', ' x', '] x', ': x', '" level=info', ' [12] x', '\tx', ' - x'];
const FRACTIONS = ['', '', '.123', ',5', '.123456789', '.000'];

/** Mulberry32. */
function randomOf(state: number): (below: number) => number {
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The wall clock there, by Intl. */
function wallAt(ms: number, zone: string) {
  const options = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    weekday: 'short',
  } as const;
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone, hourCycle: 'h23' });
  formats.set(zone, format);
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const date = [Number(parts['month']), Number(parts['day'])];
  const clock = { hour: Number(parts['hour']), minute: Number(parts['minute']), second: Number(parts['second']) };
  return { year: Number(parts['year']), date, ...clock, weekday: parts['weekday']! };
}

interface Drawn {
  readonly line: string;
  readonly ms: number;
  readonly fraction: string;
}

function draw(random: (below: number) => number, own: string): Drawn | undefined {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const form: TimeForm = pick(TIME_FORMS);
  const hasYear = form.layout.includes('06');
  const isFollowed = !hasYear && (form.needs === 'year' || random(3) === 0);
  const age = hasYear || isFollowed ? random(20 * 365) * DAY_MS : random(300) * DAY_MS;
  const ms = READ_AT_MS - 500 - age - random(86_400) * 1000;
  const [zoneText, zone] = form.behind === undefined ? pick(WRITTEN) : (['', 'own'] as const);
  const name = zone === 'own' ? (form.isUtc ? 'UTC' : own) : zone;
  const wall = typeof name === 'number' ? wallAt(ms + name * 60_000, 'UTC') : wallAt(ms, name);
  // Of an hour that a clock repeats, the line does not tell which.
  const isSame = (other: number) =>
    typeof name === 'string' && JSON.stringify(wallAt(other, name)) === JSON.stringify(wall);
  if ([-7_200_000, -3_600_000, -1_800_000, 1_800_000, 3_600_000, 7_200_000].some((shift) => isSame(ms + shift)))
    return undefined;
  const fraction = form.needs === 'fraction' ? '.123' : pick(FRACTIONS);
  const isHalf = random(6) === 0 && zoneText !== 'Z';
  const hour = isHalf ? wall.hour % 12 || 12 : wall.hour;
  const hourText = random(4) === 0 ? String(hour).padStart(2, ' ') : String(hour).padStart(2, '0');
  const half = isHalf
    ? pick([' AM', 'am', ' A.M.']).replace(/[Aa](?=\.?[Mm])/, (a) => (wall.hour >= 12 ? (a === 'A' ? 'P' : 'p') : a))
    : '';
  const year = isFollowed ? ` ${wall.year}` : '';
  const behind =
    random(2) === 0 ? `${zoneText}${year}` : zoneText.startsWith(' ') ? `${year}${zoneText}` : `${zoneText}${year}`;
  const time = `${written(form.layout, wall, wall.weekday, hourText)}${fraction}${half}${behind}`;
  const head = form.behind ?? pick(form.needs === 'level' ? HEADS.filter((each) => !each.includes('=')) : HEADS);
  const line = form.needs === 'level' ? `${head}${time} INFO x` : `${head}${time}${pick(TAILS)}`;
  return { line, ms, fraction: fraction.slice(1) };
}

test(
  `${wanted} lines of all forms, zones and beginnings give the instant that they were written from (seed ${seed})`,
  { timeout: 3_600_000 },
  () => {
    const random = randomOf(seed);
    const kernel = createKernel(8 * 1024 * 1024);
    const input = kernel.reserve(2 * 1024 * 1024);
    const output = kernel.reserve(4 * 1024 * 1024);
    for (let done = 0; done < wanted;) {
      const own = OWN[random(OWN.length)]!;
      const drawn: Drawn[] = [];
      while (drawn.length < Math.min(LINES_A_BLOCK, wanted))
        drawn.push(...[draw(random, own)].filter((each) => each !== undefined));
      const time = { zone: own, keys: [], messageLeads: false };
      const template = kernel.compile({ format: 'text', wrapFields: {}, fields: {}, time }, undefined);
      const end = input.bytes.write(drawn.map(({ line }) => `${line}\n`).join(''));
      const { written: bytes } = kernel.wrap(
        template,
        READ_AT_MS,
        input,
        0,
        end,
        output,
        0,
        output.bytes.length,
        1_000_000,
      );
      const events = output.bytes.toString('utf8', 0, bytes).trimEnd().split('\n');
      const zone = createZone(own);
      for (const [n, { line, ms, fraction }] of drawn.entries()) {
        const expected = formatEventTime({ second: ms / 1000, fraction });
        const read = leadingTime(line, { zone, readAtMs: READ_AT_MS });
        const got = [(JSON.parse(events[n]!) as Record<string, unknown>)['_time'], read && formatEventTime(read)];
        if (got[0] !== expected || got[1] !== expected)
          expect({ line, own, got }).toEqual({ line, own, got: [expected, expected] });
      }
      done += drawn.length;
    }
  },
);
