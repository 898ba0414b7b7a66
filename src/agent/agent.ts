/**
 * The agent: wires sources → batcher → sinks, starts them in the order that keeps every promise (state, sinks, what the
 * last process left, sources), and drains them in the opposite one.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Books } from '../batcher/books.ts';
import { offsetOfEvent } from '../batcher/events.ts';
import { SourceLane } from '../batcher/lane.ts';
import { restoreBatches } from '../batcher/restore.ts';
import type { Config, SourceConfig } from '../config/model.ts';
import type { Region } from '../core/block.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { messageOf, TailraceError } from '../core/errors.ts';
import { READ_CHUNK_BYTES } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { DeadLetter } from '../core/sink.ts';
import type { Source } from '../core/source.ts';
import { createKernel, type Kernel } from '../kernel/kernel.ts';
import { createIngestSink } from '../sinks/ingest/sink.ts';
import { DeadLetters, toLetter } from '../state/dead-letters.ts';
import { openState, type State } from '../state/store.ts';
import { Histograms } from '../telemetry/histogram.ts';
import type { SinkHistograms } from '../telemetry/metrics.ts';
import type { Observed } from '../telemetry/observed.ts';
import { startTelemetry, type TelemetryServer } from '../telemetry/server.ts';
import { type ControlRequest, type ControlServer, startControl } from './control.ts';
import { createSource, isRereadable } from './create-source.ts';
import { type BookedSource, observeSink, observeSources } from './observe.ts';
import { Replay, type ReplayResult } from './replay.ts';
import { createStreamView } from './stream-view.ts';
import { createSinkRoom, drainSink, heldBatches, type SinkRoom, slotBytesOf, slotCountOf } from './sink-room.ts';

const SAVE_EVERY_MS = 1000;
/** How long to wait before a disk that refused to take a restored batch's new key is tried again. */
const RESTORE_RETRY_MS = 1000;
/** A stall of the event loop this long makes /healthz fail … */
const STALL_MS = 5000;
/** … for this long. */
const STALL_SHOWN_MS = 60_000;

export interface AgentOptions {
  readonly config: Config;
  /** Read what exists now to its end, deliver it, and end. */
  readonly once: boolean;
  readonly log: Log;
  readonly clock?: Clock;
  /** Only sinks, to replay dead letters: no source is opened, and what an earlier process left stays as it is. */
  readonly sinksOnly?: boolean;
}

export interface StopReport {
  /** Events that are neither delivered nor to be had again after a restart. */
  readonly lostEvents: number;
  /** Bytes of such sources that were read and not taken any more while the agent stopped: lines that are no events yet. */
  readonly lostBytes: number;
  /** Events that a restart will send: saved by their positions or in the disk buffer, or read again. */
  readonly keptEvents: number;
  /** Events that were refused and kept as dead letters by this process. */
  readonly deadLetters: number;
  /** Why the agent gave up, where it did (`--once` and a service that refuses). */
  readonly failure: string | undefined;
}

export interface Agent {
  readonly telemetry: TelemetryServer | undefined;
  /** Resolves when all sources have ended and everything is settled, or when `--once` cannot go on. */
  readonly ended: Promise<void>;
  observe(): Observed;
  /** Sends dead letters again (all where no id is given); resolves when they are settled. */
  replay(ids: readonly string[]): Promise<ReplayResult>;
  /** Removes dead letters for good (all where no id is given); the number of files removed. */
  drop(ids: readonly string[]): number;
  /** Stops reading, drains until `deadline` aborts, saves positions. Idempotent. */
  stop(deadline: AbortSignal): Promise<StopReport>;
}

interface SourceRoom extends BookedSource {
  readonly config: SourceConfig;
  readonly source: Source;
}

/** Starts everything; throws `TailraceError` when that cannot be done, with nothing left open. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { config, log } = options;
  const state = openState({
    folder: config.dataDir,
    sinksOf: (source) => config.sinks.filter((sink) => sink.inputs.includes(source)).map((sink) => sink.id),
    log,
  });
  const running = new RunningAgent(options, state);
  try {
    await running.start();
    return running;
  } catch (error) {
    await running.abandon();
    throw error;
  }
}

class RunningAgent implements Agent {
  readonly #options: AgentOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #state: State;
  readonly #histograms: SinkHistograms = {
    requestSeconds: new Histograms([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
    batchEvents: new Histograms([1, 10, 100, 500, 1000, 2500, 5000, 10_000]),
    batchBytes: new Histograms([1024, 16_384, 65_536, 262_144, 524_288, 1_048_576, 4_194_304, 10_485_760]),
  };
  readonly #sinks = new Map<string, SinkRoom>();
  readonly #sources = new Map<string, SourceRoom>();
  /** Books of sources that the disk buffer still holds events of and that are not configured any more. */
  readonly #formerBooks = new Map<string, Books>();
  readonly #deadLetters: DeadLetters;
  readonly #replay: Replay;
  #telemetry: TelemetryServer | undefined;
  #control: ControlServer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastTickMs = 0;
  #stalledUntilMs = -Infinity;
  #stallMs = 0;
  #started = false;
  #failure: string | undefined;
  #report: Promise<StopReport> | undefined;
  readonly #giveUp = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  ended: Promise<void> = Promise.resolve();

  constructor(options: AgentOptions, state: State) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
    this.#state = state;
    const { dataDir, deadLetter } = options.config;
    this.#deadLetters = new DeadLetters(join(dataDir, 'dead-letters'), deadLetter.maxBytes, deadLetter.whenFull);
    this.#replay = new Replay({
      letters: this.#deadLetters,
      log: this.#log,
      sink: (id) => this.#sinks.get(id),
      booksOf: (source) => this.#booksOf(source),
      nextBatchId: () => state.nextBatchId(),
    });
  }

  get telemetry(): TelemetryServer | undefined {
    return this.#telemetry;
  }

  async start(): Promise<void> {
    const { config } = this.#options;
    const kernel = createKernel(capacityOf(config));
    for (const sinkConfig of config.sinks) {
      const sink = createIngestSink(sinkConfig, this.#clock, this.#log);
      const paused = (dataset: string) => this.#notePause(sinkConfig.id, dataset);
      const room = createSinkRoom({
        config: sinkConfig,
        sink,
        kernel,
        state: this.#state,
        clock: this.#clock,
        log: this.#log,
        histograms: this.#histograms,
        paused,
        folder: config.dataDir,
        booksOf: (source) => this.#booksOf(source),
        bury: (name, letters) => this.#bury(name, letters),
      });
      this.#sinks.set(sinkConfig.id, room);
    }
    if (!this.#options.sinksOnly) await this.#openSources(kernel);
    this.#started = true;
    this.#lastTickMs = this.#clock.monotonic();
    this.#timer = setInterval(() => this.#tick(), SAVE_EVERY_MS);
    const scratch = () => kernel.reserve(Math.max(...config.sinks.map(slotBytesOf)));
    if (!this.#options.sinksOnly) this.ended = Promise.race([this.#run(kernel, scratch), this.#giveUp.promise]);
  }

  observe(): Observed {
    return {
      sources: observeSources(this.#sources, this.#formerBooks, this.#sinks),
      sinks: [...this.#sinks.values()].map(observeSink),
      checkpointSaves: this.#state.saves,
      deadLetterBytes: this.#deadLetters.bytes,
      started: this.#started,
    };
  }

  replay(ids: readonly string[]): Promise<ReplayResult> {
    return this.#replay.run(ids);
  }

  drop(ids: readonly string[]): number {
    const wanted = ids.length > 0 ? ids : this.#deadLetters.files().map(({ id }) => id);
    return wanted.filter((id) => this.#deadLetters.remove(id)).length;
  }

  stop(deadline: AbortSignal): Promise<StopReport> {
    this.#report ??= this.#stop(deadline);
    return this.#report;
  }

  /** Closes what a failed start opened. */
  async abandon(): Promise<void> {
    clearInterval(this.#timer);
    for (const { source } of this.#sources.values()) await source.stop().catch(() => {});
    for (const { sink } of this.#sinks.values()) await sink.close();
    await this.#telemetry?.close();
    this.#control?.close();
    this.#state.close();
  }

  async #openSources(kernel: Kernel): Promise<void> {
    const { config } = this.#options;
    if (config.telemetry.listen) {
      const { listen } = config.telemetry;
      const stalled = () => this.#describeStall();
      this.#telemetry = await startTelemetry({ listen, histograms: this.#histograms, observe: () => this.observe(), stalled });
    }
    for (const sourceConfig of config.sources) await this.#addSource(sourceConfig, (bytes) => kernel.reserve(bytes));
    this.#forgetFormerRuns();
    for (const { buffer, sink } of this.#sinks.values()) {
      const batches = await buffer.recover();
      if (batches > 0) this.#log.info({ sink: sink.id, batches }, 'batches of the disk buffer are sent first');
    }
    for (const { source } of this.#sources.values()) await source.open();
    this.#state.noteStarted([...this.#sources.keys()]);
    this.#control = await startControl(config.dataDir, this.#log, (request) => this.#answer(request)).catch((error: unknown) => {
      // Shipping goes on without it, on a full disk for example.
      this.#log.error(
        { reason: messageOf(error) },
        'no command can reach this agent: dead-letters replay and drop, and explain, will fail',
      );
      return undefined;
    });
  }

  async #answer({ command, args }: ControlRequest): Promise<unknown> {
    switch (command) {
      case 'replay':
        return this.replay(args);
      case 'drop':
        return { removed: this.drop(args) };
      case 'explain':
        return [...this.#sources.values()].flatMap(({ source }) =>
          source.explain ? [{ source: source.id, ...source.explain(args[0] ?? '') }] : [],
        );
      default:
        throw new TailraceError('E_CONTROL', `the agent does not know the command "${command}"`);
    }
  }

  async #addSource(sourceConfig: SourceConfig, reserve: Kernel['reserve']): Promise<void> {
    const { id } = sourceConfig;
    const books = new Books(id);
    const routes = [...this.#sinks.values()]
      .filter(({ config }) => config.inputs.includes(id))
      .map(({ config, batcher }) => ({ sink: config.id, dataset: sourceConfig.dataset ?? config.dataset, batcher }));
    const lane = new SourceLane({
      books,
      routes,
      rereadable: isRereadable(sourceConfig),
      committedTo: (sink, stream) => this.#state.committedTo(sink, stream),
    });
    const source = await createSource(sourceConfig, {
      lane,
      streams: createStreamView(this.#state, () => this.#openSpans()),
      clock: this.#clock,
      log: this.#log,
      hostname: hostname(),
      reserve,
      once: this.#options.once,
    });
    this.#sources.set(id, { config: sourceConfig, source, stats: source.stats, books, lane });
  }

  /** Spans of files that the database does not know yet. */
  *#openSpans(): Generator<{ readonly stream: string }> {
    for (const room of this.#sinks.values()) {
      for (const batch of [...room.batcher.open(), ...heldBatches(room)]) if (batch.rereadable && !batch.committed) yield* batch.spans;
    }
  }

  async #run(kernel: Kernel, scratch: () => Region): Promise<void> {
    const batches = this.#state.unsettled();
    const restored = batches.length === 0 ? Promise.resolve() : this.#restore(kernel, batches, scratch());
    const runs = [...this.#sources.values()].map(async ({ config, source }) => {
      if (isRereadable(config)) await restored;
      if (!this.#report) await source.run();
    });
    await Promise.all([restored, ...runs]);
    for (const { batcher } of this.#sinks.values()) batcher.flush();
    const never = new AbortController().signal;
    await Promise.all([...this.#sinks.values()].map((room) => drainSink(room, never)));
  }

  async #restore(kernel: Kernel, batches: ReturnType<State['unsettled']>, scratch: Region): Promise<void> {
    this.#log.info({ batches: batches.length }, 'batches of the last process are sent again under the same keys');
    try {
      await restoreBatches({
        batches,
        kernel,
        log: this.#log,
        scratch,
        target: (sink) => {
          const room = this.#sinks.get(sink);
          return room && { ...room, limits: room.config.batch };
        },
        source: (id) => this.#sources.get(id),
        clock: this.#clock,
        retryMs: RESTORE_RETRY_MS,
        stopping: this.#stopping.signal,
        nextBatchId: () => this.#state.nextBatchId(),
        replace: (id, batches) => this.#state.replace(id, batches),
        partsOf: (id) => this.#state.partsOf(id),
      });
    } catch (error) {
      if (!(error instanceof TailraceError) || error.code !== 'E_STOPPED') throw error;
    }
  }

  async #stop(deadline: AbortSignal): Promise<StopReport> {
    const rooms = [...this.#sinks.values()];
    const sources = [...this.#sources.values()];
    this.#stopping.abort();
    for (const { room } of rooms) room.close('rereadable');
    // From now on over its limit: what sources have in hand, and cannot read again, finds room while they stop.
    for (const { buffer } of rooms) void buffer.stop();
    const lostBefore = this.#unreadableBytesLost();
    const given = new Promise<void>((resolve) =>
      deadline.aborted ? resolve() : deadline.addEventListener('abort', () => resolve(), { once: true }),
    );
    const stopped = Promise.all(sources.map(({ source }) => source.stop()));
    stopped.catch((error: unknown) => this.#log.error({ reason: messageOf(error) }, 'a source did not stop cleanly'));
    await Promise.race([stopped.catch(() => {}), given]);
    for (const { batcher } of rooms) batcher.flush();
    await Promise.all(rooms.map((room) => drainSink(room, deadline)));
    for (const { room } of rooms) room.close('all');
    await stopped.catch(() => {});
    for (const { batcher } of rooms) batcher.flush();
    for (const { buffer } of rooms) await buffer.stop();
    for (const { delivery } of rooms) await delivery.stop();
    for (const { buffer } of rooms) await buffer.finish();
    clearInterval(this.#timer);
    const report = { ...this.#countHeld(), lostBytes: this.#unreadableBytesLost() - lostBefore };
    this.#control?.close();
    await this.#telemetry?.close();
    for (const { sink } of rooms) await sink.close();
    this.#state.close();
    return report;
  }

  /** Bytes that sources which cannot be read again have read and lost. */
  #unreadableBytesLost(): number {
    const sources = [...this.#sources.values()].filter(({ config }) => !isRereadable(config));
    return sources.reduce((sum, { stats }) => sum + stats.lostBytes, 0);
  }

  #countHeld(): Omit<StopReport, 'lostBytes'> {
    let lostEvents = 0;
    let keptEvents = 0;
    for (const room of this.#sinks.values()) {
      for (const batch of heldBatches(room)) {
        if (batch.isDurable || batch.rereadable) keptEvents += batch.events;
        else lostEvents += batch.events;
      }
    }
    const deadLetters = this.observe().sources.reduce((sum, { settled }) => sum + settled.dead_lettered, 0);
    return { lostEvents, keptEvents, deadLetters, failure: this.#failure };
  }

  /** Connections and runs of earlier processes have nothing left to read; what they sent is in the disk buffer. */
  #forgetFormerRuns(): void {
    for (const { config } of this.#sources.values()) {
      if (isRereadable(config)) continue;
      for (const { id } of this.#state.list(config.id)) this.#state.forget(id);
    }
  }

  #booksOf(source: string): Books {
    const current = this.#sources.get(source)?.books ?? this.#formerBooks.get(source);
    if (current) return current;
    const books = new Books(source);
    this.#formerBooks.set(source, books);
    return books;
  }

  /** Keeps refused events, each with its place in the file that it came from. */
  async #bury(name: string, letters: readonly DeadLetter[]): Promise<'kept' | 'dropped'> {
    const nowMs = this.#clock.now();
    const stored = await Promise.all(
      letters.map(async (letter) => {
        // The spans of a replay are numbered by their letters.
        const original = this.#replay.originalOf(letter.stream, letter.spanOffset);
        if (original)
          return {
            about: { ...toLetter(letter, original.about.file, original.about.offset, nowMs).about, stream: original.about.stream },
            event: original.event,
          };
        const span = { source: letter.source, stream: letter.stream, from: letter.spanOffset, to: letter.spanEnd };
        const bytes = await this.#sources.get(letter.source)?.source.readSpan?.(span);
        const offset = bytes ? letter.spanOffset + offsetOfEvent(bytes, letter.eventInSpan) : letter.spanOffset;
        return toLetter(letter, this.#state.pathOf(letter.stream), offset, nowMs);
      }),
    );
    return this.#deadLetters.put(name, stored);
  }

  #notePause(sink: string, dataset: string): void {
    if (!this.#options.once) return;
    const pause = this.#sinks.get(sink)?.delivery.pauses.get(dataset);
    this.#failure ??= `sink "${sink}" cannot deliver to dataset "${dataset}": ${pause?.detail ?? 'refused'}; ${pause?.fix ?? ''}`;
    this.#giveUp.resolve();
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    const late = now - this.#lastTickMs - SAVE_EVERY_MS;
    this.#lastTickMs = now;
    if (late > STALL_MS) {
      this.#stallMs = late;
      this.#stalledUntilMs = now + STALL_SHOWN_MS;
      this.#log.warn(
        { stalledMs: Math.round(late) },
        'the process did not run for a while: the machine was suspended or has no CPU to spare, or a disk hangs',
      );
    }
    this.#state.save();
  }

  #describeStall(): string | undefined {
    return this.#clock.monotonic() < this.#stalledUntilMs
      ? `the event loop stood still for ${Math.round(this.#stallMs)} ms within the last minute`
      : undefined;
  }
}

/** Kernel memory: each source's window, each sink's slots, one slot to restore into. Address space, not memory, until it is used. */
function capacityOf(config: Config): number {
  const windows = config.sources.reduce((sum, source) => sum + 2 * (READ_CHUNK_BYTES + source.maxEventBytes) + 1024 * 1024, 0);
  const slots = config.sinks.reduce((sum, sink) => sum + slotCountOf(sink) * (slotBytesOf(sink) + 1024), 0);
  const scratch = Math.max(...config.sinks.map(slotBytesOf));
  return windows + slots + scratch + 1024 * 1024;
}
