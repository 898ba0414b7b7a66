/** What holds for every sink, wherever it sends to: it sends once, waits for whoever takes it, and resolves whatever happens. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Parcel, Sink } from '../../src/core/sink.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createConsoleSink } from '../../src/sinks/console/sink.ts';
import { createIngestSink } from '../../src/sinks/ingest/sink.ts';
import { FakeIngest } from '../support/fake-ingest.ts';
import { sinkConfig } from '../support/sink-config.ts';
import { makeTree } from '../support/temp-tree.ts';
import { settleTurns, until } from '../support/until.ts';

/** A sink, and who takes what it sends: nobody, until `take`. */
interface Subject {
  readonly sink: Sink;
  readonly take: () => void;
  /** What came so far. */
  readonly taken: () => string;
  /** Goes away for good. */
  readonly leave: () => Promise<void>;
}

async function ingestSubject(): Promise<Subject> {
  const service = await FakeIngest.start();
  const open: (() => void)[] = [];
  service.respond = (request, response) => void open.push(() => service.storeAll(request, response));
  return {
    sink: createIngestSink(sinkConfig(service.url), systemClock),
    take() {
      service.respond = (request, response) => service.storeAll(request, response);
      for (const answer of open.splice(0)) answer();
    },
    taken: () => service.lines.map((line) => `${line}\n`).join(''),
    leave: () => service.stop(),
  };
}

async function consoleSubject(): Promise<Subject> {
  const folder = makeTree({ taken: '' });
  const [pipe, file] = [join(folder, 'pipe'), join(folder, 'taken')];
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  let isThere = true;
  const leave = (): void => {
    if (isThere) closeSync(reader);
    isThere = false;
  };
  onTestFinished(() => {
    leave();
    closeSync(fd);
  });
  return {
    sink: createConsoleSink({ id: 'screen', style: 'json' }, systemClock, fd),
    take() {
      const cat = spawn('sh', ['-c', 'exec cat "$0" > "$1"', pipe, file], { stdio: 'ignore' });
      onTestFinished(() => void cat.kill('SIGKILL'));
    },
    taken: () => readFileSync(file, 'utf8'),
    leave: () => Promise.resolve(leave()),
  };
}

/** More than the buffers of a pipe or a socket take. */
const body = Array.from({ length: 20_000 }, (_, n) => `{"n":${n},"pad":"${'x'.repeat(80)}"}\n`).join('');
const parcel: Parcel = { key: 'key', dataset: 'logs', events: 20_000, body: Buffer.from(body), encoding: 'identity' };
const never = new AbortController().signal;

describe.each([
  ['ingest', ingestSubject],
  ['console', consoleSubject],
] as const)('%s', (_, make) => {
  async function start(): Promise<Subject> {
    const subject = await make();
    onTestFinished(() => subject.sink.close());
    return subject;
  }

  test('waits for whoever takes nothing, and has delivered once all is taken, whole and once', async () => {
    const { sink, take, taken } = await start();
    let isSent = false;
    const sent = sink.send(parcel, never).finally(() => (isSent = true));
    await settleTurns(200);
    expect(isSent).toBe(false);
    take();
    expect(await sent).toMatchObject({ outcome: { kind: 'delivered', stored: 20_000 }, status: 200 });
    await until('all of it is there', () => taken().length >= body.length);
    expect(taken()).toBe(body);
  });

  test('rejects when its signal aborts, and sends nothing under one that has', async () => {
    const first = await start();
    const stop = new AbortController();
    const sent = first.sink.send(parcel, stop.signal);
    await settleTurns(50);
    stop.abort(new Error('stopped'));
    await expect(sent).rejects.toThrow('stopped');
    const second = await start();
    second.take();
    await expect(second.sink.send(parcel, stop.signal)).rejects.toThrow('stopped');
    expect((await second.sink.send(parcel, never)).outcome.kind).toBe('delivered');
    await until('the other is there', () => second.taken().length >= body.length);
    expect(second.taken()).toBe(body);
  });

  test('resolves with what to do when nobody is there, and has sent nothing', async () => {
    const { sink, leave } = await start();
    await leave();
    const { outcome, status, unsent } = await sink.send(parcel, never);
    expect(['retry', 'pause']).toContain(outcome.kind);
    expect([status, unsent]).toEqual([0, 'unconnected']);
  });

  test('may be closed twice', async () => {
    const { sink } = await start();
    await sink.close();
    await sink.close();
  });
});
