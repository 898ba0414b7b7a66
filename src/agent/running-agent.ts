/** The running agent: sources, batchers and sinks, from the start to the stop. */
import { join } from 'node:path';
import type { ConfigChanges } from '../config/compare.ts';
import type { Config } from '../config/model.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type AbandonedSpool, findAbandoned } from '../state/spool/abandoned.ts';
import { DeadLetters } from '../state/dead-letters.ts';
import type { State } from '../state/database/store.ts';
import type { Observed } from '../telemetry/observed.ts';
import type { TelemetryServer } from '../telemetry/server.ts';
import type { Agent, AgentOptions } from './agent.ts';
import { GiveUp } from './give-up.ts';
import { PlacedLetters } from './keep-dead-letters.ts';
import { answerCommand } from './control/commands.ts';
import { type ControlRequest, type ControlServer, startControl } from './control/control.ts';
import { Builder } from './build/builder.ts';
import { sourceTypeOf } from '../sources/registry.ts';
import { observeSink, observeSources } from './control/observe.ts';
import { pageSourceOf } from './control/page-source.ts';
import { Replay, type ReplayResult } from './control/replay.ts';
import { closeDrained } from './reload/close-drained.ts';
import { whyRestart } from './reload/needs-restart.ts';
import { reconfigure } from './reload/reconfigure.ts';
import { Components, type SourcePipeline } from './build/components.ts';
import { sinkFacts } from '../sinks/registry.ts';
import { createSinkHistograms, drainSink } from './build/sink-pipeline.ts';
import { SAVE_EVERY_MS } from './limits.ts';
import { closeState, countHeld, saveAtLast, type StopReport, stopComponents } from './stop.ts';
import { TelemetryListener } from './control/telemetry-listener.ts';
import { Watchdog } from './control/watchdog.ts';

export class RunningAgent implements Agent {
  readonly #options: AgentOptions;
  readonly #inForce: { config: Config };
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #state: State;
  readonly #histograms = createSinkHistograms();
  readonly #components = new Components();
  readonly #deadLetters: DeadLetters;
  readonly #replay: Replay;
  readonly #telemetry: TelemetryListener;
  #control: ControlServer | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #watchdog: Watchdog;
  /** Set by the start. */
  #builder: Builder | undefined;
  #restored: Promise<void> = Promise.resolve();
  /** Work that keeps the agent running: sources that read, and reloads. */
  readonly #runs = new Set<Promise<void>>();
  #moreRuns = Promise.withResolvers<void>();
  #started = false;
  #report: Promise<StopReport> | undefined;
  readonly #giveUp: GiveUp;
  readonly #stopping = new AbortController();
  #abandoned: readonly AbandonedSpool[] = [];
  ended: Promise<void> = Promise.resolve();

  /** `inForce` is kept up to date. */
  constructor(options: AgentOptions, state: State, inForce: { config: Config }) {
    this.#options = options;
    this.#inForce = inForce;
    this.#giveUp = new GiveUp(options.once);
    this.#components.watcher = this.#giveUp;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
    this.#state = state;
    this.#watchdog = new Watchdog(this.#clock, this.#log, SAVE_EVERY_MS);
    const { dataDir, deadLetter } = options.config;
    this.#deadLetters = new DeadLetters(
      join(dataDir, 'dead-letters'),
      deadLetter.maxBytes,
      deadLetter.whenFull,
      state.letters,
    );
    this.#deadLetters.hasRoom = () => this.#components.retryLetters();
    this.#telemetry = new TelemetryListener({
      histograms: this.#histograms,
      observe: () => this.observe(),
      stalled: () => this.#watchdog.describe(),
      page: pageSourceOf(inForce, this.#components, this.#deadLetters, () => this.#builder?.shapers),
    });
    this.#replay = new Replay({
      letters: this.#deadLetters,
      log: this.#log,
      sink: (id) => this.#components.sinks.get(id),
      datasetOf: (source, { config }) =>
        inForce.config.sources.find(({ id }) => id === source)?.dataset ?? config.dataset,
      accountingOf: (source) => this.#components.replayAccountingOf(source),
      nextBatchId: () => state.ledger.nextId(),
    });
  }

  get telemetry(): TelemetryServer | undefined {
    return this.#telemetry.server;
  }

  async start(): Promise<void> {
    const { config } = this.#options;
    const builder = await this.#createBuilder();
    this.#builder = builder;
    for (const sink of config.sinks) this.#components.sinks.set(sink.id, builder.createSink(sink));
    if (!this.#options.sinksOnly) await this.#openSources(builder);
    this.#started = true;
    this.#timer = setInterval(() => this.#tick(), SAVE_EVERY_MS);
    const work = this.#options.sinksOnly ? [] : [this.#run(builder)];
    this.ended = Promise.race([...work, this.#giveUp.given]);
  }

  observe(): Observed {
    const { config } = this.#inForce;
    return {
      facts: sinkFacts,
      config: { file: config.file, hash: config.hash, scripts: this.#builder?.shapers?.scripts ?? [] },
      sources: observeSources(
        new Map([...this.#components.removed, ...this.#components.sources]),
        this.#components.formerAccounting,
        this.#components.sinks,
      ),
      sinks: config.sinks.flatMap(({ id }) => {
        const pipeline = this.#components.sinks.get(id);
        return pipeline ? [observeSink(pipeline, this.#histograms.requestSeconds)] : [];
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
    for (const { source } of this.#components.sources.values()) {
      const step = source.overdue?.();
      if (step !== undefined) return `source "${source.id}": ${step}`;
    }
    return undefined;
  }

  replay(ids: readonly string[], through?: string): Promise<ReplayResult> {
    return this.#replay.run(ids, through);
  }

  whyRestart(after: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<string | undefined> {
    const { config: before } = this.#inForce;
    const [components, state, clock, restored] = [this.#components, this.#state, this.#clock, this.#restored];
    return whyRestart({ before, after, changes, components, state, clock, restored, stopping });
  }

  async reconfigure(after: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<void> {
    const before = this.#inForce.config.telemetry;
    await this.#telemetry.use(after.telemetry);
    try {
      await this.#reconfigureComponents(after, changes, stopping);
    } catch (error) {
      await this.#telemetry.use(before);
      throw error;
    }
  }

  async #reconfigureComponents(after: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<void> {
    const builder = this.#builder!;
    const transforms = await builder.changeTransforms(after);
    const work = reconfigure({
      ...{ before: this.#inForce.config, after, changes, stopping },
      ...{ components: this.#components, state: this.#state, clock: this.#clock, log: this.#log },
      createSink: (config) => builder.createSink(config),
      createSource: (config, former) => builder.createSource(config, former),
      use: (config) => {
        this.#inForce.config = config;
        transforms.use(config);
        this.#deadLetters.limit(config.deadLetter.maxBytes, config.deadLetter.whenFull);
      },
      run: (pipeline) => this.#startReading(pipeline),
    });
    // The agent has not ended while no source reads.
    this.#note(work.catch(() => {}));
    await work.finally(() => transforms.closeUnused());
  }

  drop(ids: readonly string[]): number {
    return this.#deadLetters.drop(ids);
  }

  stop(deadline: AbortSignal): Promise<StopReport> {
    this.#report ??= this.#stop(deadline);
    return this.#report;
  }

  /** Closes what a failed start opened. */
  async abandon(): Promise<void> {
    clearInterval(this.#timer);
    for (const { source } of this.#components.sources.values()) await source.stop().catch(() => {});
    await this.#close();
  }

  /** True when positions are saved. */
  async #close(): Promise<boolean> {
    this.#control?.close();
    await this.#builder?.shapers?.close();
    await this.#telemetry.server?.close();
    for (const { sink } of this.#components.sinks.values()) await sink.close();
    return closeState(this.#state, this.#components.sinks);
  }

  #createBuilder(): Promise<Builder> {
    const { sinksOnly = false, once } = this.#options;
    const [components, state, clock, deadLetters, replay] = [
      this.#components,
      this.#state,
      this.#clock,
      this.#deadLetters,
      this.#replay,
    ];
    return Builder.create({
      ...{
        inForce: this.#inForce,
        once,
        sinksOnly,
        components,
        state,
        clock,
        log: this.#log,
        histograms: this.#histograms,
      },
      letters: new PlacedLetters({ deadLetters, replay, components, state, clock }),
    });
  }

  async #openSources(builder: Builder): Promise<void> {
    const { config } = this.#options;
    await this.#telemetry.use(config.telemetry);
    for (const source of config.sources) this.#components.sources.set(source.id, await builder.createSource(source));
    this.#components.forgetFormerRuns(this.#state);
    for (const { buffer, sink } of this.#components.sinks.values()) {
      const batches = await buffer.recover();
      if (batches > 0) this.#log.info({ sink: sink.id, batches }, 'batches of the disk buffer are sent first');
    }
    this.#abandoned = findAbandoned(join(config.dataDir, 'spool'), new Set(this.#components.sinks.keys()));
    for (const spool of this.#abandoned)
      this.#log.warn(
        spool,
        'the disk buffer holds batches of a sink that is not configured any more; they are kept, and sent once the sink is back: configure it again, or remove the folder',
      );
    for (const { source } of this.#components.sources.values()) await source.open();
    this.#state.noteStarted([...this.#components.sources.keys()]);
    this.#control = await startControl(config.dataDir, this.#log, (request) => this.#answer(request, builder)).catch(
      (error: unknown) => {
        // Keep shipping without it, for example on a full disk.
        this.#log.error(
          { reason: messageOf(error) },
          'no command can reach this agent: dead-letters replay and drop, and explain, will fail',
        );
        return undefined;
      },
    );
  }

  #answer(request: ControlRequest, { shapers }: Builder): Promise<unknown> {
    return answerCommand(
      { agent: this, components: this.#components, shapers, state: this.#state, reload: this.#options.reload },
      request,
    );
  }

  async #run(builder: Builder): Promise<void> {
    this.#restored = builder.restore(this.#stopping.signal);
    this.#note(this.#restored);
    for (const pipeline of this.#components.sources.values()) this.#startReading(pipeline);
    // A reload adds to them.
    while (this.#runs.size > 0) await Promise.race([...this.#runs, this.#moreRuns.promise]);
    for (const { batcher } of this.#components.sinks.values()) batcher.open.flush();
    const never = new AbortController().signal;
    // `once` fails when it cannot deliver; any other run ends when all is delivered.
    const patienceMs = this.#options.once ? this.#inForce.config.shutdownTimeoutMs : Infinity;
    await Promise.all([...this.#components.sinks.values()].map((pipeline) => drainSink(pipeline, never, patienceMs)));
  }

  #startReading(pipeline: SourcePipeline): void {
    const read = async (): Promise<void> => {
      if (sourceTypeOf(pipeline.config).isRereadable) await this.#restored;
      if (!this.#report && this.#components.sources.get(pipeline.config.id) === pipeline) await pipeline.source.run();
    };
    this.#note(read());
  }

  /** Keeps the agent running until this work ends. */
  #note(work: Promise<void>): void {
    const noted = work.finally(() => this.#runs.delete(noted));
    this.#runs.add(noted);
    this.#moreRuns.resolve();
    this.#moreRuns = Promise.withResolvers();
  }

  async #stop(deadline: AbortSignal): Promise<StopReport> {
    this.#stopping.abort();
    const lostBytes = await stopComponents(this.#components, deadline, this.#log);
    await saveAtLast(this.#state, this.#clock, deadline);
    clearInterval(this.#timer);
    const deadLetters = this.observe().sources.reduce((sum, { settled }) => sum + settled.dead_lettered, 0);
    const report = { ...countHeld(this.#components), lostBytes, deadLetters, failure: this.#giveUp.failure };
    return { ...report, arePositionsSaved: await this.#close() };
  }

  #tick(): void {
    this.#watchdog.tick();
    this.#watchdog.noteOverdue(this.overdue());
    this.#state.save();
    closeDrained(this.#components, this.#inForce.config, this.#log);
  }
}
