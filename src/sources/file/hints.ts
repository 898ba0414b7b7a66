/**
 * Ends the wait between two scans early when something changed in a folder that the globs start in. Hints only: the scan is
 * the truth. A watch costs more than a scan a second does (figures in docs/tailing.md), so chokidar is loaded only where
 * scans are further apart, and given up for good when there are many files or the system has no watches left.
 */
import type { FSWatcher } from 'chokidar';
import type { Clock } from '../../core/clock.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import { HINT_PAUSE_MS, HINTS_FROM_SCAN_INTERVAL_MS, MAX_WATCHED_FILES, MAX_WATCHED_FOLDERS } from '../../core/limits.ts';
import type { Log } from '../../core/log.ts';

export interface HintsOptions {
  readonly folders: readonly string[];
  readonly scanIntervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export class Hints {
  readonly #options: HintsOptions;
  #watcher: FSWatcher | undefined;
  #isGivenUp: boolean;
  #wake = new AbortController();

  constructor(options: HintsOptions) {
    this.#options = options;
    this.#isGivenUp = options.scanIntervalMs < HINTS_FROM_SCAN_INTERVAL_MS;
  }

  /** True while changes are watched for. */
  get isWatching(): boolean {
    return this.#watcher !== undefined;
  }

  /** Starts to watch, where that pays; resolves once the watches are there. */
  async start(): Promise<void> {
    if (this.#isGivenUp) return;
    const { watch } = await import('chokidar');
    const folders = this.#options.folders.slice(0, MAX_WATCHED_FOLDERS);
    // Folders only: what happens to the files in them is told by the same watch.
    const watcher = watch(folders, { ignoreInitial: true, depth: 0, ignored: (_path, stats) => stats?.isFile() === true });
    this.#watcher = watcher;
    watcher.on('raw', () => this.#wake.abort());
    watcher.on('error', (error) =>
      this.#giveUp({ code: codeOf(error), reason: messageOf(error) }, 'cannot watch for changes, scanning only'),
    );
    // Without a watch left it is never ready.
    await new Promise<void>((resolve) => watcher.once('ready', resolve).once('error', () => resolve()));
  }

  /** Waits for the scan interval, or for a hint, of which there is at most one in HINT_PAUSE_MS. Never rejects. */
  async wait(files: number, signal: AbortSignal): Promise<void> {
    const { clock, scanIntervalMs } = this.#options;
    if (files > MAX_WATCHED_FILES) this.#giveUp({ files, limit: MAX_WATCHED_FILES }, 'too many files to watch for changes, scanning only');
    if (!this.#watcher) return clock.sleep(scanIntervalMs, signal);
    await clock.sleep(HINT_PAUSE_MS, signal);
    await clock.sleep(scanIntervalMs - HINT_PAUSE_MS, AbortSignal.any([signal, this.#wake.signal]));
    // From here on a change may come after the scan looked.
    this.#wake = new AbortController();
  }

  async close(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    await watcher?.close();
  }

  #giveUp(fields: object, text: string): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    this.#options.log.warn(fields, text);
    this.#wake.abort();
    void this.close();
  }
}
