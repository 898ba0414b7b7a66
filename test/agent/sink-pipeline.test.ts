/** How a sink's parts keep a batch safe together: the database and the disk buffer. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AddressEncodings } from '../../src/core/requests.ts';
import { createSinkPipeline, drainSink } from '../../src/agent/build/sink-pipeline.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { Spool } from '../../src/state/spool/spool.ts';
import { openState } from '../../src/state/database/store.ts';
import { Histograms } from '../../src/telemetry/delivery-stats.ts';
import { batch, span } from '../state/batches.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { sinkConfig } from '../support/sink-config.ts';
import { fillDisk, mountTmpfs } from '../support/tmpfs.ts';
import { until } from '../support/until.ts';

/** The room of a sink that takes everything, and in its disk buffer a batch of a file that was deleted; the disk is full. */
async function pipelineOnFullDisk() {
  const folder = mountTmpfs(1024);
  const log = new MemoryLog();
  const state = openState({ folder, sinksOf: () => ['store'], log });
  const stream = state.streams.mint('app', '/log/gone').id;
  const stored = batch(state.ledger.nextId(), [span(stream, 0, 2)]);
  state.commit([stored]);
  const body = Buffer.from('{"n":1}\n{"n":2}\n');
  const name = await new Spool(join(folder, 'spool', 'store'), log).write(
    { ...stored, sink: stored.owner, bytes: body.length, encoding: 'identity' },
    body,
  );
  const file = join(folder, 'spool', 'store', name);
  const accounting = new Accounting('app');
  const sent: string[] = [];
  const pipeline = createSinkPipeline({
    folder,
    encodings: new AddressEncodings(),
    config: sinkConfig('http://127.0.0.1:9'),
    sink: {
      id: 'store',
      send(request) {
        sent.push(request.key);
        return Promise.resolve({ outcome: { kind: 'delivered', stored: 2 }, status: 200, elapsedMs: 1 });
      },
      close: () => Promise.resolve(),
    },
    kernel: createKernel(12 * 1024 * 1024),
    state,
    clock: systemClock,
    log,
    histograms: { requestSeconds: new Histograms([]), batchEvents: new Histograms([]), batchBytes: new Histograms([]) },
    accounts: { accountingOf: () => accounting },
    letters: { keep: () => Promise.reject(new Error('nothing is refused here')) },
  });
  await pipeline.buffer.recover();
  return { pipeline, state, stored, sent, accounting, file, free: fillDisk(folder) };
}

// Symptom: what a deleted file held was delivered on a full disk, and counted as lost after the restart. Cause: its file in the disk
// buffer went although that it was delivered could not be saved. Fix: the file goes once that is on disk.
test('spool file of a deleted file stays until the disk takes that its batch is delivered', async () => {
  const { pipeline, state, stored, sent, accounting, file, free } = await pipelineOnFullDisk();
  pipeline.buffer.sealRecovered();
  await drainSink(pipeline, new AbortController().signal, Infinity);
  expect([sent, accounting.settled.delivered]).toEqual([[stored.key], 2]);
  expect([existsSync(file), state.refused.failedSaves]).toEqual([true, 1]);

  free();
  expect(state.save()).toBe(true);
  await until('the file is gone, once the save is on the disk', () => !existsSync(file));
  expect(state.ledger.unsettled()).toEqual([]);
  state.close();
});

test('spool file of a batch that is dropped goes although the disk does not take that, and makes room for it', async () => {
  const { pipeline, state, accounting, file, free } = await pipelineOnFullDisk();
  pipeline.delivery.drop(pipeline.queue.in('recovered')[0]!);
  expect([accounting.settled.dropped, state.refused.failedSaves]).toEqual([2, 1]);
  await pipeline.buffer.finish();
  await pipeline.buffer.store.removed();
  expect(existsSync(file)).toBe(false);
  free();
  state.close();
});
