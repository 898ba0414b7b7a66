/** When an exchange lets go of its request: its body's memory is filled anew as soon as it has ended. */
import { expect, test as base } from 'vitest';
import { MAX_ANSWER_BYTES } from '../../../src/sinks/ingest/limits.ts';
import { exchange } from '../../../src/sinks/ingest/transport.ts';
import type { DispatchController, DispatchHandler, Dispatcher } from '../../../src/sinks/ingest/http/dispatcher.ts';

const REQUEST = { origin: 'http://service', path: '/', headers: {}, body: Buffer.from('x') };
const LONG_MS = 3_600_000;

/** Keeps the handler, and counts how often the request was ended from this side. */
function makeDispatcher(): Dispatcher & { handler: DispatchHandler; aborts: string[]; start(): DispatchController } {
  const aborts: string[] = [];
  const controller = { abort: (reason: Error) => void aborts.push(reason.message) };
  const made = {
    handler: undefined as never as DispatchHandler,
    aborts,
    dispatch: (_request: unknown, handler: DispatchHandler) => (made.handler = handler),
    start: () => {
      made.handler.onRequestStart(controller);
      return controller;
    },
    close: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  return made;
}

const test = base.extend('dispatcher', () => makeDispatcher());

test('an exchange that ends by its timeout ends its request', async ({ dispatcher }) => {
  const ended = exchange(dispatcher, REQUEST, 1, new AbortController().signal);
  dispatcher.start();
  expect(await ended).toMatchObject({ answer: { code: 'E_TIMEOUT' }, started: true });
  expect(dispatcher.aborts).toEqual(['timeout']);
});

test('an exchange that is stopped ends its request', async ({ dispatcher }) => {
  const stop = new AbortController();
  const ended = exchange(dispatcher, REQUEST, LONG_MS, stop.signal);
  dispatcher.start();
  stop.abort(new Error('stop'));
  await expect(ended).rejects.toThrow('stop');
  expect(dispatcher.aborts).toEqual(['stop']);
});

test('an exchange that ended while its request waited ends it as soon as a connection takes it', async ({
  dispatcher,
}) => {
  const ended = exchange(dispatcher, REQUEST, 1, new AbortController().signal);
  expect(await ended).toMatchObject({ answer: { code: 'E_TIMEOUT' }, started: false });
  dispatcher.start();
  expect(dispatcher.aborts).toEqual(['timeout']);
});

test('an exchange reads no more of an answer than its limit, and gives the connection up', async ({ dispatcher }) => {
  const ended = exchange(dispatcher, REQUEST, LONG_MS, new AbortController().signal);
  const controller = dispatcher.start();
  dispatcher.handler.onResponseStart(controller, 200, {});
  dispatcher.handler.onResponseData(controller, Buffer.alloc(MAX_ANSWER_BYTES, 'a'));
  expect(dispatcher.aborts).toEqual([]);
  dispatcher.handler.onResponseData(controller, Buffer.from('b'));
  expect(dispatcher.aborts).toEqual(['the answer is too long']);
  expect(await ended).toMatchObject({ answer: { status: 200, body: expect.stringMatching(/ab$/) } });
});

test('an exchange that has ended is not stopped any more', async ({ dispatcher }) => {
  const stop = new AbortController();
  const ended = exchange(dispatcher, REQUEST, LONG_MS, stop.signal);
  const controller = dispatcher.start();
  dispatcher.handler.onResponseStart(controller, 204, {});
  dispatcher.handler.onResponseEnd();
  expect(await ended).toMatchObject({ answer: { status: 204 } });
  // The connection carries another request by now.
  stop.abort();
  expect(dispatcher.aborts).toEqual([]);
});
