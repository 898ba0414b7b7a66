/**
 * What `tailrace check` finds when it tries formats, times and transforms on the first lines of files that match: a warning where most
 * lines fail, with an example, and where none has a field that is named. A line is quoted only where no transform could hide a part of it.
 */
import { Readable } from 'node:stream';
import { type PreviewedEvent, Previewer } from '../../agent/preview/previewer.ts';
import { unknownZonesIn } from '../../agent/preview/unknown-zones.ts';
import { FieldChecks } from '../../agent/preview/field-checks.ts';
import type { ConfigProblem } from '../../config/config-error.ts';
import type { ReadConfig } from '../../config/load/load.ts';
import type { Config } from '../../config/model.ts';
import type { LineConfig } from '../../sources/common/line-fields.ts';
import { quote } from '../../config/quote.ts';
import type { JsonValue } from '../../core/block.ts';
import { silentLog } from '../../core/log.ts';
import { systemClock } from '../../core/time/clock.ts';
import { type FileSystem, readHead, withOpenIfReadable } from '../../sources/file/scan/file-system.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { isGzipOrZstdName } from '../../sources/file/scan/rotated-names.ts';
import { readsLines, sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import type { CaseChecks } from './check-cases.ts';
import type { Locate } from './check-machine.ts';

/** Files of a source that are read, and how much of each. */
const MAX_FILES = 3;
const MAX_BYTES = 64 * 1024;
const MAX_LINES = 100;
const MAX_SHOWN = 120;
/** Fewer filtered events may be a coincidence. */
const MIN_FILTERED = 3;
/** Fewer JSON lines say little of the others. */
const MIN_OBJECTS = 10;
const NEWLINE = 0x0a;
/** Keys by which programs name the machine that they run on. */
const HOST_KEY =
  /^(?:(?:agent|beat|k8s|kubernetes|resource|source)[._])?(?:host|node|computer|machine)(?:[._-]?(?:name|id))?$/i;

type FaultKind = 'format' | 'time' | 'transform';

/** Warnings, each at the key that fails. Reads files and nothing else. */
export async function checkSamples(
  config: Config,
  read: Pick<ReadConfig, 'locate' | 'locateIn'>,
  cases: CaseChecks,
): Promise<ConfigProblem[]> {
  const warnings: ConfigProblem[] = [];
  const fields = new FieldChecks();
  const locate: Locate = (path) => read.locate(path);
  for (const source of config.sources) {
    if (!readsLines(source)) continue;
    const events = await checkSource(config, source, locate, fields, warnings);
    for (const sink of config.sinks) if (sink.inputs.includes(source.id)) cases.add(config, source, sink, events, read);
  }
  return [...warnings, ...fields.warnings(read)];
}

/** Returns the first events, before their transforms. */
async function checkSource(
  config: Config,
  source: SourceConfig & LineConfig,
  locate: Locate,
  fields: FieldChecks,
  warnings: ConfigProblem[],
): Promise<readonly Record<string, JsonValue>[]> {
  const files = await sourceTypeOf(source).files?.find(source, new ListedPrivateFiles(() => config, systemClock));
  if (!files) return [];
  const { found: all, fileSystem } = files;
  const found = [...all.keys()].filter((path) => !isGzipOrZstdName(path)).slice(0, MAX_FILES);
  const hides = [source, config, ...config.sinks].some(({ transform }) => transform !== undefined);
  const faults = new Map<FaultKind, SampleFault>();
  let events: readonly Record<string, JsonValue>[] = [];
  let objects: readonly Record<string, JsonValue>[] = [];
  for (const sink of config.sinks.filter(({ inputs }) => inputs.includes(source.id))) {
    const trial = new Trial();
    const previewer = await Previewer.create({
      config,
      source,
      sink,
      log: silentLog,
      record: (event) => trial.add(event),
    });
    try {
      for (const path of found) {
        trial.path = path;
        await previewer.read(path, Readable.from([firstLines(fileSystem, path)]));
      }
    } finally {
      await previewer.close();
    }
    // Before the transforms they are the same for every sink.
    ({ before: events, objects } = trial);
    for (const found of trial.describe(hides)) faults.set(found.fault, found);
  }
  await fields.add(config, source, events);
  warnings.push(...warnOfZones(source, events, locate), ...warnOfOrigin(source, objects, locate));
  for (const { fault, message, fix } of faults.values())
    warnings.push({ ...locate(placeOf(config, source, fault)), message, fix });
  return events;
}

/** Names the zones in front of which times are not taken. */
function warnOfZones(
  { id, time }: LineConfig,
  events: readonly Record<string, JsonValue>[],
  locate: Locate,
): ConfigProblem[] {
  if (!('timezone' in time)) return [];
  const names = new Set(events.flatMap((event) => [...unknownZonesIn(event, time.timezone)]));
  if (names.size === 0) return [];
  const message = `times in front of ${[...names].map((name) => `\`${quote(name)}\``).join(' and ')} are not taken: no one offset belongs to the name`;
  const fix = 'name the zone in `time: {timezone: …}`, or let the program write UTC or an offset';
  return [{ ...locate(`sources.${id}.time`), message, fix }];
}

/** JSON lines pass through as they are: on many hosts nobody could tell whose they are. */
function warnOfOrigin(
  { id, origin }: SourceConfig,
  objects: readonly Record<string, JsonValue>[],
  locate: Locate,
): ConfigProblem[] {
  if (origin !== undefined || objects.length < MIN_OBJECTS || objects.some((event) => namesHost(event))) return [];
  const message = `none of ${objects.length} JSON lines of \`${id}\` names its host`;
  const fix =
    'write `origin: [host, file]` here or at the top, which adds both to every event; `origin: []` where it is not wanted';
  return [{ ...locate(`sources.${id}`), message, fix }];
}

/** By a key of its own, or by one in an object of its. */
function namesHost(event: Record<string, JsonValue>): boolean {
  return Object.entries(event).some(
    ([key, value]) =>
      HOST_KEY.test(key) || Object.keys(Object(value)).some((inner) => HOST_KEY.test(`${key}.${inner}`)),
  );
}

/** Whole lines at the file's beginning; none where it cannot be read. */
function firstLines(fileSystem: FileSystem, path: string): Buffer {
  const bytes = withOpenIfReadable(fileSystem, path, (fd) => readHead(fileSystem, fd, MAX_BYTES)) ?? Buffer.alloc(0);
  let end = 0;
  for (let lines = 0; lines < MAX_LINES; lines++) {
    const newline = bytes.indexOf(NEWLINE, end);
    if (newline < 0) break;
    end = newline + 1;
  }
  return bytes.subarray(0, end);
}

/** The key to fix; its source where none is written. */
function placeOf({ transform, sinks }: Config, { id, transform: own, formats }: LineConfig, fault: FaultKind): string {
  if (fault === 'time') return `sources.${id}.time`;
  if (fault === 'format') return `sources.${id}.${formats.length > 0 ? 'formats' : 'format'}`;
  return (own ?? transform ?? sinks.find((sink) => sink.transform)?.transform)?.path ?? `sources.${id}`;
}

interface SampleFault {
  readonly fault: FaultKind;
  readonly message: string;
  readonly fix: string;
}

class Trial {
  path = '';
  /** The events before their transforms. */
  readonly before: Record<string, JsonValue>[] = [];
  /** Those of lines that begin as JSON objects do. */
  readonly objects: Record<string, JsonValue>[] = [];
  #events = 0;
  #filtered = 0;
  readonly #faults: Record<
    FaultKind,
    { count: number; example?: { readonly path: string; readonly text: string; readonly reason: string } }
  > = {
    format: { count: 0 },
    time: { count: 0 },
    transform: { count: 0 },
  };

  add({ text, before, sent, refusals, isDropped }: PreviewedEvent): void {
    this.#events += 1;
    if (sent.length === 0 && refusals.length === 0 && !isDropped) this.#filtered += 1;
    const event = JSON.parse(before ?? '{}') as Record<string, JsonValue>;
    if (before !== undefined) this.before.push(event);
    if (before !== undefined && /^\s*\{/.test(text)) this.objects.push(event);
    const { parse_error: parse, time_error: time } = event;
    if (parse !== undefined) this.#note('format', text, textOf(parse));
    if (time !== undefined) this.#note('time', text, 'its time cannot be read');
    const error = sent
      .map((event) => (JSON.parse(event) as Record<string, unknown>)['transform_error'])
      .find((each) => each !== undefined);
    const reason = error ?? (before === undefined ? undefined : refusals[0]) ?? (isDropped ? 'it fails' : undefined);
    if (reason !== undefined) this.#note('transform', text, textOf(reason));
  }

  /** The faults of most events. */
  describe(hides: boolean): SampleFault[] {
    const fixes: Record<FaultKind, string> = {
      format: 'choose another `format`, or a `preset`: `tailrace preview` shows what becomes of lines',
      time: 'correct `time.field` or `time.format`: `tailrace preview` shows what becomes of lines',
      transform: 'see what it does with `tailrace preview --diff`',
    };
    const found = (['format', 'time', 'transform'] as const).flatMap((fault) => {
      const { count, example } = this.#faults[fault];
      if (!example || count * 2 <= this.#events) return [];
      const { path, text, reason } = example;
      const line = hides ? '' : `, such as \`${quote(text, MAX_SHOWN)}\``;
      const message = `the ${fault} fails on ${count} of the first ${this.#events} events of the files${line}: ${quote(reason, MAX_SHOWN)} (${quote(path, MAX_SHOWN)})`;
      return [{ fault, message, fix: fixes[fault] }];
    });
    if (this.#events < MIN_FILTERED || this.#filtered < this.#events) return found;
    const message = `the transform leaves out all of the first ${this.#events} events of the files`;
    return [...found, { fault: 'transform', message, fix: `${fixes.transform}; a text in it stands in quotes` }];
  }

  #note(fault: FaultKind, text: string, reason: string): void {
    const found = this.#faults[fault];
    found.count += 1;
    found.example ??= { path: this.path, text, reason };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
