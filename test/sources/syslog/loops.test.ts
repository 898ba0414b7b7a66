/**
 * Differential fuzz: the kernel's loops and the JavaScript parser must give the same events byte for byte, whatever the
 * messages, and whatever the reads they come in. TAILRACE_FUZZ_SYSLOG sets how many messages (100,000), TAILRACE_FUZZ_SEED repeats a run.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { corpus } from './corpus/corpus.ts';
import { RECEIVED_AT } from './receipt.ts';
import { createRig, eventsOf, eventsOfReads, receiveAt } from './rig.ts';
import { words } from '../../support/words.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_SYSLOG'] ?? 100_000);
const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const samples = corpus.map(({ input }) => input);

const PIECES = [
  ...words`<13> <191> <192> <0013> - : [ ] " \" = =" 2026-01-01T00:00:00Z host é €`,
  '1 ',
  '- ',
  ' ',
  '  ',
  '\n',
  '\r',
  '\0',
  '\t',
  ': ',
  '\\',
  'Oct 11 22:14:15',
  'Feb 30 22:14:15 ',
  'Mar  1 00:00:00 ',
  'Dec 31 23:59:59.123 ',
  '2026-02-29T00:00:00Z ',
  '2003-10-11T22:14:15.003-07:00 ',
  '2026-07-10 11:00:00 ',
  '0001-01-01T00:00:00Z ',
  '9999-12-31T23:59:59.5-23:59 ',
  '2099-01-01 00:00:00 ',
  '1900-01-01T00:00:00+00:01 ',
  '2026-07-11T08:00:00Z ',
  '2026-07-11T08:00:01Z ',
  'Jul 12 22:14:15 ',
  'host ',
  'fe80::1 ',
  'app[1]: ',
  'app: ',
  'CRON: ',
  'UTC: ',
  '2026 ',
  '[a b="c"]',
  '[a b="1" b="2"]',
  '[7 b="1"]',
  '[a@1 x="\\"\\\\\\]\\n"]',
  '29: *',
  '%ASA-6-302013: ',
  '\u{1f600}',
  '\u00a0',
  '\ufeff',
];
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }).map((text) => Buffer.from(text)) },
);
/** A message of the corpus with a part replaced. */
const mutated = fc
  .tuple(fc.constantFrom(...samples), fc.nat(), fc.oneof(fc.nat(3), fc.nat(200)), fc.array(piece, { maxLength: 2 }))
  .map(([sample, at, length, pieces]) => {
    const from = at % (sample.length + 1);
    return Buffer.concat([sample.subarray(0, from), ...pieces, sample.subarray(from + length)]);
  });
/** After a clock the kernel reads these words as a host, the forms of devices as a half of the day: left out here. */
const SMALL_HALF = /\d ?(?:[ap]\.?[mM]|[AP](?:m|\.[mM]))/;
const message = fc
  .oneof(
    { weight: 4, arbitrary: mutated },
    {
      weight: 3,
      arbitrary: fc.array(piece, { maxLength: 14 }).map((pieces) => Buffer.concat([Buffer.from('<13>'), ...pieces])),
    },
    { weight: 1, arbitrary: fc.array(piece, { maxLength: 14 }).map((pieces) => Buffer.concat(pieces)) },
    {
      weight: 1,
      arbitrary: fc
        .array(piece, { maxLength: 14 })
        .map((pieces) => Buffer.concat([Buffer.from('Jul 10 10:59:59 '), ...pieces])),
    },
  )
  .filter((bytes) => !SMALL_HALF.test(bytes.toString('latin1')));

const rig = createRig();
const small = createRig(1024);

test(`the loops agree with the parser on ${wanted} messages (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  let seen = 0;
  const agrees = fc.asyncProperty(
    fc.array(message, { maxLength: 60, size: 'max' }),
    fc.constantFrom('datagram', 'framed'),
    async (messages, kind) => {
      seen += messages.length;
      expect(await rig.take(messages, kind)).toEqual(eventsOf(messages, kind));
    },
  );
  await fc.assert(agrees, { seed, numRuns: Math.ceil(wanted / 30) });
  process.stdout.write(
    `syslog fuzz: ${seen} messages, ${rig.stats.slowPathEvents} of them read by JavaScript, first seed ${seed}\n`,
  );
  expect(rig.stats.slowPathEvents / seen, 'share that JavaScript reads').toBeLessThan(0.7);
});

test.each(['cee', 'all'] as const)('the loops agree with the parser where JSON is parsed (%s)', async (parseJson) => {
  const parsing = createRig(10_000, parseJson);
  const head = fc.constantFrom('<13>', '<13>app: ', '<13>1 - - - - - - ', '<13>Jul 10 10:59:59 h a[1]: ');
  const before = fc.constantFrom('', '', ' ', '@cee:', '@cee: ', ' @cee:{', '@cee', '\t');
  const body = fc.oneof(
    fc.json(),
    fc.constantFrom('{}', '{"a": 12345678901234567890,\n"b":"\\u0041"}', '{"a":1', '{"a":1} ', '[1]', 'x'),
  );
  const json = fc.tuple(head, before, body).map((parts) => Buffer.from(parts.join('')));
  const agrees = fc.asyncProperty(fc.array(json, { maxLength: 20 }), async (messages) => {
    expect(await parsing.take(messages, 'framed')).toEqual(eventsOf(messages, 'framed', 10_000, parseJson));
  });
  await fc.assert(agrees, { seed, numRuns: 1000 });
});

test('the loops agree with the parser where messages may be in another charset', async () => {
  const decode = (bytes: Buffer): string => bytes.toString('latin1');
  const foreign = createRig(10_000, 'none', 'truncate', decode);
  const mixed = fc
    .tuple(message, fc.nat(), fc.constantFrom('', '', 'caf\xe9', '\xa3', '\xc3\xa9', '\xc3'))
    .map(([bytes, at, text]) => {
      const place = at % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, place), Buffer.from(text, 'latin1'), bytes.subarray(place)]);
    });
  const agrees = fc.asyncProperty(fc.array(mixed, { maxLength: 20 }), async (messages) => {
    expect(await foreign.take(messages, 'framed')).toEqual(eventsOf(messages, 'framed', 10_000, 'none', decode));
  });
  await fc.assert(agrees, { seed, numRuns: 1000 });
});

test('the loops take a time without a year anew in each second of the receipt', async () => {
  const messages = [Buffer.from('<13>Dec 31 23:59:59 h a: x'), Buffer.from('<13>Oct 25 03:30:00 h a: x')];
  const years: unknown[] = [];
  try {
    for (const time of ['2026-12-31T23:00:00Z', '2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z']) {
      receiveAt(time);
      const taken = await rig.take(messages, 'framed');
      expect(taken).toEqual(eventsOf(messages, 'framed'));
      years.push((JSON.parse(taken[0]!) as { _time: string })._time.slice(0, 4));
    }
  } finally {
    receiveAt(RECEIVED_AT);
  }
  expect(years).toEqual(['2026', '2026', '2027']);
});

test('the loops agree with the parser on messages about the longest', async () => {
  const long = fc.tuple(message, fc.integer({ min: 900, max: 1100 }), piece).map(([head, length, fill]) => {
    const filler = fill.length === 0 ? Buffer.from('x') : fill;
    return Buffer.concat([head, Buffer.alloc(length, filler)]).subarray(0, length);
  });
  const agrees = fc.asyncProperty(fc.array(long, { maxLength: 5 }), async (messages) => {
    expect(await small.take(messages, 'framed')).toEqual(eventsOf(messages, 'framed', 1024));
  });
  await fc.assert(agrees, { seed, numRuns: 2000 });
});

test('a stream gives the same events as JavaScript alone, whatever the reads', async () => {
  const framed = fc
    .tuple(message, fc.constantFrom('\n', '\r\n', '\0', '\n\0', 'count', 'count+lf', 'none'))
    .map(([bytes, how]) => {
      if (how === 'none') return bytes;
      if (how === 'count') return Buffer.concat([Buffer.from(`${bytes.length} `), bytes]);
      if (how === 'count+lf') return Buffer.concat([Buffer.from(`${bytes.length + 1} `), bytes, Buffer.from('\n')]);
      return Buffer.concat([bytes, Buffer.from(how)]);
    });
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 20, max: 3000 })), {
    minLength: 1,
    maxLength: 12,
  });
  const agrees = fc.asyncProperty(fc.array(framed, { maxLength: 30 }), sizes, async (messages, sizes) => {
    const wire = Buffer.concat(messages);
    const reads: Buffer[] = [];
    for (let at = 0, n = 0; at < wire.length; n += 1) reads.push(wire.subarray(at, (at += sizes[n % sizes.length]!)));
    expect(await rig.stream(reads)).toEqual(eventsOfReads(reads));
    expect(await small.stream(reads)).toEqual(eventsOfReads(reads, 1024));
  });
  await fc.assert(agrees, { seed, numRuns: 3000 });
});
