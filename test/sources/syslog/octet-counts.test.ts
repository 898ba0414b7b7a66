/**
 * Octet counts that do not agree with the bytes: one wrong count swallowed everything behind it on that connection, because the rest was
 * taken for a message that a newline ends. Each case runs over the kernel and JavaScript together, as a connection does.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Framer } from '../../../src/sources/syslog/receive/framing.ts';
import { createRig, eventsOfReads } from './rig.ts';

const WRONG = 'the octet count before it is wrong';
const rig = createRig();

interface Seen {
  readonly message: string;
  readonly parse_error?: string;
  readonly truncated?: boolean;
  readonly original_bytes?: number;
}

const bytesOf = (wire: string | Buffer): Buffer => Buffer.from(wire as string);
const counted = (text: string): string => `${Buffer.byteLength(text)} ${text}`;
/** As a sender counts that takes characters for octets. */
const miscounted = (text: string): string => `${text.length} ${text}`;
const good = (n: number): string => `<13>good ${n} é`;
const goods = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => good(from + n));

async function take(reads: readonly (string | Buffer)[], on = rig): Promise<Seen[]> {
  return (await on.stream(reads.map(bytesOf))).map((event) => JSON.parse(event) as Seen);
}

/** Messages; those out of step in brackets. */
async function seen(...reads: readonly (string | Buffer)[]): Promise<string[]> {
  return (await take(reads)).map(({ message, parse_error }) => (parse_error === WRONG ? `[${message}]` : message));
}

function cut(wire: string, ...places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(wire);
  return [0, ...places].map((from, n) => bytes.subarray(from, places[n])).filter(({ length }) => length > 0);
}

describe('bytes that are here decide', () => {
  const rest = goods(3);
  const all = rest.map((text) => text.slice(4));
  test.each([
    ['a count of characters, é', miscounted('<13>café'), ['[<13>café]']],
    ['a count of characters, an emoji', miscounted('<13>so 😀😀 glad'), ['[<13>so 😀😀 glad]']],
    ['a count of characters at the end of one word', miscounted('<13>é'), ['[<13>é]']],
    ['a body that was cut after its count', '30 <13>short', ['[<13>short]']],
    ['a count that covers its own number', '12 <13>short', ['[<13>short]']],
    ['a count that covers the next number', `${9 + 3} <13>short`, ['[<13>short]']],
    [
      'several of both',
      [miscounted('<13>äöü'), '40 <13>cut', miscounted('<13>ñ'), '20 <13>cut too'].join(''),
      ['[<13>äöü]', '[<13>cut]', '[<13>ñ]', '[<13>cut too]'],
    ],
    ['bytes between two messages', `${counted('<13>a')}garbage`, ['[<13>agarbage]']],
    ['a text that ends in a number', '8 <13>port 80', ['[<13>port 80]']],
    ['a count of ten digits', `9999999999 <13>short`, ['[<13>short]']],
    ['a count of no PRI that is not in step', `${counted('<13>a')}5 apples`, ['[<13>a5 apples]']],
    ['many lines of text', miscounted('<13>é\nsecond é\nthird'), ['[<13>é\nsecond é\nthird]']],
  ])('%s', async (_name, bad, expected) => {
    const wire = [counted('<13>first'), bad, ...rest.map(counted)].join('');
    expect(await seen(wire)).toEqual(['first', ...expected, ...all]);
    // The first message of a connection, too.
    expect(await seen([bad, ...rest.map(counted)].join(''))).toEqual([...expected, ...all]);
  });
});

test.each([
  ['LF between messages', [counted('<13>a'), '\n', counted('<13>b'), '\r\n', counted('<13>c')], ['a', 'b', 'c']],
  ['LF that the count covers', [counted('<13>a\n'), counted('<13>b\n'), counted('<13>c\n')], ['a', 'b', 'c']],
  ['LF that the count forgets by one', ['5 <13>a\n', '5 <13>b\n'], ['a', 'b']],
  [
    'NUL between messages',
    [counted('<13>a'), '\0', counted('<13>b'), '\0\n\r\n\0\n\0\r\n\0\n', counted('<13>c')],
    ['a', 'b', 'c'],
  ],
  ['leading zeros', ['0005 <13>a', '0000000005 <13>b', '5 <13>c'], ['a', 'b', 'c']],
  [
    'messages without a PRI',
    [counted('<13>a'), counted('hello'), counted('7 dwarfs'), counted('<13>b')],
    ['a', 'hello', '7 dwarfs', 'b'],
  ],
  [
    'texts that hold a count',
    [counted('<13>see 12 <13>inside, 7 <13>'), counted('<13>12 <13>abcdefgh'), counted('12 <13>x'), counted('<13>b')],
    ['see 12 <13>inside, 7 <13>', '12 <13>abcdefgh', '12 <13>x', 'b'],
  ],
  [
    'newlines first, then counts',
    ['<13>a\n<13>12 <13>x\n', counted('<13>b'), counted('<13>c')],
    ['a', '12 <13>x', 'b', 'c'],
  ],
  [
    'counts, newlines, counts',
    [counted('<13>a'), '<13>b\n12 drummers\n', counted('<13>c'), '<13>d\n'],
    ['a', 'b', '12 drummers', 'c', 'd'],
  ],
])('messages in step stay whole, wherever their stream is cut: %s', async (_name, parts, expected) => {
  const wire = parts.join('');
  const { length } = Buffer.from(wire);
  expect(await seen(wire)).toEqual(expected);
  for (let at = 1; at < length; at += 1) expect(await seen(...cut(wire, at)), `cut at ${at}`).toEqual(expected);
  for (let at = 1; at < length - 1; at += 1)
    expect(await seen(...cut(wire, at, at + 1)), `cut around ${at}`).toEqual(expected);
  expect(await seen(...Array.from(Buffer.from(wire), (byte) => Buffer.from([byte])))).toEqual(expected);
});

describe.each([
  ['too short', miscounted('<13>one é, two é, three é')],
  ['too large', '60 <13>cut off'],
  ['too large by its own length', '17 <13>cut off out'],
  ['absurd', '9999999999 <13>cut off'],
])(
  'a count that is %s costs its own message and the one that it cuts into, wherever its stream is cut',
  (_name, bad) => {
    const before = goods(2, 100);
    const after = goods(12, 200);
    const wire = [...before.map(counted), bad, ...after.map(counted)].join('');
    const { length } = Buffer.from(wire);
    const isGood = ({ message, parse_error }: Seen): boolean =>
      parse_error === undefined && /^good \d+ é$/.test(message);

    async function holds(...places: readonly number[]): Promise<void> {
      const events = await take(cut(wire, ...places));
      const whole = events.filter(isGood).map(({ message }) => message);
      const expected = [...before, ...after].map((text) => text.slice(4));
      const missing = expected.filter((text) => !whole.includes(text));
      // The count covers so many, or cuts into them.
      const most = Math.ceil(
        Math.max(0, Number(bad.split(' ')[0]) - Buffer.byteLength(bad)) / Buffer.byteLength(counted(good(200))),
      );
      const cost = expected.slice(before.length, before.length + Math.min(most, 3) + 1);
      expect(cost, `cut at ${places.join()}`).toEqual(expect.arrayContaining(missing));
      expect(events.length - whole.length, `cut at ${places.join()}`).toBeLessThanOrEqual(3);
      expect(whole).toEqual(expected.filter((text) => whole.includes(text)));
    }

    test('in two reads', async () => {
      for (let at = 1; at < length; at += 1) await holds(at);
    });

    test('in three reads', async () => {
      const from = Buffer.from(before.map(counted).join('')).length - 3;
      for (let a = from; a < from + 50; a += 1) for (let b = a + 1; b < a + 30; b += 3) await holds(a, b);
    });

    test('in reads of one size', async () => {
      for (let size = 1; size < 60; size += 1)
        await holds(...Array.from({ length: Math.ceil(length / size) - 1 }, (_, n) => (n + 1) * size));
    });
  },
);

test('a message is given at once where nothing has come behind it, and a later misfit damages no other', async () => {
  expect(await seen('6 <13>é', 'é', ...goods(2).map(counted))).toEqual(['é', '[é]', 'good 0 é', 'good 1 é']);
  expect(await seen('8 <13>é', counted(good(0)), counted(good(1)))).toEqual(['[<13>é]', 'good 0 é', 'good 1 é']);
});

test('20,000 good messages behind a bad one all arrive while the connection stays open', async () => {
  const sent = goods(20_000);
  for (const bad of [miscounted('<13>é'), '60 <13>cut off', '5000 <13>cut off', '9999999999 <13>cut off']) {
    const wire = Buffer.from(`${bad}${sent.map(counted).join('')}`);
    const open = createRig();
    const events: string[] = [];
    const stream = open.open();
    for (let at = 0; at < wire.length;) {
      const length = wire.copy(open.input.bytes, 0, at, at + 1448);
      stream.take(length);
      at += length;
      while (stream.isWaiting) {
        events.push(...((await open.messages()) as string[]));
        stream.resume();
      }
    }
    events.push(...((await open.messages()) as string[]));
    expect(events.filter((message) => message.startsWith('good'))).toEqual(sent.map((text) => text.slice(4)));
    expect(events).toHaveLength(20_001);
  }
});

describe.each([
  ['one character, one digit', 'é took 7'],
  ['two characters, two digits', 'é é took 12'],
  ['two characters, three digits', 'é é took 123'],
  ['an emoji, four digits', '😀😀 port 5514'],
])('a count of characters before a text that ends in digits damages no other message: %s', (_name, text) => {
  const after = goods(60);
  const wire = `${counted('<13>first')}${miscounted(`<13>${text}`)}${after.map(counted).join('')}`;
  const expectIntact = (events: readonly Seen[], how = 'one read'): void => {
    expect(
      events.filter(({ parse_error }) => parse_error === undefined).map(({ message }) => message),
      how,
    ).toEqual(expect.arrayContaining(['first', ...after.map((each) => each.slice(4))]));
    // Not a digit is gone.
    const between = events.slice(1, -after.length).map(({ message }) => message.replace('<13>', ''));
    expect(between.join('')).toBe(text);
  };

  test('in one read', async () => expectIntact(await take([wire])));
  test('in two reads', async () => {
    for (let at = 1; at < 120; at += 1) expectIntact(await take(cut(wire, at)), `cut at ${at}`);
  });
});

test('behind a wrong count the messages of a slow sender whose texts end in digits come after three more, not a minute later', async () => {
  const open = createRig();
  const stream = open.open();
  const texts = Array.from({ length: 12 }, (_, n) => `<13>é é took ${n + 10}`);
  const wires = [miscounted('<13>é'), ...texts.map((text, n) => (n === 0 ? miscounted(text) : counted(text)))];
  for (const wire of wires) {
    const bytes = Buffer.from(wire);
    stream.take(bytes.copy(open.input.bytes));
    if (stream.isWaiting) stream.resume();
  }
  const messages = await open.messages();
  expect(messages).toEqual(expect.arrayContaining(texts.slice(1, -1).map((text) => text.slice(4))));
});

test('the end of a connection tells a wrong count from a message that was cut off', async () => {
  expect(await take(['999 <13>cut 20 <13>off'])).toMatchObject([
    { message: 'cut 20 <13>off', truncated: true, original_bytes: 999 },
  ]);
  expect(await seen(`999 <13>bad${counted(good(0))}${counted(good(1))}`)).toEqual([
    '[<13>bad]',
    'good 0 é',
    'good 1 é',
  ]);
});

test('what lies between two counts comes in events of at most max_event_bytes', async () => {
  const small = createRig(1024);
  const split = createRig(1024, 'none', 'split');
  const long = 'é'.repeat(3000);
  for (const on of [small, split]) {
    const events = await take([counted('<13>a'), long.slice(0, 2000), long.slice(2000), counted('<13>b')], on);
    expect(events[0]).toMatchObject({ message: 'a' });
    expect(events.at(-1)).toMatchObject({ message: 'b' });
    const between = events.slice(1, -1);
    expect(between.map(({ message }) => message).join('')).toBe(long);
    for (const { message, parse_error } of between) {
      expect(parse_error).toBe(WRONG);
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024);
    }
  }
});

test.each(['truncate', 'split', 'dead_letter'] as const)(
  'a count over max_event_bytes that is wrong swallows no other message (%s)',
  async (how) => {
    const on = createRig(1024, 'none', how);
    const events = await take([`5000 <13>bad${goods(60).map(counted).join('')}`], on);
    expect(events.map(({ message }) => message)).toEqual(['<13>bad', ...goods(60).map((text) => text.slice(4))]);
    // One that is right is cut as before.
    const right = await take([`5000 <13>${'x'.repeat(4996)}`, counted('<13>next')], on);
    expect(right.at(-1)).toMatchObject({ message: 'next' });
    expect(right[0]).toMatchObject(how === 'split' ? { part: 1 } : { truncated: true, original_bytes: 5000 });
  },
);

test('the kernel and JavaScript frame any bytes alike, whatever the reads', async () => {
  const piece = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '<13>',
        '<1>',
        '\n',
        '\0',
        '\r',
        '1',
        '5 ',
        '12 ',
        '09 <13>',
        '150 <13>',
        ' ',
        '9',
        '7 <13>one',
        '5 <13>a',
        '3 abc',
      ),
    },
    { weight: 2, arbitrary: fc.string({ maxLength: 30 }).map((text) => counted(`<13>${text}`)) },
    { weight: 1, arbitrary: fc.string({ maxLength: 30 }).map((text) => miscounted(`<13>${text}é`)) },
    { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
  );
  const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 });
  const agrees = fc.asyncProperty(fc.array(piece, { maxLength: 30 }), sizes, async (pieces, sizes) => {
    const wire = Buffer.from(pieces.join(''));
    const reads: Buffer[] = [];
    for (let at = 0, n = 0; at < wire.length; n += 1) reads.push(wire.subarray(at, (at += sizes[n % sizes.length]!)));
    expect(await rig.stream(reads)).toEqual(eventsOfReads(reads));
    expect(await rig.stream([wire])).toEqual(eventsOfReads([wire]));
  });
  await fc.assert(agrees, { numRuns: 3000 });
});

test.each([
  ['wrong counts', miscounted('<13>é')],
  ['counts that end later and later', '90000 <13>x'],
  ['numbers and PRIs', '9 <1>'],
  ['numbers that run into each other', '1234567890 <1>'],
  ['nothing but PRIs', '<1>'],
  ['nothing but trailers', '7 <13>abc\n\n\n\n\n\n\n\n\n\n'],
])('the time for a stream of %s grows with its length, not faster', (_name, unit) => {
  const perByte = (bytes: number): number => {
    const wire = Buffer.from(`5 <13>a${unit.repeat(bytes / unit.length)}`);
    let best = Infinity;
    for (let round = 0; round < 3; round += 1) {
      const framer = new Framer(1 << 20);
      const begin = process.cpuUsage();
      for (let at = 0; at < wire.length; at += 1448) {
        framer.held.push(wire.subarray(at, at + 1448));
        while (framer.next() !== undefined);
      }
      const { user, system } = process.cpuUsage(begin);
      best = Math.min(best, (user + system) / wire.length);
    }
    return best;
  };
  perByte(1 << 17);
  expect(perByte(1 << 21) / perByte(1 << 18)).toBeLessThan(3);
});
