/**
 * Writes each batch into one file, `<dataset>/<YYYY-MM-DD>/<HH>/<key>.ndjson.zst`, by the hour (UTC) in which its first event was read. A
 * batch counts as delivered once its file, the folders above it and its line in the hour's manifest survive a power cut.
 */
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip, zstdCompress } from 'node:zlib';
import { DATASET_NAME } from '../../config/fields/kinds-special.ts';
import type { SinkConfig } from '../../config/model.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Encoding, Outcome, SinkRequest, SendResult, Sink } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import { deleteHidden, findHours, hideHour } from './hours.ts';
import { MAX_AHEAD_MS } from './reading/limits.ts';
import { hourPath, hourTime, KEY } from './reading/names.ts';
import { noteRemoved, type RemovedHour } from './removed.ts';
import { storeFile } from './store-file.ts';

export interface ArchiveConfig extends Pick<SinkConfig, 'id' | 'compression'> {
  readonly path: string;
  readonly maxBytes: number | undefined;
  readonly keepMs: number | undefined;
}

const SUFFIX: Readonly<Record<Encoding, string>> = { zstd: '.ndjson.zst', gzip: '.ndjson.gz', identity: '.ndjson' };

/** By folder: a sink that a reload replaced may still write. */
const turns = new Map<string, Promise<unknown>>();

export function createArchiveSink(config: ArchiveConfig, clock: Clock, log: Log): Sink {
  const { id, path } = config;
  /** Bytes by folder; undefined before the first batch. */
  let hours: Map<string, number> | undefined;
  /** Hours that this process began to write. */
  const begun = new Set<string>();
  const unsynced = new Set<string>();
  /** Hours that were removed since the last batch was stored. */
  let removed = 0;
  /** Those that are hidden, and not yet deleted and noted. */
  let leaving: RemovedHour[] = [];

  async function store(request: SinkRequest, signal: AbortSignal): Promise<Outcome> {
    const { dataset, key, events, readAtMs } = request;
    if (!DATASET_NAME.test(dataset) || !KEY.test(key))
      return { kind: 'bisect', detail: 'the dataset or key cannot be the name of a file' };
    signal.throwIfAborted();
    try {
      hours ??= await findHours(path);
      const folder = hourPath(dataset, readAtMs ?? clock.now());
      const { body, encoding } = await compressed(config, request);
      await makeRoom(hours, folder, body.length);
      // A process before may have made them, and been killed.
      if (!begun.has(folder))
        for (let above = folder; above !== '.'; unsynced.add(join(path, above))) above = dirname(above);
      begun.add(folder);
      const bytes = await storeFile(path, folder, { name: key + SUFFIX[encoding], key, events, body }, unsynced);
      hours.set(folder, (hours.get(folder) ?? 0) + bytes);
      const facts = {
        archive_files_total: 1,
        archive_written_bytes_total: bytes,
        archive_removed_hours_total: removed,
      };
      removed = 0;
      return { kind: 'delivered', stored: events, facts };
    } catch (error) {
      const fix =
        codeOf(error) === 'ENOSPC'
          ? 'make room on its disk, or lower max_bytes'
          : 'let the user that runs the agent write there';
      return { kind: 'pause', reason: 'unwritable', detail: `cannot write to ${path}: ${messageOf(error)}`, fix };
    }
  }

  /** Removes the oldest hours, but never those of this batch's time, nor later ones. Before it is written: the disk may be full. */
  async function makeRoom(known: Map<string, number>, current: string, bytes: number): Promise<void> {
    const { maxBytes = Infinity, keepMs = Infinity } = config;
    const since = Number.isFinite(keepMs) ? hourTime(hourPath('', clock.now() - keepMs)) : '';
    // A clock that was wrong dated these: they go first, or they would push out each hour that is written from now on.
    const ahead = hourTime(hourPath('', clock.now() + MAX_AHEAD_MS));
    const stays = (time: string): boolean => time === hourTime(current) || (time > hourTime(current) && time <= ahead);
    // Without their dataset folders sort by time.
    const orderOf = (folder: string): string => (hourTime(folder) > ahead ? ' ' : '') + hourTime(folder);
    let total = [...known.values()].reduce((sum, each) => sum + each, bytes);
    const old = [...known.keys()].filter((folder) => total > maxBytes || hourTime(folder) < since);
    for (const folder of old.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))) {
      const because = hourTime(folder) < since ? 'keep' : total > maxBytes ? 'max_bytes' : undefined;
      if (because === undefined || stays(hourTime(folder))) continue;
      const entries = await hideHour(path, folder);
      total -= known.get(folder) ?? 0;
      if (entries) {
        log.warn({ sink: id, hour: folder, bytes: known.get(folder), because }, 'the archive removed an old hour');
        removed += 1;
        leaving.push({ because, folder, entries });
      }
      known.delete(folder);
      begun.delete(folder);
    }
    if (leaving.length === 0) return;
    for (const { folder } of leaving) await deleteHidden(path, folder);
    await noteRemoved(path, leaving);
    leaving = [];
  }

  return {
    id,
    async send(request, signal): Promise<SendResult> {
      const startedAt = clock.monotonic();
      const turn = (turns.get(path) ?? Promise.resolve()).then(() => store(request, signal));
      const ended = turn.catch(() => {});
      turns.set(path, ended);
      const outcome = await turn;
      return {
        outcome,
        elapsedMs: clock.monotonic() - startedAt,
        ...(outcome.kind === 'pause' && { unsent: 'unconnected' }),
      };
    },
    close: () => Promise.resolve(),
  };
}

const COMPRESS = {
  zstd: (body: Uint8Array) => promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (body: Uint8Array) => promisify(gzip)(body, { level: 1 }),
};

/** The batcher leaves a body as it is that compression makes no smaller; every file has the form that was asked for all the same. */
async function compressed(
  { compression }: ArchiveConfig,
  { body, encoding }: SinkRequest,
): Promise<{ body: Uint8Array; encoding: Encoding }> {
  if (encoding !== 'identity' || (compression !== 'zstd' && compression !== 'gzip')) return { body, encoding };
  return { body: await COMPRESS[compression](body), encoding: compression };
}
