/**
 * The stdin source: lines that other programs pipe in. One stream a process run, because what was read cannot be read
 * again. Promises: every line that was read is handed over, the unfinished last one and those cut at `max_event_bytes`
 * included; nothing is read while the lane waits; `run` ends with the input, once all of it was accepted.
 */
import type { Readable } from 'node:stream';
import type { StdinSourceConfig } from '../config/model.ts';
import type { EventShape } from '../core/block.ts';
import { codeOf, messageOf, StoppedError } from '../core/errors.ts';
import { newStats } from '../core/source.ts';
import type { Source, SourceContext } from '../core/source.ts';
import { type WindowBlock, windowBytes } from './byte-window.ts';
import { LineWindow } from './line-window.ts';
import { countLongLine } from './long-line.ts';
import { fromReadable, openStdin } from './stdin-input.ts';
import type { ByteInput } from './stdin-input.ts';

/** Makes the source; `input` stands in for standard input in tests. Reserves `windowBytes(maxEventBytes)`. */
export function createStdinSource(config: StdinSourceConfig, context: SourceContext, input?: Readable): Source {
  const { lane, log, clock } = context;
  const stats = newStats();
  const window = new LineWindow(context.reserve(windowBytes(config.maxEventBytes)), config);
  const shape: EventShape = { format: config.format, wrapFields: { host: context.hostname }, fields: config.fields };
  let stream = '';
  let bytes: ByteInput | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;

  async function accept(block: WindowBlock): Promise<void> {
    countLongLine(stats, block);
    try {
      await lane.accept({ ...block, stream, shape, readAtMs: clock.now() });
    } catch (error) {
      const leftBytes = error instanceof StoppedError ? error.leftBytes : block.end - block.start;
      stats.lostBytes += (block.single?.length ?? leftBytes) + window.pendingBytes;
      throw error;
    }
  }

  async function readAll(from: ByteInput): Promise<void> {
    for (;;) {
      const count = await from.read(window.free()).catch((error: unknown) => {
        log.error({ source: config.id, code: codeOf(error) }, `reading standard input failed, taking it for its end: ${messageOf(error)}`);
        return 0;
      });
      if (count === 0) break;
      window.commit(count);
      stats.readBytes += count;
      for (let block = window.next(); block !== undefined; block = window.next()) await accept(block);
    }
    for (let block = window.flush(); block !== undefined; block = window.flush()) await accept(block);
  }

  async function run(): Promise<void> {
    if (bytes === undefined) throw new Error('run comes after open');
    try {
      await readAll(bytes);
    } catch (error) {
      if (codeOf(error) !== 'E_STOPPED') throw error;
      log.error({ source: config.id, lostBytes: stats.lostBytes }, 'stopped before all that was read from standard input was accepted');
    } finally {
      bytes.close();
    }
  }

  return {
    id: config.id,
    kind: 'stdin',
    stats,
    async open() {
      stream = context.streams.mint(config.id, '').id;
      bytes = input === undefined ? openStdin() : fromReadable(input);
    },
    run() {
      running ??= isStopped ? Promise.resolve() : run();
      return running;
    },
    async stop() {
      isStopped = true;
      bytes?.close();
      await running;
    },
  };
}
