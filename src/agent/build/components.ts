/** The sources and sinks of a running agent, and the accounting of every source that events were accepted from. */
import type { Batch } from '../../batcher/batch.ts';
import { Accounting } from '../../batcher/accounting.ts';
import type { SourceLane } from '../../batcher/fill/lane.ts';
import type { Route } from '../../batcher/fill/router.ts';
import { DeletedFiles } from '../../batcher/keep/deleted-files.ts';
import type { PauseWatcher } from '../../batcher/queue.ts';
import type { Source, SourceStats } from '../../core/source.ts';
import type { State } from '../../state/database/store.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import type { SinkPipeline } from './sink-pipeline.ts';

export interface SourcePipeline {
  readonly config: SourceConfig;
  readonly source: Source;
  readonly stats: SourceStats;
  readonly accounting: Accounting;
  readonly lane: SourceLane;
  /** For the bytes of files that were deleted before they were read. */
  readonly rescue: { readonly accounting: Accounting; readonly lane: SourceLane };
  /** Of dead letters that are sent again. */
  readonly replayed: Accounting;
  /** The ways from the source to its sinks as they are now, of one lane; those that did not change are `kept`. */
  readonly routes: (kept: readonly Route[]) => readonly Route[];
  /** Gives its memory back, once it has stopped. */
  readonly release: () => void;
}

export class Components {
  readonly sinks = new Map<string, SinkPipeline>();
  readonly sources = new Map<string, SourcePipeline>();
  /** Sources that a reload removed, as long as events of theirs are held. */
  readonly removed = new Map<string, SourcePipeline>();
  /** Accounting of sources that the disk buffer or dead letters still hold events of and that are not configured any more. */
  readonly formerAccounting = new Map<string, Accounting>();

  readonly deletedFiles = new DeletedFiles(this.sinks);
  /** Is told of the pauses of every sink. */
  watcher: PauseWatcher | undefined;

  /** The dead letters have room again. */
  retryLetters(): void {
    for (const { delivery } of this.sinks.values()) delivery.parked.retryLetters();
  }

  /** Makes the accounting for a source that is not configured any more. */
  accountingOf(source: string): Accounting {
    const current =
      (this.sources.get(source) ?? this.removed.get(source))?.accounting ?? this.formerAccounting.get(source);
    if (current) return current;
    const accounting = new Accounting(source);
    this.formerAccounting.set(source, accounting);
    return accounting;
  }

  /** Where replayed dead letters of a source are counted. */
  replayAccountingOf(source: string): Accounting {
    return (this.sources.get(source) ?? this.removed.get(source))?.replayed ?? this.accountingOf(source);
  }

  /** Batches of every sink that are not settled, open ones included. */
  *batches(): Generator<Batch> {
    for (const pipeline of this.sinks.values()) {
      yield* pipeline.batcher.open.list();
      yield* pipeline.queue.all;
    }
  }

  /** Forgets connections and runs of earlier processes: what they sent is in the disk buffer. */
  forgetFormerRuns(state: Pick<State, 'streams'>): void {
    for (const { config } of this.sources.values()) {
      if (sourceTypeOf(config).isRereadable) continue;
      for (const { id } of state.streams.list(config.id)) state.streams.forget(id);
    }
  }

  get lostBytes(): number {
    return [...this.sources.values()].reduce((sum, { stats }) => sum + stats.lostBytes, 0);
  }
}
