/**
 * Files of hostile bytes, through the whole agent, against the plain rule for lines: NULs, CRs, marks in the wrong places, invalid and
 * torn characters, lines that end where reads do. TAILRACE_HOSTILE_SEED repeats a run.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { READ_CHUNK_BYTES } from '../../src/sources/framing/limits.ts';
import { metricsOf, QUICK, range, startShipping, test } from '../support/shipping.ts';
import { dice } from '../support/random.ts';
import { until } from '../support/until.ts';

const seed = Number(process.env['TAILRACE_HOSTILE_SEED'] ?? Date.now() % 1_000_000_000);

const random = dice(seed);

const BITS: readonly Buffer[] = [
  '\n',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '\n\r\n',
  '\0',
  '\ufeff',
  '€',
  '😀',
  '\ufffd',
  '"',
  '\\',
  '\t',
  '\u2028',
  ' ',
  'plain words ',
  '{"a":1}',
  '{"a":"€"}\n',
  '{',
  '}',
  '[1]\n',
]
  .map((text) => Buffer.from(text))
  .concat(
    [
      [0xff],
      [0xfe, 0xff],
      [0xc3],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80],
      [0x80],
      [0xc0, 0xaf],
      [0xf5],
    ].map((bytes) => Buffer.from(bytes)),
  );

/** Hostile bytes around the places where reads end. */
function makeContent(): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer): void => void (parts.push(part), (length += part.length));
  // Not a mark of UTF-16, which would be right to decide.
  add(Buffer.from(random(3) === 0 ? '\ufeff' : 'a'));
  for (let chunk = 0; chunk < 1 + random(3); chunk += 1) {
    for (let n = random(200); n > 0; n -= 1) add(BITS[random(BITS.length)]!);
    const room = READ_CHUNK_BYTES * (chunk + 1) - length - random(12);
    if (room > 0) add(Buffer.alloc(room, random(2) === 0 ? `${'a line of ordinary text, '.repeat(20)}\n` : 'x'));
    for (let n = 3 + random(20); n > 0; n -= 1) add(BITS[random(BITS.length)]!);
  }
  // NULs at a file's end would be no part of it.
  add(Buffer.from('\n'));
  return Buffer.concat(parts);
}

/** What the lines of a file become: the message, or the object's own text. */
function eventsOf(bytes: Buffer): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const own = bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? bytes.subarray(3) : bytes;
  const events: string[] = [];
  for (let at = 0; at < own.length;) {
    const newline = own.indexOf(10, at);
    const end = newline === -1 ? own.length : newline;
    const isCut = own[end - 1] === 13 && end > at;
    const line = decoder.decode(own.subarray(at, isCut ? end - 1 : end));
    at = end + 1;
    if (line === '') continue;
    // Files that were put together have a mark before a line.
    const unmarked = line.replace(/^\ufeff/, '');
    events.push(isObject(unmarked) ? unmarked.replace(/^[ \t\r]+|[ \t\r]+$/g, '') : line);
  }
  return events;
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The members that the agent adds taken away again. */
function textOf(event: string): string {
  const { message } = JSON.parse(event) as { message?: string };
  return message ?? event.replace(/,?"(?:_time|host|file)":"[^"]*"/g, '');
}

test(`files of hostile bytes become the events of their lines (seed ${seed})`, async ({ site }) => {
  const contents = range(16).map(makeContent);
  for (const [n, content] of contents.entries()) writeFileSync(join(site.folder, 'logs', `${n}.log`), content);
  const expected = contents.flatMap(eventsOf);
  const agent = startShipping(site, { sink: `${QUICK}, batch: {max_bytes: 64KiB}` });
  await until('everything that ends in a line is stored', () => site.service.stored.length >= expected.length);
  const families = await metricsOf(agent);
  const value = (name: string): number => families.get(name)?.samples[0]?.value ?? 0;
  expect(value('tailrace_source_read_bytes_total')).toBe(contents.reduce((sum, { length }) => sum + length, 0));
  expect(value('tailrace_source_lag_bytes') + value('tailrace_source_lost_bytes_total')).toBe(0);
  expect(value('tailrace_source_invalid_characters_total')).toBeGreaterThan(100);
  expect(await agent.end()).toBe(0);
  expect(site.service.stored.map(textOf).sort()).toEqual(expected.sort());
});
