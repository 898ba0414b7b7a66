/**
 * Times of senders that cannot be: year 1 of Go's zero time, 2300, 9999, or days ahead. The service refused such events, and they filled the dead
 * letters. Each gets the time of its receipt, and the text in `time_error`, from the kernel's path and JavaScript's alike.
 */
import { expect, test } from 'vitest';
import { createTestContext } from '../source-context.ts';
import { createRig, eventsOf, receiveAt } from './rig.ts';
import { RECEIVED_AT } from './receipt.ts';
import { events, start } from './started.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';

const IMPOSSIBLE = [
  '0001-01-01T00:00:00Z',
  '1899-12-31T23:59:59Z',
  '2099-06-01T00:00:00Z',
  '2300-01-01T00:00:00+02:00',
  '9999-12-31T23:59:59.999999Z',
];

test('each message with a time that cannot be has the time of receipt, is counted and no dead letter, over any socket', async () => {
  const now = Date.parse(RECEIVED_AT);
  const context = createTestContext({ clock: { ...systemClock, now: () => now } });
  const { source, tcpPort, udpPort } = await start({}, context);
  const texts = IMPOSSIBLE.flatMap((time) => [`<13>1 ${time} h a p m - x`, `<13>${time} h a: x`]);
  const stream = connect(tcpPort, '127.0.0.1');
  await once(stream, 'connect');
  stream.end(`${texts.join('\n')}\n`);
  const datagrams = createSocket('udp4');
  for (const text of texts) await new Promise((resolve) => datagrams.send(text, udpPort, '127.0.0.1', resolve));
  datagrams.close();
  await context.lane.until((lane) => lane.count === 2 * texts.length);
  const all = events(context);
  for (const event of all) expect(event).toMatchObject({ _time: RECEIVED_AT, host: 'h', appname: 'a', message: 'x' });
  expect(all.filter((event) => 'parse_error' in event)).toEqual([]);
  for (const time of IMPOSSIBLE) expect(all.filter((event) => event['time_error'] === time)).toHaveLength(4);
  expect(context.lane.blocks.filter(({ single }) => single !== undefined)).toEqual([]);
  expect(source.stats.timeErrors).toBe(2 * texts.length);
});

test('the bounds hold to the second on both paths, whatever the zone, and move with the receipt', async () => {
  const rig = createRig();
  const at = (time: string): Buffer[] => [Buffer.from(`<13>1 ${time} h a p m - x`), Buffer.from(`<13>${time} h a: x`)];
  const ahead = [
    '2026-07-11T08:00:00Z',
    '2026-07-11T08:00:00.999Z',
    '2026-07-11T07:59:00-00:01',
    '2026-07-11T22:00:00+14:00',
  ];
  const tooFar = ['2026-07-11T08:00:01Z', '2026-07-11T08:00:00-00:01', '2026-07-11T22:00:01+14:00'];
  const seen = async (times: readonly string[]): Promise<boolean[]> => {
    const messages = times.flatMap(at);
    const taken = await rig.take(messages, 'framed');
    expect(taken).toEqual(eventsOf(messages, 'framed'));
    return taken.map((event) => 'time_error' in (JSON.parse(event) as object));
  };
  try {
    expect(new Set(await seen(ahead))).toEqual(new Set([false]));
    expect(new Set(await seen(tooFar))).toEqual(new Set([true]));
    receiveAt('2026-07-10T08:00:01Z');
    expect(new Set(await seen([...ahead, ...tooFar.slice(0, 1)]))).toEqual(new Set([false]));
    receiveAt('2026-07-10T07:59:59.999Z');
    expect(new Set(await seen(ahead))).toEqual(new Set([true]));
  } finally {
    receiveAt(RECEIVED_AT);
  }
});

test('the parts of a message count its time once', async () => {
  const context = createTestContext();
  const { source, tcpPort } = await start({ onOversize: 'split', maxEventBytes: 1024 }, context);
  const stream = connect(tcpPort, '127.0.0.1');
  stream.end(`<13>1 0001-01-01T00:00:00Z h a p m - ${'x'.repeat(3000)}\n`);
  await context.lane.until((lane) => lane.count === 3);
  expect(events(context).map((event) => event['time_error'])).toEqual(
    Array.from({ length: 3 }, () => '0001-01-01T00:00:00Z'),
  );
  expect(source.stats.timeErrors).toBe(1);
});
