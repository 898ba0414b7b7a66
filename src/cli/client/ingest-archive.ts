/**
 * `tailrace ingest --archive DIR`: stores the files of an archive, each in its dataset under the key of its batch. Sends only files that
 * match their manifest, names the others and goes on. Holds a few files at a time.
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { Client } from '../../client/client.ts';
import { ingestStream } from '../../client/ingest/ingest-stream.ts';
import { CLIENT_CHUNKS_IN_FLIGHT, CLIENT_NAMED_FAILURES } from '../../client/limits.ts';
import { messageOf } from '../../core/errors.ts';
import { SERVICE_KEPT_KEYS } from '../../service/limits.ts';
import { countEvents, unpack } from '../../sinks/archive/reading/content.ts';
import { listHours } from '../../sinks/archive/reading/folders.ts';
import { hourPath, hourTime as timeOfHour } from '../../sinks/archive/reading/names.ts';
import { type HourPart, readHour } from '../../sinks/archive/reading/read-hour.ts';
import type { ArgumentsOf } from '../options/command-options.ts';
import { groupDigits, plural, say, usageError } from '../output/say.ts';
import { countsOf, describeProgress, describeTotals, follow, newTotals } from './ingest-totals.ts';
import { write } from './output/print.ts';
import { type Progress, untilStopped } from './output/progress.ts';
import { timeMsOf } from './query-range.ts';
import { ensureDataset, withClient } from './with-client.ts';

type Args = ArgumentsOf<'ingest'>;

/** A key identifies unchanged events. */
const NOT_TAKEN = ['format', 'labels', 'timestampField', 'timestampFormat', 'csvDelimiter', 'csvFields'] as const;

const dayOf = (hour: string): string => timeOfHour(hour).slice(0, -3);

/** Resolves with 0 when every file was stored whole, else 1. */
export async function ingestArchive(folder: string, dataset: string | undefined, args: Args): Promise<number> {
  const since = checkArguments(folder, dataset, args);
  const root = resolve(folder);
  return untilStopped(async (progress, stop) => {
    const run = new ArchiveRun(args, progress);
    const all = await listHours(root, (path, why) => run.leaveOut(path, why));
    if (all.length === 0 && run.leftOut === 0)
      throw usageError(
        `"${folder}" is no archive: it has no folder DATASET/YYYY-MM-DD/HH`,
        'give the `path` of an archive sink',
      );
    const hours = all.filter((hour) => timeOfHour(hour) >= since);
    return withClient(
      args,
      () => run.failedIn,
      async (client) => {
        const isDone = await sendHours(run, client, root, hours, progress, stop);
        await write(args.json ? `${JSON.stringify(run.asJson(root))}\n` : run.describe());
        return isDone && run.totals.failed + run.leftOut === 0 ? 0 : 1;
      },
    );
  });
}

/** Resolves with false where `stop` came first. Says where to go on after that, and after a failure; each day, as a kill leaves no time to. */
async function sendHours(
  run: ArchiveRun,
  client: Client,
  root: string,
  hours: readonly string[],
  progress: Progress,
  stop: AbortSignal,
) {
  let at = 0;
  const name = (): string => `${dayOf(hours[at]!)} ${hours[at]!.slice(-2)}h ${at + 1}/${hours.length}`;
  try {
    for (; at < hours.length; at++) {
      await run.sendHour(
        client,
        root,
        hours[at]!,
        () => progress.show(() => describeProgress(name(), run.totals)),
        stop,
      );
      if (stop.aborted) return false;
      const next = hours[at + 1];
      if (next !== undefined && dayOf(next) !== dayOf(hours[at]!))
        progress.say(`tailrace: all before ${dayOf(next)} is done: ${plural(run.totals.ingested, 'event')}`);
    }
    return true;
  } finally {
    progress.end();
    if (at < hours.length)
      say(`tailrace: to go on from here, add --since ${dayOf(hours[at]!)}T${hours[at]!.slice(-2)}:00Z`);
  }
}

/** The first hour that is wanted, as `YYYY-MM-DD/HH`. Throws `UsageError`. */
function checkArguments(folder: string, dataset: string | undefined, args: Args): string {
  if (dataset !== undefined)
    throw usageError(
      `the folders of an archive name its datasets, and "${dataset}" was given, too`,
      'leave it or --archive out',
    );
  const wrong = NOT_TAKEN.find((name) => args[name] !== undefined);
  const flag = wrong?.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (flag !== undefined)
    throw usageError(`--archive does not take --${flag}`, 'leave it out: events of an archive are sent as they are');
  try {
    if (!statSync(folder).isDirectory()) throw new Error('it is no folder');
  } catch (cause) {
    throw usageError(
      `cannot read the archive "${folder}": ${messageOf(cause)}`,
      'nothing was sent; correct the path',
      cause,
    );
  }
  return args.since === undefined ? '' : timeOfHour(hourPath('', timeMsOf('--since', args.since, Date.now())));
}

class ArchiveRun {
  readonly totals = newTotals(undefined);
  /** Files and folders that are not as they should be. */
  leftOut = 0;
  /** The dataset of a request that failed. */
  failedIn: string | undefined;
  readonly #args: Args;
  readonly #progress: Progress;
  readonly #named: { readonly file: string; readonly reason: string }[] = [];
  readonly #datasets = new Map<string, { files: number; ingested: number; failed: number }>();

  constructor(args: Args, progress: Progress) {
    this.#args = args;
    this.#progress = progress;
  }

  leaveOut(file: string, reason: string): undefined {
    this.leftOut += 1;
    if (this.#named.length === CLIENT_NAMED_FAILURES) return undefined;
    this.#named.push({ file, reason });
    this.#progress.say(`tailrace: left out ${file}: ${reason}`);
    if (this.#named.length === CLIENT_NAMED_FAILURES)
      this.#progress.say('tailrace: what else is left out is counted, not named');
    return undefined;
  }

  /** Resolves once every file of the hour that was begun is stored. */
  async sendHour(client: Client, root: string, hour: string, show: () => void, stop: AbortSignal): Promise<void> {
    const dataset = hour.slice(0, hour.indexOf('/'));
    const counts = this.#datasets.get(dataset) ?? { files: 0, ingested: 0, failed: 0 };
    const flights = new Set<Promise<void>>();
    let failure: { readonly error: unknown } | undefined;
    const send = async (path: string, key: string, text: Buffer): Promise<void> => {
      const { compression } = this.#args;
      const told = follow(this.totals, this.#progress, path, show);
      try {
        const sent = await ingestStream(client, dataset, Readable.from([text]), {
          format: 'ndjson',
          key,
          ...(compression && { compression }),
          ...told,
        });
        counts.files += 1;
        counts.ingested += sent.ingested;
        counts.failed += sent.failed;
      } catch (error) {
        this.failedIn ??= dataset;
        failure ??= { error };
      }
    };
    for await (const part of readHour(join(root, hour))) {
      if (stop.aborted || failure) break;
      const text = await this.#textOf(part);
      if (!text) continue;
      if (!this.#datasets.has(dataset) && this.#args.createDataset) await ensureDataset(client, { name: dataset });
      this.#datasets.set(dataset, counts);
      this.totals.readBytes += text.content.length;
      const flight = send(part.path, text.key, text.events).finally(() => flights.delete(flight));
      flights.add(flight);
      if (flights.size >= CLIENT_CHUNKS_IN_FLIGHT) await Promise.race(flights);
    }
    await Promise.all(flights);
    if (failure) throw failure.error;
  }

  /** The key and events of a file that is whole; undefined for any other, which is named. */
  async #textOf(
    part: HourPart,
  ): Promise<{ readonly key: string; readonly content: Buffer; readonly events: Buffer } | undefined> {
    if (part.kind === 'damaged') return this.leaveOut(part.path, part.why);
    if (part.kind === 'unfinished')
      return this.leaveOut(part.path, 'it is not whole; the agent that wrote it writes it anew when it starts again');
    const { path, key, content } = part;
    let events: Buffer;
    try {
      events = await unpack(path, content);
    } catch (error) {
      return this.leaveOut(part.path, `it cannot be unpacked: ${messageOf(error)}`);
    }
    const found = countEvents(events);
    if (part.kind === 'listed' && found !== part.entry.events)
      return this.leaveOut(
        part.path,
        `it has ${plural(found, 'event')}, the manifest says ${groupDigits(part.entry.events)}`,
      );
    return { key, content, events };
  }

  asJson(archive: string): object {
    const files = [...this.#datasets.values()].reduce((sum, each) => sum + each.files, 0);
    return {
      archive,
      datasets: Object.fromEntries(this.#datasets),
      files,
      left_out: this.#named,
      ...countsOf(this.totals),
    };
  }

  describe(): string {
    const names = [...this.#datasets.keys()];
    const into = names.length > 3 ? plural(names.length, 'dataset') : names.join(', ') || 'no dataset';
    const files = [...this.#datasets.values()].reduce((sum, each) => sum + each.files, 0);
    if (this.leftOut > 0)
      say(
        `tailrace: ${plural(this.leftOut, 'path')} left out; tailrace ingest DATASET FILE sends what can be read of a file`,
      );
    for (const [name, { files: sent }] of this.#datasets)
      if (sent > SERVICE_KEPT_KEYS)
        say(
          `tailrace: ${name} got ${plural(sent, 'file')}, and the local service remembers the last ${groupDigits(SERVICE_KEPT_KEYS)} keys of a dataset: a second run wants --since`,
        );
    return describeTotals(into, this.totals, `${plural(files, 'file')}, `);
  }
}
