/** How the sink comes by its connections. */
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Parcel, Sink } from '../../../src/core/sink.ts';
import { createIngestSink } from '../../../src/sinks/ingest/sink.ts';
import { sinkConfig } from '../../support/sink-config.ts';
import { listen } from '../../support/free-port.ts';

const parcel: Parcel = { key: 'key-1', dataset: 'logs', events: 1, body: Buffer.from('{"n":1}\n'), encoding: 'identity' };
const never = new AbortController().signal;

function makeSink(url: string): Sink {
  const sink = createIngestSink(sinkConfig(url), systemClock);
  onTestFinished(() => sink.close());
  return sink;
}

test('ingest sink says when no connection took its request, and when one did that broke', async () => {
  const refused = await makeSink('http://127.0.0.1:1').send(parcel, never);
  expect(refused).toMatchObject({ outcome: { kind: 'retry', reason: 'network' }, status: 0, unsent: 'unconnected' });
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.destroy()));
  const broken = await makeSink(`http://127.0.0.1:${await listen(server)}`).send(parcel, never);
  expect(broken).toMatchObject({ outcome: { kind: 'retry', reason: 'network' }, status: 0 });
  expect(broken.unsent).toBeUndefined();
});
