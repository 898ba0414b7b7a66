/**
 * The stdin source: lines that other programs pipe in. One stream a process run, because a pipe cannot be reread. Promises: every line that
 * was read is handed over, the unfinished last one and those over `max_event_bytes` included; nothing is read while the lane waits; `run`
 * ends with the input, once all of it was accepted.
 */
import type { Readable } from 'node:stream';
import type { LineConfig } from '../common/line-fields.ts';
import type { EventShape } from '../../core/block.ts';
import { codeOf, messageOf, StoppedError } from '../../core/errors.ts';
import { countLost, newStats, type Source, type SourceContext } from '../../core/source.ts';
import type { FileIdentity } from '../../core/stream.ts';
import type { WindowBlock } from '../framing/byte-window.ts';
import { type LineShaping, plainLines, shapeOf } from '../framing/line-shaping.ts';
import { createLines } from '../framing/grouped/grouped-lines.ts';
import { streamBytesIn } from '../framing/lines.ts';
import { countLongLine, LINE_HEAD_BYTES } from '../framing/long-line.ts';
import { type ByteInput, fromReadable, openStdin, type Pipe } from './stdin-input.ts';

export interface StdinSourceOptions {
  /** As `loadShaping` makes it of the configuration. */
  readonly shaping?: LineShaping;
  /** Read in place of standard input. */
  readonly input?: Readable;
  /** Where another run may go on; absent where none is noted. */
  readonly pipe?: Pipe | undefined;
  /** Of what `input` brings; absent: that of standard input. */
  readonly shape?: EventShape;
}

const NONE = Buffer.alloc(0);

/** Makes the source. Reserves kernel memory for its lines. */
export function createStdinSource(
  config: LineConfig,
  context: SourceContext,
  { shaping = plainLines, input, shape: given, pipe }: StdinSourceOptions = {},
): Source {
  const { lane, log, clock, reserve } = context;
  const stats = newStats();
  const lines = createLines({ rules: config, shaping, stats, reserve, clock });
  const shape = given ?? shapeOf(config, shaping, { host: context.hostname });
  const { objects } = shaping;
  // Earlier runs are forgotten before this one begins.
  const former = objects.isFollowed ? context.streams.list(config.id) : [];
  let identity: FileIdentity | undefined;
  let stream = '';
  let bytes: ByteInput | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;

  async function accept(block: WindowBlock): Promise<void> {
    countLongLine(stats, block);
    try {
      await lane.accept({ ...block, stream, shape, readAtMs: lines.readAtMs });
    } catch (error) {
      const left = error instanceof StoppedError ? error.remainingBytes : block.end - block.start;
      const lost = streamBytesIn(block, left) + lines.pendingBytes;
      countLost(
        { source: config.id, streams: context.streams, stats },
        { id: stream, firstPath: '' },
        lost,
        stats.readBytes,
        'not_taken',
      );
      throw error;
    }
  }

  async function acceptAll(next: () => WindowBlock | undefined): Promise<void> {
    for (let block = next(); block !== undefined; block = next()) await accept(block);
  }

  /** The next bytes of the input; lines that wait for more of their event are sent when nothing follows them for a while. */
  async function read(from: ByteInput): Promise<number> {
    const reading = from.read(lines.free()).catch((error: unknown) => {
      log.error(
        { source: config.id, code: codeOf(error) },
        `reading standard input failed, taking it for its end: ${messageOf(error)}`,
      );
      return 0;
    });
    if (!lines.hasOpenEvent) return reading;
    const read = new AbortController();
    const count = reading.finally(() => read.abort());
    await clock.sleep(shaping.groupTimeoutMs, read.signal);
    // A pending read fills a part of the window that this does not touch.
    if (!read.signal.aborted) await acceptAll(() => lines.flushOpenEvent());
    return count;
  }

  async function readAll(from: ByteInput): Promise<void> {
    for (let count = await read(from); count > 0; count = await read(from)) {
      lines.commit(count);
      stats.readBytes += count;
      await acceptAll(() => lines.next());
    }
    if (identity) context.streams.identify(stream, { ...identity, endsInLine: isInLine() });
    await acceptAll(() => lines.flush());
  }

  /** What comes next in the pipe may go on with a line whose fields cannot be hidden. */
  function isInLine(): boolean {
    const { waiting, encoding, rest } = lines;
    if (rest !== false || lines.long.suspend() !== undefined) return true;
    return (
      waiting.length > 0 && objects.mayBeginObject?.(encoding.decode(waiting.subarray(0, LINE_HEAD_BYTES))) === true
    );
  }

  /** Another process may read the pipe on. Until this run is over nobody knows where it ends. */
  function beginStream(): void {
    identity = objects.isFollowed && pipe ? { ...pipe, headLength: 0, headHash: '', endsInLine: true } : undefined;
    stream = context.streams.mint(config.id, '', identity).id;
    const before = former.findLast(
      (each) => each.identity?.device === pipe?.device && each.identity?.inode === pipe?.inode,
    );
    if (identity && before?.identity?.endsInLine) lines.reset(0, NONE, NONE, objects.begins ? 'joined' : true);
  }

  async function run(): Promise<void> {
    if (bytes === undefined) throw new Error('run comes after open');
    try {
      await readAll(bytes);
    } catch (error) {
      if (codeOf(error) !== 'E_STOPPED') throw error;
      log.error(
        { source: config.id, lostBytes: stats.lostBytes },
        'stopped before all that was read from standard input was accepted',
      );
    } finally {
      bytes.close();
    }
  }

  return {
    id: config.id,
    stats,
    async open() {
      beginStream();
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
