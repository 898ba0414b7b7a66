/** `buffer.sync: always`: what came by syslog survives a kill before its batch was due; with `batch` it does not. */
import { createSocket } from 'node:dgram';
import { expect } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { valueOf } from '../support/prometheus-text.ts';
import {
  addressOf,
  messagesOf,
  metricsOf,
  QUICK,
  range,
  spooledEvents,
  startShipping,
  test,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const MESSAGES = 500;

test.for([
  ['always', MESSAGES],
  ['batch', 0],
] as const)(
  'a killed agent with sync: %s has %i of the events that it had accepted',
  async ([sync, kept], { site }) => {
    const port = await freePort();
    const { service } = site;
    service.respond = () => ({ status: 503, body: '{}' });
    const options = {
      sources: { net: `{type: syslog, listen: ["udp://127.0.0.1:${port}"]}` },
      sink: `${QUICK}, batch: {max_age: 1h}, buffer: {sync: ${sync}}`,
    };
    const first = startShipping(site, options);
    const address = await addressOf(first);
    const socket = createSocket('udp4');
    for (let n = 0; n < MESSAGES; n += 1)
      await new Promise((resolve) => socket.send(`<13>1 - h a - - - message ${n}`, port, '127.0.0.1', resolve));
    socket.close();
    await until(
      'all are accepted, and those on disk that are to be',
      async () => {
        const metrics = await metricsOf(address);
        const accepted = valueOf(metrics, 'tailrace_events_total', { source: 'net', outcome: 'accepted' });
        return accepted === MESSAGES && spooledEvents(site) === kept;
      },
      { everyMs: 50 },
    );
    await first.end('SIGKILL');

    service.respond = () => undefined;
    const second = startShipping(site, options);
    await addressOf(second);
    if (kept > 0) await until('what was kept is delivered', () => service.stored.length === kept, { everyMs: 50 });
    expect(await second.end()).toBe(0);
    expect(messagesOf(site).toSorted()).toEqual(
      range(kept)
        .map((n) => `message ${n}`)
        .toSorted(),
    );
  },
);
