/**
 * Reads files and standard input as a source of the configuration would, and hands on each event as it would be sent. Opens no
 * data folder, asks no service, and keeps memory bounded: nothing is read while `record` waits.
 */
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { type Config, readsLines, type SinkConfig, type SourceConfig } from '../../config/model.ts';
import type { Region } from '../../core/block.ts';
import { systemClock } from '../../core/time/clock.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { SourceStats } from '../../core/source.ts';
import { NO_STREAMS } from '../../core/stream.ts';
import { createKernel, type Kernel } from '../../kernel/kernel.ts';
import { findBom } from '../../sources/framing/byte-window.ts';
import { type LineShaping, loadShaping, shapeOf } from '../../sources/framing/line-shaping.ts';
import { createStdinSource } from '../../sources/stdin/stdin.ts';
import { hasTransforms, kernelBytesOf, SHAPING_SCRATCH_BYTES } from '../build/kernel-memory.ts';
import type { Shapers } from '../build/shapers.ts';
import { memoryOf } from '../build/sink-pipeline.ts';
import { EventRecorder, type RecordedEvent } from './event-recorder.ts';
import { MessageReader } from './message-reader.ts';

export interface PreviewedEvent extends RecordedEvent {
  /** The input as text, without its last line ending. */
  readonly text: string;
}

export interface PreviewerOptions {
  readonly config: Config;
  readonly source: SourceConfig;
  readonly sink: SinkConfig;
  readonly log: Log;
  record(event: PreviewedEvent): Promise<void> | void;
}

/** What all inputs together came to. */
export interface PreviewCounts extends Pick<SourceStats, 'timeErrors' | 'typeErrors' | 'truncatedEvents'> {
  readonly emptyLines: number;
  readonly transformErrors: number;
}

export class Previewer {
  readonly #options: PreviewerOptions;
  /** Undefined for syslog. */
  readonly #shaping: LineShaping | undefined;
  readonly #messages: MessageReader | undefined;
  readonly #shapers: Shapers | undefined;
  readonly #recorder: EventRecorder;
  readonly #reserve: ReturnType<typeof createReservations>;
  readonly #stats: SourceStats[] = [];
  #encoding: LineShaping['encoding'] | undefined;

  static async create(options: PreviewerOptions): Promise<Previewer> {
    const { source, sink, log } = options;
    const config = { ...options.config, sources: [source], sinks: [sink] };
    const shaping = readsLines(source) ? await loadShaping(source) : undefined;
    if (!hasTransforms(config)) return new Previewer(options, config, shaping);
    const { Shapers } = await import('../build/shapers.ts');
    const shapers = new Shapers(config, log);
    await shapers.compile();
    return new Previewer(options, config, shaping, shapers);
  }

  private constructor(options: PreviewerOptions, config: Config, shaping: LineShaping | undefined, shapers?: Shapers) {
    const { source, sink } = options;
    this.#options = options;
    this.#shaping = shaping;
    this.#shapers = shapers;
    const kernel = createKernel(kernelBytesOf(config));
    this.#recorder = new EventRecorder({
      source: source.id,
      kernel,
      slot: kernel.reserve(memoryOf(sink).slotBytes),
      scratch: shapers && kernel.reserve(SHAPING_SCRATCH_BYTES),
      timestampField: sink.timestampField,
      shaper: shapers?.shaperFor(source, sink),
      dataset: source.dataset ?? sink.dataset,
      record: (event) => options.record({ ...event, text: this.#textOf(event) }),
    });
    this.#reserve = createReservations(kernel);
    if (source.type === 'syslog') {
      this.#messages = new MessageReader({ source, kernel, lane: this.#recorder, reserve: (bytes) => kernel.reserve(bytes) });
      this.#stats.push(this.#messages.stats);
    }
  }

  get counts(): PreviewCounts {
    const sum = (key: 'timeErrors' | 'typeErrors' | 'truncatedEvents') => this.#stats.reduce((total, each) => total + (each[key] ?? 0), 0);
    const { emptyLines, transformErrors } = this.#recorder;
    return {
      emptyLines,
      transformErrors,
      timeErrors: sum('timeErrors'),
      typeErrors: sum('typeErrors'),
      truncatedEvents: sum('truncatedEvents'),
    };
  }

  /**
   * Reads one input to its end: the file at `path`, or standard input; `content` stands in for either. Throws `TailraceError` where
   * the file cannot be read.
   */
  async read(path?: string, content?: Readable): Promise<void> {
    const { source, log } = this.#options;
    const input = content ?? (path === undefined ? undefined : await openFile(path));
    const shaping = this.#shaping;
    if (!readsLines(source) || !shaping) return this.#messages?.read(input ?? process.stdin);
    const host = hostname();
    const file = path === undefined || source.type !== 'file' ? {} : { file: resolve(path) };
    const reader = createStdinSource(
      source,
      {
        lane: this.#recorder,
        streams: NO_STREAMS,
        clock: systemClock,
        log,
        hostname: host,
        reserve: this.#reserve.restart(),
        once: true,
      },
      { shaping, shape: shapeOf(source, shaping, { host, ...file }), ...(input ? { input } : {}) },
    );
    this.#stats.push(reader.stats);
    await reader.open();
    await reader.run();
  }

  /** Ends the processes of its scripts. */
  async close(): Promise<void> {
    await this.#shapers?.close();
  }

  #textOf({ input, offset }: RecordedEvent): string {
    if (this.#messages || !this.#shaping) return this.#messages?.message ?? '';
    const mark = offset === 0 ? findBom(input) : undefined;
    if (offset === 0) this.#encoding = mark?.encoding ?? this.#shaping.encoding;
    return (this.#encoding ?? this.#shaping.encoding).decode(input.subarray(mark?.bytes.length ?? 0)).replace(/\r?\n$/, '');
  }
}

async function openFile(path: string): Promise<Readable> {
  const fail = (reason: string, cause?: unknown): TailraceError =>
    new TailraceError('E_PREVIEW', `cannot read "${path}": ${reason}`, { fix: 'name a log file that you may read', cause });
  try {
    const handle = await open(path);
    if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
    await handle.close();
  } catch (error) {
    throw fail(messageOf(error), error);
  }
  throw fail('it is a folder');
}

/** Kernel memory that each input reuses: a source reserves the same regions in the same order. */
function createReservations(kernel: Kernel): { restart(): (bytes: number) => Region } {
  const regions: Region[] = [];
  return {
    restart() {
      let next = 0;
      return (bytes) => (regions[next++] ??= kernel.reserve(bytes));
    },
  };
}
