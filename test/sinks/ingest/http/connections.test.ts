/** The connections of the sink over real sockets. TLS, proxies and what answers mean are tested with the sink. */
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../../../support/until.ts';
import { connect, OK, send, startPeer } from './peer.ts';
import { listen } from '../../../support/free-port.ts';

test('connections carry one request after another, and no more at once than they may be', async () => {
  const waiting: (() => void)[] = [];
  const peer = await startPeer((socket) => waiting.push(() => socket.write(OK)));
  const connections = connect(peer.origin);
  const all = [1, 2, 3, 4, 5].map((n) => send(connections, `body ${n}`));
  for (let answered = 0; answered < 5; answered += 1) {
    await until('the request', () => waiting.length > 0);
    waiting.shift()!();
  }
  expect(await Promise.all(all.map(({ end }) => end))).toEqual(Array(5).fill('200 {}'));
  expect(peer.sockets).toHaveLength(2);
  const requests = peer.received(0) + peer.received(1);
  for (const n of [1, 2, 3, 4, 5]) expect(requests.split(`body ${n}`)).toHaveLength(2);
});

test('a request is what HTTP/1.1 says', async () => {
  const peer = await startPeer((socket) => socket.write(OK));
  await send(connect(peer.origin), 'zwölf', { 'content-type': 'text/plain', authorization: 'Bearer t' }).end;
  const host = peer.origin.slice('http://'.length);
  expect(peer.received(0)).toBe(
    `POST /p HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\ncontent-type: text/plain\r\nauthorization: Bearer t\r\ncontent-length: 6\r\n\r\n${Buffer.from('zwölf').toString('latin1')}`,
  );
});

test('a body that is larger than the system takes at once arrives whole', async () => {
  let length = 0;
  const peer = await startPeer((socket, _index, request) => {
    length = request.length - request.indexOf('\r\n\r\n') - 4;
    socket.write(OK);
  });
  expect(await send(connect(peer.origin), Buffer.alloc(8_000_000, 'a')).end).toBe('200 {}');
  expect(length).toBe(8_000_000);
});

test('a header that would end early fails its request alone, and is not sent', async () => {
  const peer = await startPeer((socket) => socket.write(OK));
  const connections = connect(peer.origin, { connections: 1 });
  const forged = send(connections, 'x', { authorization: 'Bearer a\r\nx-admin: 1' });
  const after = send(connections, 'y');
  expect(await forged.end).toBe('the header authorization holds a character that no header can');
  expect(await after.end).toBe('200 {}');
  expect(peer.received(0)).not.toContain('x-admin');
});

test.each([
  ['the service says that it closes it', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}'],
  ['the service keeps it for a second only', 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\n{}'],
  ['something follows the answer', `${OK}HTTP/1.1 200 OK\r\n`],
  ['the service speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
])('a connection is not used again when %s', async (_why, answer) => {
  const peer = await startPeer((socket) => socket.write(answer));
  const connections = connect(peer.origin);
  expect(await send(connections).end).toBe('200 {}');
  expect(await send(connections).end).toBe('200 {}');
  expect(peer.sockets).toHaveLength(2);
});

test('a connection is kept for no longer than it may be, whatever the service says', async () => {
  const peer = await startPeer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=600\r\nContent-Length: 2\r\n\r\n{}'),
  );
  const connections = connect(peer.origin, { maxIdleMs: 0 });
  expect(await send(connections).end).toBe('200 {}');
  expect(await send(connections).end).toBe('200 {}');
  expect(peer.sockets).toHaveLength(2);
});

test('a connection that is idle for too long is closed, though no other request comes, and no timer is left at the end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const peer = await startPeer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\n{}'),
  );
  const connections = connect(peer.origin, { connectTimeoutMs: 3_600_000 });
  expect(await send(connections).end).toBe('200 {}');
  const gone = new Promise((resolve) => peer.sockets[0]!.once('close', resolve));
  vi.advanceTimersByTime(5000);
  await gone;
  await connections.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('destroying ends connections that are not there yet', async () => {
  const peer = await startPeer(() => {});
  const connections = connect(peer.origin.replace('http:', 'https:'), { connectTimeoutMs: 3_600_000 });
  const sent = send(connections);
  await until('the service sees it', () => peer.sockets.length === 1);
  await connections.destroy();
  expect(await sent.end).toBe('the connections are closed');
  await until('it is closed', () => peer.sockets[0]!.destroyed);
});

test.each([
  ['closed', (socket: Socket) => socket.end()],
  ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ['spoken on unasked', (socket: Socket) => socket.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n')],
])('an idle connection that is %s is not used again', async (_how, disturb) => {
  const peer = await startPeer((socket) => socket.write(OK));
  const connections = connect(peer.origin);
  await send(connections).end;
  const [first] = peer.sockets;
  const gone = new Promise((resolve) => first!.once('close', resolve));
  disturb(first!);
  await gone;
  // What came is read in the loop's next turn.
  await turn();
  await turn();
  expect(await send(connections).end).toBe('200 {}');
  expect(peer.sockets).toHaveLength(2);
});

// Symptom: of two requests one was never answered. Cause: bytes of a service on a connection that no request had used counted as an answer,
// so that the connection was free twice, and took both. Fix: it ends the connection.
test('a connection on which the service speaks before the first request is given up', async () => {
  const peer = await startPeer((socket) => socket.write(OK));
  const connections = connect(peer.origin);
  expect(await send(connections, 'x', { authorization: '\n' }).end).toContain('no header can');
  await until('the service has it', () => peer.sockets.length === 1);
  peer.sockets[0]!.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n');
  await until('it is given up', () => peer.sockets[0]!.readableEnded || peer.sockets[0]!.destroyed);
  expect(await Promise.all([send(connections).end, send(connections).end])).toEqual(['200 {}', '200 {}']);
  expect(peer.received(0)).toBe('');
});

test('an answer that comes before the body was taken counts, and ends the connection: the body is not read any more', async () => {
  const { promise: accepted, resolve: accept } = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.pause();
      socket.write('HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\n\r\n');
      accept(socket);
    });
  });
  const connections = connect(`http://127.0.0.1:${await listen(server)}`);
  expect(await send(connections, Buffer.alloc(50_000_000)).end).toBe('413 ');
  const socket = await accepted;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
});

test.each([
  ['closes it', (socket: Socket) => socket.end(), 'the service closed the connection before it answered'],
  ['resets it', (socket: Socket) => socket.resetAndDestroy(), 'read ECONNRESET'],
  [
    'says half of an answer',
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'),
    'the connection was closed in the middle of the response',
  ],
  [
    'speaks no HTTP',
    (socket: Socket) => socket.write('220 mail.example ESMTP\r\n'),
    'the response is not HTTP/1.1: it begins with "220 mail.example ESMTP"',
  ],
])('a request fails once when the service %s', async (_how, act, message) => {
  const peer = await startPeer((socket) => act(socket));
  const connections = connect(peer.origin);
  expect(await send(connections).end).toBe(message);
  expect(peer.sockets).toHaveLength(1);
});

test('a connection that cannot be made fails one request for each try', async () => {
  const connections = connect('http://127.0.0.1:1');
  const all = [1, 2, 3].map(() => send(connections));
  for (const { end } of all) expect(await end).toContain('ECONNREFUSED');
  expect(all.some(({ started }) => started)).toBe(false);
});

test('a connection that comes about too late fails, and says for how long it was waited for', async () => {
  const peer = await startPeer(() => {});
  const silent = connect(peer.origin.replace('http:', 'https:'), { connectTimeoutMs: 50 });
  expect(await send(silent).end).toMatch(/^no connection to 127\.0\.0\.1:\d+ within 50 ms$/);
  await until('it is closed', () => peer.sockets.every(({ destroyed }) => destroyed));
});

test('a request that is given up ends its connection, and the next one gets another', async () => {
  let answers = false;
  const peer = await startPeer((socket) => answers && socket.write(OK));
  const connections = connect(peer.origin, { connections: 1 });
  const first = send(connections);
  const second = send(connections);
  await until('the request', () => peer.sockets.length === 1 && peer.received(0) !== '');
  answers = true;
  first.abort();
  expect(await first.end).toBe('given up');
  expect(await second.end).toBe('200 {}');
  expect(peer.sockets).toHaveLength(2);
});

test('closing waits for requests in flight and for waiting ones; destroying does not', async () => {
  const waiting: (() => void)[] = [];
  const peer = await startPeer((socket) => waiting.push(() => socket.write(OK)));
  const closing = connect(peer.origin, { connections: 1 });
  const all = [send(closing), send(closing)];
  const closed = closing.close();
  await expect(send(closing).end).rejects.toThrow('the connections are closed');
  for (let answered = 0; answered < 2; answered += 1) {
    await until('the request', () => waiting.length > 0);
    waiting.shift()!();
  }
  expect(await Promise.all(all.map(({ end }) => end))).toEqual(['200 {}', '200 {}']);
  await closed;

  const ending = connect(peer.origin, { connections: 1 });
  const ended = [send(ending), send(ending)];
  await until('the request', () => waiting.length > 0);
  await ending.destroy();
  expect(await Promise.all(ended.map(({ end }) => end))).toEqual(Array(2).fill('the connections are closed'));
  await connect(peer.origin).close();
});

test('bytes after an answer do not answer the request that waits', async () => {
  const peer = await startPeer((socket, index) =>
    socket.write(index === 0 ? `${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged` : OK),
  );
  const connections = connect(peer.origin, { connections: 1 });
  const all = [send(connections, 'first'), send(connections, 'second')];
  expect(await Promise.all(all.map(({ end }) => end))).toEqual(['200 {}', '200 {}']);
  expect(peer.sockets).toHaveLength(2);
});

test('a connection that grew old does not disturb those that are fresh', async () => {
  const sockets: Socket[] = [];
  const peer = await startPeer((socket) => sockets.push(socket));
  const connections = connect(peer.origin, { connections: 3 });
  const all = [1, 2, 3].map(() => send(connections));
  await until('the requests', () => sockets.length === 3);
  for (const [index, { end }] of all.entries()) {
    sockets.shift()!.write(index < 2 ? OK : 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\n{}');
    await Promise.race([end, ...all.slice(index + 1).map((later) => later.end)]);
  }
  const more = [1, 2].map(() => send(connections));
  await until('the requests', () => sockets.length === 2);
  for (const socket of sockets) socket.write(OK);
  expect(await Promise.all(more.map(({ end }) => end))).toEqual(['200 {}', '200 {}']);
  expect(peer.sockets).toHaveLength(3);
});
