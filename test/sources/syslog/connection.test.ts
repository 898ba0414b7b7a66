import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { serveConnection } from '../../../src/sources/syslog/connection.ts';
import { Framer } from '../../../src/sources/syslog/framing.ts';

test('a connection that is closed while a frame waits still takes all that was received', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  const taken: string[] = [];
  const gate = Promise.withResolvers<void>();
  const connection = serveConnection(
    socket,
    new Framer(1000, { left: 1000 }),
    async (frame) => {
      await gate.promise;
      taken.push(frame.bytes.toString());
    },
    () => {},
  );
  client.write('<13>first\n');
  await expect.poll(() => socket.bytesRead, { timeout: 20_000 }).toBe(10);
  client.write('<13>second\n<13>third');
  await expect.poll(() => socket.readableLength, { timeout: 20_000 }).toBe(20);
  connection.close();
  gate.resolve();
  await connection.done;
  expect(taken).toEqual(['<13>first', '<13>second', '<13>third']);
  client.destroy();
  server.close();
});
