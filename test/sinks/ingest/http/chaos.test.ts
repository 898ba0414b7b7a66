/**
 * Thousands of requests to servers that do everything wrong, from slots that are filled with other bytes as soon as their request has
 * ended, as the agent's are: each request ends once, every answer is its own, and the request of a good answer came byte for byte.
 */
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { dice } from '../../../support/random.ts';
import { until } from '../../../support/until.ts';
import { connect } from './peer.ts';
import { listen } from '../../../support/free-port.ts';

interface Arrived {
  readonly id: string;
  readonly isWhole: boolean;
}

/** What one connection does with its requests; `roll` decides. Bodies consist of one byte, which the id says. */
function serve(socket: Socket, roll: (below: number) => number, arrived: Arrived[]): void {
  let bytes = Buffer.alloc(0);
  /** Bytes of a body that was answered already. */
  let unwanted = 0;
  const fate = roll(12);
  socket.on('error', () => {});
  if (fate === 0) return void (roll(2) ? socket.resetAndDestroy() : socket.end().resume());
  const take = async (part: Buffer): Promise<void> => {
    bytes = Buffer.concat([bytes, part.subarray(unwanted)]);
    unwanted -= Math.min(unwanted, part.length);
    for (;;) {
      const headEnd = bytes.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = bytes.subarray(0, headEnd).toString('latin1');
      const id = /\r\nx-id: (\S+)/.exec(head)![1]!;
      const length = Number(/\r\ncontent-length: (\d+)/.exec(head)![1]);
      const end = headEnd + 4 + length;
      if (bytes.length < end) {
        if (fate === 1 && roll(3) === 0) return void socket.resetAndDestroy();
        if (fate === 2) {
          unwanted = end - bytes.length;
          bytes = Buffer.alloc(0);
          socket.pause();
          socket.write(`HTTP/1.1 413 Too Large\r\nContent-Length: ${id.length}\r\n\r\n${id}`);
          for (let turns = roll(4); turns > 0; turns -= 1) await turn();
          socket.resume();
        }
        if (fate === 3) {
          // A slow reader.
          socket.pause();
          await turn();
          socket.resume();
        }
        return;
      }
      const body = bytes.subarray(headEnd + 4, end);
      arrived.push({ id, isWhole: body.every((byte) => byte === Number(id) % 251) });
      bytes = bytes.subarray(end);
      await answer(socket, id, roll);
      if (socket.destroyed) return;
    }
  };
  socket.on('data', (part: Buffer) => void take(part));
}

async function answer(socket: Socket, id: string, roll: (below: number) => number): Promise<void> {
  const plain = `HTTP/1.1 200 OK\r\nContent-Length: ${id.length}\r\n\r\n${id}`;
  const chunked = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${id.replaceAll(/./g, '1;x="y"\r\n$&\r\n')}0\r\nx-sum: 1\r\n\r\n`;
  const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged';
  const drip = async (text: string): Promise<void> => {
    for (const byte of text) {
      socket.write(byte);
      await turn();
    }
  };
  for (let turns = roll(3); turns > 0; turns -= 1) await turn();
  switch (roll(16)) {
    case 0:
      return void socket.resetAndDestroy();
    case 1:
      return void socket.end(plain.slice(0, roll(plain.length)));
    case 2:
      return void socket.end(plain.replace('\r\n', '\r\nConnection: close\r\n'));
    case 3:
      return void socket.end(`HTTP/1.1 200 OK\r\n\r\n${id}`);
    case 4:
      return void socket.write(plain + forged);
    case 5:
      return void socket.write(`${plain}garbage`);
    case 6:
      return void socket.write('garbage\r\n');
    case 7:
      return void socket.end(plain);
    case 8:
      socket.write(plain);
      await turn();
      return void socket.resetAndDestroy();
    case 9:
      return drip(plain);
    case 10:
      return drip(chunked);
    case 11:
      return void socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(roll(5)) + plain);
    case 12:
      return void socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000));
    case 13:
      return void socket.write(chunked);
    default:
      return void socket.write(plain);
  }
}

test.each([1, 2])('every request ends once, and only with its own answer, whatever servers do (%i)', async (seed) => {
  const roll = dice(seed);
  const arrived: Arrived[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    serve(socket, roll, arrived);
  });
  const connections = connect(`http://127.0.0.1:${await listen(server)}`, { connections: 4 });
  const ends = new Map<string, string[]>();
  const counts = { answered: 0, refused: 0, failed: 0 };

  const post = (id: string, slot: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const length = roll(4) === 0 ? roll(slot.length) : roll(2000);
      const body = slot.fill(Number(id) % 251, 0, length).subarray(0, length);
      let text = '';
      const end = (how: string): void => {
        ends.get(id)!.push(how);
        // At once, as the next batch's events are.
        slot.fill(255);
        resolve();
      };
      ends.set(id, []);
      connections.dispatch(
        { origin: '', method: 'POST', path: '/', headers: { 'x-id': id }, body },
        {
          onRequestStart: (controller) => {
            if (roll(12) === 0) setImmediate(() => controller.abort(new Error('given up')));
            if (roll(200) === 0) controller.abort(new Error('given up at once'));
          },
          onResponseStart: (controller, status) => {
            text = `${status} `;
            if (roll(50) === 0) controller.abort(new Error('given up at the head'));
          },
          onResponseData: (_controller, part) => (text += Buffer.from(part).toString()),
          onResponseEnd: () => {
            counts[text.startsWith('200') ? 'answered' : 'refused'] += 1;
            end(text);
          },
          onResponseError: (_controller, error) => {
            counts.failed += 1;
            end(error.message);
          },
        },
      );
    });
  let next = 0;
  // More than there are connections, so that some always wait.
  const work = async (): Promise<void> => {
    const slot = Buffer.alloc(1_000_000);
    while (next < 600) await post(String((next += 1)), slot);
  };
  await Promise.all(Array.from({ length: 7 }, work));
  await connections.close();
  await until('all sockets are closed', () => sockets.size === 0);

  expect([...ends].filter(([, how]) => how.length !== 1)).toEqual([]);
  const whole = new Set(arrived.filter(({ isWhole }) => isWhole).map(({ id }) => id));
  expect(arrived.filter(({ isWhole }) => !isWhole)).toEqual([]);
  for (const [id, [how]] of ends) {
    if (how!.startsWith('200 ')) expect([how, whole.has(id)]).toEqual([`200 ${id}`, true]);
    if (how!.startsWith('413 ')) expect(how).toBe(`413 ${id}`);
  }
  // Each of the three occurs.
  expect(Math.min(counts.answered, counts.refused, counts.failed)).toBeGreaterThan(0);
});
