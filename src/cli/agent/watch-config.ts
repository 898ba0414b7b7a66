/**
 * `run --watch-config`: asks for a reload when a file of the configuration changed: the named one, those of `include_config` and `presets.d`, and scripts. Files are compared
 * by content once they are at rest, so that a half-written one is not taken, and one that is only touched changes nothing.
 */
import { orElse } from '../output/or-else.ts';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../config/load/load.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { fitsWildcards } from '../../core/text/wildcards.ts';

/** Files count as written once they stay as they are for this long. */
const AT_REST_MS = 500;

/** The part of chokidar that is used. */
interface Chokidar {
  watch(
    folders: readonly string[],
    options: { ignoreInitial: boolean; depth: number; ignored: (path: string) => boolean },
  ): FolderWatcher;
}

interface FolderWatcher {
  on(event: 'all' | 'error', listener: (what: unknown) => void): void;
  once(event: 'ready', listener: () => void): void;
  close(): Promise<void>;
}

export interface ConfigWatcher {
  close(): Promise<void>;
}

interface WatchState {
  /** Of all files. */
  readonly digest: string;
  /** Paths and patterns, absolute. */
  readonly paths: readonly string[];
}

/** Call before the configuration is loaded: what changes from then on is noticed by the watch that it returns. */
export function prepareWatch(file: string): (log: Log, reload: () => Promise<unknown>) => Promise<ConfigWatcher> {
  const loaded = readState(file);
  return (log, reload) => watchConfig(file, loaded, log, reload);
}

/** Resolves once it watches. `reload` loads the configuration, and leaves the one before in force where it has problems. */
async function watchConfig(
  file: string,
  loaded: WatchState,
  log: Log,
  reload: () => Promise<unknown>,
): Promise<ConfigWatcher> {
  let known = loaded;
  const stop = new AbortController();
  let isChecking = false;
  let isAskedAgain = false;
  let watcher: FolderWatcher | undefined;
  const chokidar = await loadChokidar();

  /** Reads the files until they are at rest, and asks for a reload where they are not what they were. */
  async function check(): Promise<void> {
    isAskedAgain = true;
    if (isChecking) return;
    isChecking = true;
    while (isAskedAgain && !stop.signal.aborted) {
      isAskedAgain = false;
      const state = await readAtRest(file, stop.signal);
      if (stop.signal.aborted) break;
      if (state.paths.join('\n') !== known.paths.join('\n')) await follow(state.paths);
      const isChanged = state.digest !== known.digest;
      known = state;
      if (!isChanged) continue;
      log.info({ config: file }, 'the configuration changed: reloading it');
      await reload();
    }
    isChecking = false;
  }

  /** Watches these in place of those before. Folders, because files are replaced, and new ones may fit a pattern. */
  async function follow(paths: readonly string[]): Promise<void> {
    await watcher?.close();
    if (stop.signal.aborted) return;
    const folders = [...new Set(paths.map((path) => dirname(path)))];
    // Kubernetes replaces files by a link whose name begins with two dots.
    const belongs = (path: string): boolean =>
      folders.includes(path) ||
      basename(path).startsWith('..') ||
      paths.some((each) => fitsWildcards(path, each, '*?'));
    const next = chokidar.watch(folders, { ignoreInitial: true, depth: 0, ignored: (path) => !belongs(resolve(path)) });
    watcher = next;
    next.on('all', () => void check());
    next.on('error', (error) =>
      log.warn({ config: file, reason: messageOf(error) }, 'the configuration cannot be watched'),
    );
    await new Promise<void>((ready) => next.once('ready', ready));
  }

  await follow(known.paths);
  // What changed before it was watched.
  void check();
  return {
    async close() {
      stop.abort();
      await watcher?.close();
    },
  };
}

async function readAtRest(file: string, stop: AbortSignal): Promise<WatchState> {
  for (let before = readState(file); ;) {
    await sleep(AT_REST_MS);
    const state = readState(file);
    if (state.digest === before.digest || stop.aborted) return state;
    before = state;
  }
}

async function loadChokidar(): Promise<Chokidar> {
  try {
    // Only who watches, and the bundler, needs it installed; the type check does not.
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
    return (await import('chokidar' as string)) as Chokidar;
  } catch (cause) {
    throw new TailraceError('E_NOT_INSTALLED', `--watch-config needs chokidar: ${messageOf(cause)}`, {
      fix: 'run npm ci',
      cause,
    });
  }
}

function readState(file: string): WatchState {
  const { paths, transforms } = readConfig(file, process.env, { leavesSecrets: true });
  const all = [...paths, ...transforms.flatMap((each) => (each.kind === 'script' ? [each.file] : []))].map((path) =>
    resolve(path),
  );
  const unique = [...new Set(all)].toSorted();
  const hash = createHash('sha256');
  for (const path of unique) hash.update(`${path}\0`).update(contentOf(path)).update('\0');
  return { digest: hash.digest('hex'), paths: unique };
}

/** Nothing for a pattern, and for a file that cannot be read: `check` says why. */
const contentOf = (path: string): Uint8Array => orElse<Uint8Array>(Buffer.alloc(0), () => readFileSync(path));
