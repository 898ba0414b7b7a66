import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeEvent, parseMessage } from '../../../src/sources/syslog/message/parse.ts';
import { createHeaderReader, HEADS } from '../../../src/sources/syslog/message/header.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createZone } from '../../../src/core/time/zone.ts';

const receivedAt = '2026-07-10T08:00:00.000Z';
const kernel = createKernel(1024 * 1024);
const region = kernel.reserve(64 * 1024);
const zone = createZone('Europe/Athens');
const clock = { ...systemClock, now: () => Date.parse(receivedAt) };
const receipt = {
  receivedAtMs: Date.parse(receivedAt),
  ending: { peer: '192.0.2.1:514' },
  zone,
  readHeader: createHeaderReader(kernel.syslog(10_000, 'none', false, HEADS), region, zone, clock),
  parseJson: 'none' as const,
};

/** The event as it is sent: through JSON, so that absent keys are absent. */
function event(text: string | Buffer): Record<string, unknown> {
  return JSON.parse(encodeEvent({ bytes: Buffer.from(text as string) }, receipt, 10_000, 60_000).json);
}

/** What every event of `<13>` has. */
function parsed(fields: Record<string, unknown>): Record<string, unknown> {
  const [facility, facility_code, severity, severity_code] = ['user', 1, 'notice', 5];
  return {
    _time: receivedAt,
    message: '',
    facility,
    facility_code,
    severity,
    severity_code,
    peer: '192.0.2.1:514',
    ...fields,
  };
}

test('invalid UTF-8 becomes U+FFFD', () => {
  expect(event(Buffer.from('<13>caf\xe9', 'latin1'))).toEqual(parsed({ message: 'caf\uFFFD' }));
});

test('a message that was cut keeps what its header says', () => {
  const { json, isTruncated } = encodeEvent(
    { bytes: Buffer.from('<13>app: abc'), originalBytes: 5000 },
    receipt,
    100,
    10_000,
  );
  expect(JSON.parse(json)).toEqual(parsed({ appname: 'app', message: 'abc', truncated: true, original_bytes: 5000 }));
  expect(isTruncated).toBe(true);
});

test('a message that repair makes longer than the limit is cut after the repair', () => {
  const { json } = encodeEvent(
    { bytes: Buffer.concat([Buffer.from('<13>'), Buffer.alloc(96, 0xff)]) },
    receipt,
    100,
    10_000,
  );
  expect(JSON.parse(json)).toEqual(parsed({ message: '\uFFFD'.repeat(33), truncated: true, original_bytes: 100 }));
});

test('an event whose JSON is too long for the window keeps its beginning', () => {
  const { json, isTruncated } = encodeEvent(
    { bytes: Buffer.from(`<13>${'\u0001'.repeat(2000)}`) },
    receipt,
    10_000,
    4096,
  );
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(4096);
  expect(JSON.parse(json)).toMatchObject({
    truncated: true,
    original_bytes: 2004,
    parse_error: 'too large once written as JSON',
  });
  expect(isTruncated).toBe(true);
});

const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '<13>',
    '1 ',
    '- ',
    'Oct 11 22:14:15 ',
    '2026-01-01T00:00:00Z ',
    'host ',
    'app[1]: ',
    '[a b="c"]',
    '[',
    ']',
    '"',
    '\\',
    '=',
    ': ',
    '29: *',
    'UTC:',
    ' ',
  ),
);

test('parsing takes any text to an event with its keys, and loses no text it cannot parse', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('').toWellFormed();
      const result = parseMessage(Buffer.from(text), receipt);
      expect(Number.isNaN(Date.parse(result['_time'] as string))).toBe(false);
      expect(result['peer']).toBe('192.0.2.1:514');
      if (result['parse_error'] === undefined) expect(text.endsWith(result['message'] as string)).toBe(true);
      else expect(result['message']).toBe(text);
    }),
    { numRuns: 5000 },
  );
});

test('parse_json: fields makes fields of a message’s members, which overwrite nothing and nobody', () => {
  const text =
    '<13>app: {"level":"info","n":12345678901234567890,"message":"m","host":"h","env":"dev","peer":"p","_time":"t"}';
  const withFields = { ...receipt, parseJson: 'fields' as const, fieldNames: new Set(['env']) };
  const encode = (message: string, maxJsonBytes = 60_000): string =>
    encodeEvent({ bytes: Buffer.from(message) }, withFields, 10_000, maxJsonBytes).json;
  expect(encode(text)).toContain('"peer":"192.0.2.1:514","level":"info","n":12345678901234567890}');
  expect(JSON.parse(encode('<13>app: @cee: {"a":{"b":1}}'))).toEqual(
    parsed({ appname: 'app', message: '@cee: {"a":{"b":1}}', a: { b: 1 } }),
  );
  expect(JSON.parse(encode('<13>app: {broken'))).toEqual(parsed({ appname: 'app', message: '{broken' }));
  expect(JSON.parse(encode(`<13>app: {"a":"${'x'.repeat(3000)}"}`, 4096))).not.toHaveProperty('a');
});
