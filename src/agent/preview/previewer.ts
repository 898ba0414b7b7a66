/**
 * Reads files and standard input as a source of the configuration would, and hands on each event as it would be sent. Opens no
 * data folder, asks no service, and keeps memory bounded: nothing is read while `record` waits.
 */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Config, SinkConfig } from '../../config/model.ts';
import type { Region } from '../../core/block.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { SourceStats } from '../../core/source.ts';
import { createKernel, type Kernel } from '../../kernel/kernel.ts';
import type { PreviewReader } from '../../sources/common/source-type.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import { hasTransforms, kernelBytesOf, SHAPING_SCRATCH_BYTES } from '../build/kernel-memory.ts';
import type { Shapers } from '../build/shapers.ts';
import { memoryOf } from '../build/sink-pipeline.ts';
import { EventRecorder, type RecordedEvent } from './event-recorder.ts';

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
  readonly #shapers: Shapers | undefined;
  readonly #recorder: EventRecorder;
  readonly #reader: PreviewReader;

  /** Throws `TailraceError` for a source whose input a file cannot hold. */
  static async create(options: PreviewerOptions): Promise<Previewer> {
    const { source, sink, log } = options;
    const config = { ...options.config, sources: [source], sinks: [sink] };
    const type = sourceTypeOf(source);
    if (!type.preview)
      throw new TailraceError('E_PREVIEW', `lines cannot be previewed as a source of the type ${source.type}`);
    const shapers = hasTransforms(config) ? new (await import('../build/shapers.ts')).Shapers(config, log) : undefined;
    await shapers?.compile();
    const kernel = createKernel(kernelBytesOf(config));
    const recorder = new EventRecorder({
      source: source.id,
      kernel,
      slot: kernel.reserve(memoryOf(sink).slotBytes),
      scratch: shapers && kernel.reserve(SHAPING_SCRATCH_BYTES),
      timestampField: sink.timestampField,
      shaper: shapers?.shaperFor(source, sink),
      dataset: source.dataset ?? sink.dataset,
      record: (event) => options.record({ ...event, text: reader.textOf(event) }),
    });
    const tools = { kernel, lane: recorder, log, restart: createReservations(kernel) };
    const reader = await type.preview(source, tools).catch(async (error: unknown) => {
      await shapers?.close();
      throw error;
    });
    return new Previewer(recorder, reader, shapers);
  }

  private constructor(recorder: EventRecorder, reader: PreviewReader, shapers: Shapers | undefined) {
    this.#recorder = recorder;
    this.#reader = reader;
    this.#shapers = shapers;
  }

  get counts(): PreviewCounts {
    const sum = (key: 'timeErrors' | 'typeErrors' | 'truncatedEvents') =>
      this.#reader.stats.reduce((total, each) => total + (each[key] ?? 0), 0);
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
   * Reads one input to its end: the file at `path`, or standard input; `content` replaces either. Throws `TailraceError` where the file
   * cannot be read.
   */
  async read(path?: string, content?: Readable): Promise<void> {
    await this.#reader.read(content ?? (path === undefined ? undefined : await openFile(path)), path);
  }

  /** Ends the processes of its scripts. */
  async close(): Promise<void> {
    await this.#shapers?.close();
  }
}

async function openFile(path: string): Promise<Readable> {
  const fail = (reason: string, cause?: unknown): TailraceError =>
    new TailraceError('E_PREVIEW', `cannot read "${path}": ${reason}`, {
      fix: 'name a log file that you may read',
      cause,
    });
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
function createReservations(kernel: Kernel): () => (bytes: number) => Region {
  const regions: Region[] = [];
  return () => {
    let next = 0;
    return (bytes) => (regions[next++] ??= kernel.reserve(bytes));
  };
}
