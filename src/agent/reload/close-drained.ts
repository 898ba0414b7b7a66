/** Closes sinks that a reload removed, once they hold no events. */
import type { Config } from '../../config/model.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Components } from '../build/components.ts';
import type { SinkPipeline } from '../build/sink-pipeline.ts';

export function closeDrained(components: Components, { sinks }: Config, log: Log): void {
  for (const [id, pipeline] of components.sinks) {
    if (sinks.some((sink) => sink.id === id) || pipeline.queue.all.length + pipeline.batcher.open.list().length > 0)
      continue;
    components.sinks.delete(id);
    closeSink(pipeline).then(
      () => log.info({ sink: id }, 'a sink that is not configured any more has delivered everything and is closed'),
      (error: unknown) => log.error({ sink: id, reason: messageOf(error) }, 'a sink did not close cleanly'),
    );
  }
  if (components.removed.size === 0) return;
  const held = new Set([...components.batches()].flatMap(({ spans }) => spans.map(({ accounting }) => accounting)));
  for (const [id, { accounting, rescue, replayed }] of components.removed)
    if (![accounting, rescue.accounting, replayed].some((each) => held.has(each))) components.removed.delete(id);
}

async function closeSink({ buffer, delivery, sink, release }: SinkPipeline): Promise<void> {
  await buffer.stop();
  await delivery.stop();
  await buffer.finish();
  await buffer.store.removed();
  await sink.close();
  release();
}
