import fc from 'fast-check';
import { expect } from 'vitest';
import type { Encoding } from '../../../src/core/sink.ts';
import { test } from '../../support/temp-tree.ts';
import { until } from '../../support/until.ts';
import { DiskRig } from '../disk-rig.ts';
import { delivered } from '../sink-rig.ts';
import { EncodingRig, type Refusal, type ServiceOptions } from './encoding-rig.ts';

const ALL: readonly Encoding[] = ['zstd', 'gzip', 'identity'];
const OPEN: readonly Refusal[] = [400, 406, 415, 422, 'bad', 'unstored', 'nothing'];
const SUBSETS: readonly (readonly Encoding[])[] = [
  ALL,
  ['zstd', 'gzip'],
  ['zstd', 'identity'],
  ['gzip', 'identity'],
  ['zstd'],
  ['gzip'],
  ['identity'],
];
const usual: ServiceOptions = { takes: ALL, unread: 400, bad: 400, keepsKeys: true, mostEvents: 1000 };

let made = 0;
/** Long enough to shrink. */
const events = (count: number, bad: readonly number[] = []): string[] =>
  Array.from({ length: count }, (_, n) =>
    JSON.stringify({ [bad.includes(n) ? 'bad' : 'good']: ++made, text: 'x'.repeat(60) }),
  );
const goodOf = (all: readonly string[]): string[] => all.filter((event) => event.includes('good')).toSorted();
const badOf = (all: readonly string[]): string[] => all.filter((event) => event.includes('bad')).toSorted();

/** Each good event is stored once, each bad one a dead letter once. */
function expectExact(rig: EncodingRig, all: readonly string[]): void {
  expect(rig.stored.toSorted()).toEqual(goodOf(all));
  expect(rig.buried.toSorted()).toEqual(badOf(all));
}

const cases = SUBSETS.flatMap((takes) => OPEN.map((unread) => ({ takes, unread, name: takes.join(' and ') })));

test.for(cases)(
  'auto finds $name where other encodings are answered with $unread, and stays with it',
  async ({ takes, unread }) => {
    const rig = new EncodingRig({ ...usual, takes, unread });
    const first = events(4);
    rig.take(first);
    await rig.finish();
    const before = rig.requests.length;
    expect(rig.encodings).toEqual(ALL.slice(0, ALL.indexOf(takes[0]!) + 1));
    const later = [events(3), events(5)];
    for (const each of later) rig.take(each);
    await rig.finish();
    expect(rig.encodings.slice(before)).toEqual([takes[0], takes[0]]);
    expectExact(rig, [...first, ...later.flat()]);
    expect(rig.log.find('warn', 'does not take this compression')).toHaveLength(ALL.indexOf(takes[0]!));
  },
);

const laterCases = ALL.flatMap((encoding) =>
  [400, 406, 409, 422, 'nothing', 'named'].map((bad) => ({ encoding, bad: bad as ServiceOptions['bad'] })),
);

test.for(laterCases)('auto takes $bad to a later $encoding body for what it says', async ({ encoding, bad }) => {
  const rig = new EncodingRig({ ...usual, takes: ALL.slice(ALL.indexOf(encoding)), bad });
  const first = events(2);
  rig.take(first);
  await rig.finish();
  const before = rig.requests.length;
  // All bad: a service that refuses only whole bodies says nothing of single events.
  const later = bad === 'nothing' ? events(2, [0, 1]) : events(4, [2]);
  rig.take(later);
  await rig.finish();
  expect(new Set(rig.encodings.slice(before))).toEqual(new Set([encoding]));
  expectExact(rig, [...first, ...later]);
});

test.for([...ALL])('auto goes on to the next encoding after a 415, also of a later %s body', async (encoding) => {
  const service = { ...usual, takes: [...ALL] as Encoding[], unread: 415 as const };
  const rig = new EncodingRig(service);
  service.takes.splice(0, ALL.indexOf(encoding));
  const [first, later, last] = [events(2), events(2), events(2)];
  rig.take(first);
  await rig.finish();
  if (encoding === 'identity') return expectExact(rig, first);
  service.takes.shift();
  rig.take(later);
  await rig.finish();
  expect(rig.encodings.at(-1)).toBe(service.takes[0]);
  rig.take(last);
  await rig.finish();
  expect(rig.encodings.slice(-1)).toEqual([service.takes[0]]);
  expectExact(rig, [...first, ...later, ...last]);
});

test.for([400, 422, 'nothing', 'named'] as const)(
  'a body refused by %s in every encoding is at fault itself, in gzip, and nothing is remembered',
  async (bad) => {
    const rig = new EncodingRig({ ...usual, bad });
    const first = events(1, [0]);
    rig.take(first);
    await rig.finish();
    expect(rig.encodings).toEqual(['zstd', 'gzip', 'identity']);
    expect([...rig.letters.values()].flat()).toMatchObject([{ reason: 'rejected', key: [...rig.letters.keys()][0] }]);
    const later = events(4, bad === 'nothing' ? [] : [3]);
    const before = rig.requests.length;
    rig.take(later);
    await rig.finish();
    expect(rig.encodings[before]).toBe('zstd');
    expectExact(rig, [...first, ...later]);
    expect(rig.log.find('warn', 'does not take this compression')).toHaveLength(0);
  },
);

test('halves of a body that was refused in every encoding go in gzip', async () => {
  const rig = new EncodingRig(usual);
  const first = events(4, [3]);
  rig.take(first);
  await rig.finish();
  expect(rig.encodings.slice(0, 3)).toEqual(['zstd', 'gzip', 'identity']);
  expect(new Set(rig.encodings.slice(3))).toEqual(new Set(['gzip']));
  expectExact(rig, first);
});

test('auto asks anew once a day', async () => {
  const service = { ...usual, takes: ['gzip'] as Encoding[] };
  const rig = new EncodingRig(service);
  const all = [events(2), events(2), events(2), events(2)];
  rig.take(all[0]!);
  await rig.finish();
  service.takes.unshift('zstd');
  rig.take(all[1]!);
  await rig.finish();
  expect(rig.encodings).toEqual(['zstd', 'gzip', 'gzip']);
  await rig.clock.advance(86_400_000);
  rig.take(all[2]!);
  await rig.finish();
  service.takes.shift();
  await rig.clock.advance(86_400_000);
  rig.take(all[3]!);
  await rig.finish();
  expect(rig.encodings.slice(3)).toEqual(['zstd', 'zstd', 'gzip']);
  expectExact(rig, all.flat());
});

test('all sinks at one address learn from the first that asks; one with a setting of its own keeps it', async () => {
  const rig = new EncodingRig({ ...usual, takes: ['gzip', 'identity'] }, ['auto', 'auto', 'gzip', 'none']);
  const all = [events(2), events(2), events(2), events(2)];
  for (const [sink, each] of all.entries()) {
    rig.take(each, sink);
    await rig.finish();
  }
  expect(rig.encodings).toEqual(['zstd', 'gzip', 'gzip', 'gzip', 'identity']);
  expectExact(rig, all.flat());
});

test.for(['zstd', 'gzip'] as const)('%s goes on to the next encoding after a 415 alone', async (setting) => {
  const allowed = ALL.slice(ALL.indexOf(setting));
  const rig = new EncodingRig({ ...usual, takes: ['identity'], unread: 415 }, [setting]);
  const all = [events(2), events(2)];
  rig.take(all[0]!);
  await rig.finish();
  rig.take(all[1]!);
  await rig.finish();
  expect(rig.encodings).toEqual([...allowed, 'identity']);
  expectExact(rig, all.flat());
  expect(rig.log.find('warn', 'does not take this compression')).toHaveLength(allowed.length - 1);
  const strict = new EncodingRig({ ...usual, takes: ['identity'], unread: 400 }, [setting]);
  const refused = events(1);
  strict.take(refused);
  await strict.finish();
  expect([strict.encodings, strict.buried]).toEqual([[setting], refused]);
});

test('a body that compression makes larger says nothing of the compressions', async () => {
  const rig = new EncodingRig(usual);
  rig.take(['{"good":"a"}']);
  await rig.finish();
  const later = events(3);
  rig.take(later);
  await rig.finish();
  expect(rig.encodings).toEqual(['identity', 'zstd']);
  const without = new EncodingRig({ ...usual, takes: ['gzip'] });
  without.take(['{"good":"b"}']);
  await without.finish();
  expect(without.encodings).toEqual(['identity', 'zstd', 'gzip']);
});

test('the disk buffer gives batches back that were compressed as the service does not take them', async ({
  folder,
}) => {
  const before = new DiskRig(folder, { compression: 'auto' });
  for (const name of ['a', 'b', 'c']) before.take(name, 3, { padding: 500 });
  await before.written();
  await before.stop();
  const rig = new DiskRig(folder, { compression: 'auto', concurrency: 2 });
  rig.respond = ({ sent }) =>
    sent.encoding === 'gzip'
      ? { outcome: delivered(sent.events) }
      : { outcome: { kind: 'bisect', detail: 'HTTP 400' }, status: 400 };
  await rig.buffer.recover();
  rig.take('d', 3, { padding: 500 });
  await until('all are stored', () => rig.accountingOf('net').settled.delivered === 12);
  expect([rig.buried, rig.spool.bytes]).toEqual([[], 0]);
  rig.checkBalance();
  expect(rig.requests.map(({ sent }) => sent.encoding).at(-1)).toBe('gzip');
});

const service = fc
  .record({
    takes: fc.constantFrom(...SUBSETS),
    unread: fc.constantFrom(...OPEN),
    bad: fc.constantFrom<ServiceOptions['bad'][]>(400, 406, 409, 422, 'named'),
    keepsKeys: fc.boolean(),
    mostEvents: fc.constantFrom(2, 5, 1000),
  })
  // Events that are all condemned by some answers, while others are bad ones, are held and asked about again.
  .filter(({ unread, bad }) => bad !== 'named' || (unread !== 'bad' && unread !== 'unstored'));
const batches = fc.array(
  fc.record({
    count: fc.integer({ min: 1, max: 8 }),
    bad: fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 2 }),
    sink: fc.nat(1),
  }),
  { minLength: 1, maxLength: 4 },
);

test('no answer in any encoding loses an event, stores it twice or makes a good one a dead letter, however many are in flight', async () => {
  await fc.assert(
    fc.asyncProperty(service, batches, fc.integer({ min: 1, max: 3 }), async (options, wanted, concurrency) => {
      const rig = new EncodingRig(options, ['auto', 'auto'], concurrency);
      const all = wanted.map(({ count, bad, sink }) => ({ sink, events: events(count, bad) }));
      for (const each of all) rig.take(each.events, each.sink);
      await rig.finish();
      expectExact(
        rig,
        all.flatMap((each) => each.events),
      );
      expect(rig.settled).toMatchObject({ delivered: rig.stored.length, dead_lettered: rig.buried.length, dropped: 0 });
    }),
    { numRuns: 100 },
  );
}, 120_000);

test('nor does a process that ends in the middle, where the service keeps keys', async () => {
  const ends = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      service,
      batches,
      ends,
      fc.integer({ min: 1, max: 3 }),
      async (options, wanted, after, concurrency) => {
        const rig = new EncodingRig({ ...options, keepsKeys: true }, ['auto', 'auto'], concurrency);
        const all = wanted.map(({ count, bad, sink }) => ({ sink, events: events(count, bad) }));
        for (const each of all) rig.take(each.events, each.sink);
        for (const requests of after) await rig.restartAfter(requests);
        await rig.finish();
        expectExact(
          rig,
          all.flatMap((each) => each.events),
        );
      },
    ),
    { numRuns: 100 },
  );
}, 120_000);
