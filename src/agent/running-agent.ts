/** The running agent: every room wired to the others, from the start to the stop. */
import { join } from 'node:path';
import type { ConfigChanges } from '../config/compare.ts';
import type { Config, SinkConfig, SourceConfig } from '../config/model.ts';
import type { Region } from '../core/block.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { messageOf, TailraceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { DeadLetter } from '../core/sink.ts';
import { prepareContentSum } from '../kernel/content-sum.ts';
import { prepareGzip } from '../kernel/gzip.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { type AbandonedSpool, findAbandoned } from '../state/spool/abandoned.ts';
import { DeadLetters } from '../state/dead-letters.ts';
import type { State } from '../state/database/store.ts';
import { Histograms } from '../telemetry/histogram.ts';
import type { SinkHistograms } from '../telemetry/metrics.ts';
import type { Observed } from '../telemetry/observed.ts';
import { statusOf } from '../telemetry/status.ts';
import type { TelemetryServer } from '../telemetry/server.ts';
import type { Agent, AgentOptions } from './agent.ts';
import { bury } from './bury.ts';
import { type ControlRequest, type ControlServer, startControl } from './control/control.ts';
import { isRereadable } from './build/create-source.ts';
import { createRoomyKernel, hasTransforms, kernelBytesOf, scratchBytesOf, SHAPING_SCRATCH_BYTES } from './build/kernel-memory.ts';
import { observeSink, observeSources } from './control/observe.ts';
import { explainPath, pageSourceOf } from './control/page-source.ts';
import { Replay, type ReplayResult } from './control/replay.ts';
import { restoreRooms } from './build/restore-sinks.ts';
import { closeDrained } from './reload/close-drained.ts';
import { whyRestart } from './reload/needs-restart.ts';
import { reconfigure } from './reload/reconfigure.ts';
import { Rooms, type SourceRoom } from './build/components.ts';
import { SettlementSaver } from './settlement-saver.ts';
import { createSinkRoom, drainSink, type SinkRoom } from './build/sink-pipeline.ts';
import type { Shapers } from './build/shapers.ts';
import { routedBaseOf } from './build/owners.ts';
import { createRoutedDatasets } from './build/routed-datasets.ts';
import { createSourceRoom } from './build/source-pipeline.ts';
import { countHeld, type StopReport, stopRooms } from './stop.ts';
import { answerTap } from './control/tap.ts';
import { TelemetryRoom } from './control/telemetry-room.ts';
import { Watchdog } from './control/watchdog.ts';

const SAVE_EVERY_MS = 1000;

export class RunningAgent implements Agent {
  readonly #options: AgentOptions;
  readonly #inForce: { config: Config };
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #state: State;
  readonly #histograms: SinkHistograms = {
    requestSeconds: new Histograms([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
    batchEvents: new Histograms([1, 10, 100, 500, 1000, 2500, 5000, 10_000]),
    batchBytes: new Histograms([1024, 16_384, 65_536, 262_144, 524_288, 1_048_576, 4_194_304, 10_485_760]),
  };
  readonly #rooms = new Rooms();
  readonly #deadLetters: DeadLetters;
  #shapers: Shapers | undefined;
  readonly #replay: Replay;
  readonly #telemetry: TelemetryRoom;
  #control: ControlServer | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #watchdog: Watchdog;
  readonly #saver: SettlementSaver;
  #kernel: Kernel | undefined;
  /** Where events are made before they are shaped. */
  #shapingScratch: Region | undefined;
  #restored: Promise<void> = Promise.resolve();
  #isRestored = false;
  /** What keeps the agent from its end: sources that read, and reloads. */
  readonly #runs = new Set<Promise<void>>();
  #moreRuns = Promise.withResolvers<void>();
  #started = false;
  #failure: string | undefined;
  #report: Promise<StopReport> | undefined;
  readonly #giveUp = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #abandoned: readonly AbandonedSpool[] = [];
  ended: Promise<void> = Promise.resolve();

  /** `inForce` is kept up to date. */
  constructor(options: AgentOptions, state: State, inForce: { config: Config }) {
    this.#options = options;
    this.#inForce = inForce;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
    this.#state = state;
    this.#saver = new SettlementSaver(state, this.#clock);
    this.#watchdog = new Watchdog(this.#clock, this.#log, SAVE_EVERY_MS);
    const { dataDir, deadLetter } = options.config;
    this.#deadLetters = new DeadLetters(join(dataDir, 'dead-letters'), deadLetter.maxBytes, deadLetter.whenFull);
    this.#telemetry = new TelemetryRoom({
      histograms: this.#histograms,
      observe: () => this.observe(),
      stalled: () => this.#watchdog.describe(),
      page: pageSourceOf(inForce, this.#rooms, this.#deadLetters, () => this.#shapers),
    });
    this.#replay = new Replay({
      letters: this.#deadLetters,
      log: this.#log,
      sink: (id) => this.#rooms.sinks.get(id),
      datasetOf: (source, { config }) => inForce.config.sources.find(({ id }) => id === source)?.dataset ?? config.dataset,
      booksOf: (source) => this.#rooms.replayBooksOf(source),
      nextBatchId: () => state.nextBatchId(),
    });
  }

  get telemetry(): TelemetryServer | undefined {
    return this.#telemetry.server;
  }

  async start(): Promise<void> {
    const { config } = this.#options;
    const kernel = createRoomyKernel(kernelBytesOf(config));
    this.#kernel = kernel;
    const isShaped = hasTransforms(config) && !this.#options.sinksOnly;
    if (isShaped) {
      const { Shapers } = await import('./build/shapers.ts');
      this.#shapers = new Shapers(config, this.#log);
      await this.#shapers.compile();
    }
    this.#shapingScratch = isShaped ? kernel.reserve(SHAPING_SCRATCH_BYTES) : undefined;
    // Where the address space does not hold all of them, the start fails and not a file or a batch later on.
    prepareContentSum();
    if (config.sinks.some(({ compression }) => compression === 'gzip')) prepareGzip();
    for (const sink of config.sinks) this.#rooms.sinks.set(sink.id, this.#createSink(sink, kernel));
    if (!this.#options.sinksOnly) await this.#openSources(kernel);
    this.#started = true;
    this.#timer = setInterval(() => this.#tick(), SAVE_EVERY_MS);
    const work = this.#options.sinksOnly ? [] : [this.#run(kernel)];
    this.ended = Promise.race([...work, this.#giveUp.promise]);
  }

  observe(): Observed {
    const { config } = this.#inForce;
    const { file, hash } = config;
    return {
      config: { file, hash, scripts: this.#shapers?.scripts ?? [] },
      sources: observeSources(new Map([...this.#rooms.removed, ...this.#rooms.sources]), this.#rooms.formerBooks, this.#rooms.sinks),
      sinks: config.sinks.flatMap(({ id }) => {
        const room = this.#rooms.sinks.get(id);
        return room ? [observeSink(room, this.#histograms.requestSeconds)] : [];
      }),
      checkpointSaves: this.#state.saves,
      checkpointRefusals: this.#state.refused.refusals,
      checkpointRefusal: this.#state.refused.refusal,
      abandoned: this.#abandoned,
      deadLetterBytes: this.#deadLetters.bytes,
      configReloads: this.#options.reloads ?? { success: 0, failure: 0 },
      started: this.#started,
    };
  }

  overdue(): string | undefined {
    for (const { source } of this.#rooms.sources.values()) {
      const step = source.overdue?.();
      if (step !== undefined) return `source "${source.id}": ${step}`;
    }
    return undefined;
  }

  replay(ids: readonly string[], through?: string): Promise<ReplayResult> {
    return this.#replay.run(ids, through);
  }

  whyRestart(next: Config, changes: ConfigChanges): string | undefined {
    if (!this.#isRestored) return 'what the last process left is still being sent';
    return whyRestart(this.#inForce.config, next, changes, this.#rooms, this.#state);
  }

  async reconfigure(after: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<void> {
    const before = this.#inForce.config.telemetry;
    await this.#telemetry.use(after.telemetry);
    try {
      await this.#reconfigureRooms(after, changes, stopping);
    } catch (error) {
      await this.#telemetry.use(before);
      throw error;
    }
  }

  async #reconfigureRooms(after: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<void> {
    const kernel = this.#kernel!;
    const work = reconfigure({
      ...{ before: this.#inForce.config, after, changes, stopping },
      ...{ rooms: this.#rooms, state: this.#state, clock: this.#clock, log: this.#log },
      createSink: (config) => this.#createSink(config, kernel),
      createSource: (config, former) => this.#createSource(config, kernel, former),
      use: (config) => {
        this.#inForce.config = config;
        this.#deadLetters.limit(config.deadLetter.maxBytes, config.deadLetter.whenFull);
      },
      run: (room) => this.#startReading(room),
    });
    // The agent has not ended while no source reads.
    this.#note(work.catch(() => {}));
    if (after.sinks.some(({ compression }) => compression === 'gzip')) prepareGzip();
    await work;
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
    for (const { source } of this.#rooms.sources.values()) await source.stop().catch(() => {});
    for (const { sink } of this.#rooms.sinks.values()) await sink.close();
    await this.#shapers?.close();
    await this.#telemetry.server?.close();
    this.#control?.close();
    this.#saver.stop();
    this.#state.close();
  }

  async #openSources(kernel: Kernel): Promise<void> {
    const { config } = this.#options;
    await this.#telemetry.use(config.telemetry);
    for (const source of config.sources) this.#rooms.sources.set(source.id, await this.#createSource(source, kernel));
    this.#forgetFormerRuns();
    for (const { buffer, sink } of this.#rooms.sinks.values()) {
      const batches = await buffer.recover();
      if (batches > 0) this.#log.info({ sink: sink.id, batches }, 'batches of the disk buffer are sent first');
    }
    this.#noteAbandoned(join(config.dataDir, 'spool'));
    for (const { source } of this.#rooms.sources.values()) await source.open();
    this.#state.noteStarted([...this.#rooms.sources.keys()]);
    this.#control = await startControl(config.dataDir, this.#log, (request) => this.#answer(request)).catch((error: unknown) => {
      // Shipping goes on without it, on a full disk for example.
      this.#log.error(
        { reason: messageOf(error) },
        'no command can reach this agent: dead-letters replay and drop, and explain, will fail',
      );
      return undefined;
    });
  }

  #noteAbandoned(root: string): void {
    this.#abandoned = findAbandoned(root, new Set(this.#rooms.sinks.keys()));
    for (const spool of this.#abandoned)
      this.#log.warn(
        spool,
        'the disk buffer holds batches of a sink that is not configured any more; they are kept, and sent once the sink is back: configure it again, or remove the folder',
      );
  }

  async #answer({ command, args }: ControlRequest): Promise<unknown> {
    switch (command) {
      case 'replay':
        return this.replay(args);
      // A name of its own: an agent that does not know it must not send them through their first sink.
      case 'replay-through':
        return this.replay(args.slice(1), args[0]);
      case 'drop':
        return { removed: this.drop(args) };
      case 'reload':
        if (!this.#options.reload) throw new TailraceError('E_CONTROL', 'this agent was not started to be reloaded');
        return this.#options.reload();
      case 'status':
        return statusOf(this.observe());
      case 'tap':
        return answerTap(this.#rooms, this.#shapers, args);
      case 'explain':
        return explainPath(this.#rooms, args[0] ?? '');
      default:
        throw new TailraceError('E_CONTROL', `the agent does not know the command "${command}"`);
    }
  }

  async #run(kernel: Kernel): Promise<void> {
    this.#restored = restoreRooms({
      rooms: this.#rooms,
      state: this.#state,
      kernel,
      scratchBytes: scratchBytesOf(this.#inForce.config),
      shapers: this.#shapers,
      baseOf: (source, sink) => routedBaseOf(this.#inForce.config, source, sink),
      clock: this.#clock,
      log: this.#log,
      stopping: this.#stopping.signal,
    });
    void this.#restored.then(() => (this.#isRestored = true));
    this.#note(this.#restored);
    for (const room of this.#rooms.sources.values()) this.#startReading(room);
    // A reload adds to them.
    while (this.#runs.size > 0) await Promise.race([...this.#runs, this.#moreRuns.promise]);
    for (const { batcher } of this.#rooms.sinks.values()) batcher.flush();
    const never = new AbortController().signal;
    // Whoever asked for one run is told when it does not get through; any other ends when all is delivered.
    const patienceMs = this.#options.once ? this.#inForce.config.shutdownTimeoutMs : Infinity;
    await Promise.all([...this.#rooms.sinks.values()].map((room) => drainSink(room, never, patienceMs)));
  }

  #startReading(room: SourceRoom): void {
    const read = async (): Promise<void> => {
      if (isRereadable(room.config)) await this.#restored;
      if (!this.#report && this.#rooms.sources.get(room.config.id) === room) await room.source.run();
    };
    this.#note(read());
  }

  /** The agent has not ended before this has. */
  #note(work: Promise<void>): void {
    const noted = work.finally(() => this.#runs.delete(noted));
    this.#runs.add(noted);
    this.#moreRuns.resolve();
    this.#moreRuns = Promise.withResolvers();
  }

  #createSink(config: SinkConfig, kernel: Kernel): SinkRoom {
    return createSinkRoom({
      config,
      kernel,
      shapingScratch: this.#shapingScratch,
      state: this.#state,
      clock: this.#clock,
      log: this.#log,
      histograms: this.#histograms,
      settled: () => this.#saver.noteSettled(),
      paused: (dataset) => this.#notePause(config.id, dataset),
      folder: this.#inForce.config.dataDir,
      booksOf: (source) => this.#rooms.booksOf(source),
      bury: (name, letters) => this.#bury(name, letters),
    });
  }

  #createSource(config: SourceConfig, kernel: Kernel, former?: SourceRoom): Promise<SourceRoom> {
    const common = { rooms: this.#rooms, kernel, state: this.#state, clock: this.#clock, log: this.#log, once: this.#options.once };
    const datasets = createRoutedDatasets(this.#state, this.#log, (sink) => this.#basesOf(sink));
    const baseOf = (source: SourceConfig, sink: SinkConfig) => routedBaseOf(this.#inForce.config, source, sink);
    return createSourceRoom({ ...common, shapers: this.#shapers, routed: { datasets, baseOf }, config, former });
  }

  #basesOf(id: string): string[] {
    const { config } = this.#inForce;
    const sink = config.sinks.find((each) => each.id === id);
    return sink ? config.sources.flatMap((source) => routedBaseOf(config, source, sink) ?? []) : [];
  }

  async #stop(deadline: AbortSignal): Promise<StopReport> {
    this.#stopping.abort();
    const lostBytes = await stopRooms(this.#rooms, deadline, this.#log);
    clearInterval(this.#timer);
    const deadLetters = this.observe().sources.reduce((sum, { settled }) => sum + settled.dead_lettered, 0);
    const report = { ...countHeld(this.#rooms), lostBytes, deadLetters, failure: this.#failure };
    this.#control?.close();
    await this.#shapers?.close();
    await this.#telemetry.server?.close();
    for (const { sink } of this.#rooms.sinks.values()) await sink.close();
    this.#saver.stop();
    return { ...report, arePositionsSaved: this.#state.close() };
  }

  /** Connections and runs of earlier processes have nothing left to read; what they sent is in the disk buffer. */
  #forgetFormerRuns(): void {
    for (const { config } of this.#rooms.sources.values()) {
      if (isRereadable(config)) continue;
      for (const { id } of this.#state.list(config.id)) this.#state.forget(id);
    }
  }

  #bury(name: string, letters: readonly DeadLetter[]): Promise<'kept' | 'dropped'> {
    const options = { deadLetters: this.#deadLetters, replay: this.#replay, rooms: this.#rooms, state: this.#state, clock: this.#clock };
    return bury(options, name, letters);
  }

  #notePause(sink: string, dataset: string): void {
    if (!this.#options.once) return;
    const pause = this.#rooms.sinks.get(sink)?.delivery.pauses.get(dataset);
    this.#failure ??= `sink "${sink}" cannot deliver to dataset "${dataset}": ${pause?.detail ?? 'refused'}; ${pause?.fix ?? ''}`;
    this.#giveUp.resolve();
  }

  #tick(): void {
    this.#watchdog.tick();
    this.#watchdog.noteOverdue(this.overdue());
    this.#state.save();
    closeDrained(this.#rooms, this.#inForce.config, this.#log);
  }
}
