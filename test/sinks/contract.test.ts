/**
 * What holds for every sink, wherever it sends to: it sends once, waits for whoever takes it, and resolves whatever happens. Each type of the
 * registry is tried; what an agent promises with it is tried in test/e2e/sinks.test.ts.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SinkRequest } from '../../src/core/sink.ts';
import { SINK_TYPES } from '../../src/sinks/registry.ts';
import { settleTurns, until } from '../support/until.ts';
import type { Alone, Subject } from './subjects/subject.ts';

/** More than the buffers of a pipe or a socket take. */
const body = Array.from({ length: 20_000 }, (_, n) => `{"n":${n},"pad":"${'x'.repeat(80)}"}\n`).join('');
const request: SinkRequest = {
  key: 'key',
  dataset: 'logs',
  events: 20_000,
  body: Buffer.from(body),
  encoding: 'identity',
};
const never = new AbortController().signal;

for (const type of Object.keys(SINK_TYPES)) {
  const { subject } = (await import(`./subjects/${type}.ts`)) as { readonly subject: Subject };
  describe(type, () => tryContract(subject));
}

function tryContract(subject: Subject): void {
  async function start(): Promise<Alone> {
    const alone = await subject.alone();
    onTestFinished(() => alone.sink.close());
    return alone;
  }

  test('waits for whoever takes nothing, and has delivered once all is taken, whole and once', async () => {
    const { sink, take, taken } = await start();
    let isSent = false;
    const sent = sink.send(request, never).finally(() => (isSent = true));
    if (take) {
      await settleTurns(200);
      expect(isSent).toBe(false);
      take();
    }
    expect(await sent).toMatchObject({ outcome: { kind: 'delivered', stored: 20_000 } });
    await until('all of it is there', () => taken().length >= body.length);
    expect(taken()).toBe(body);
  });

  test('rejects when its signal aborts, and sends nothing under one that has', async () => {
    const stop = new AbortController();
    const first = await start();
    if (first.take) {
      const sent = first.sink.send(request, stop.signal);
      await settleTurns(50);
      stop.abort(new Error('stopped'));
      await expect(sent).rejects.toThrow('stopped');
    } else stop.abort(new Error('stopped'));
    const second = await start();
    second.take?.();
    await expect(second.sink.send(request, stop.signal)).rejects.toThrow('stopped');
    expect((await second.sink.send(request, never)).outcome.kind).toBe('delivered');
    await until('the other is there', () => second.taken().length >= body.length);
    expect(second.taken()).toBe(body);
  });

  test('resolves with what to do when nobody is there, and has sent nothing', async () => {
    const { sink, leave } = await start();
    await leave();
    const { outcome, status, unsent } = await sink.send(request, never);
    expect(['retry', 'pause']).toContain(outcome.kind);
    expect([status ?? 0, unsent]).toEqual([0, 'unconnected']);
  });

  test('may be closed twice', async () => {
    const { sink } = await start();
    await sink.close();
    await sink.close();
  });
}
