/**
 * What `tailrace check` finds of names: a field that a transform hides, removes or compares, or that `time.field` names, and that none of the
 * first events has, is likely misspelt. Shows names of fields and no value.
 */
import type { ConfigProblem } from '../../config/config-error.ts';
import type { ReadConfig } from '../../config/load/load.ts';
import type { Config } from '../../config/model.ts';
import type { LineConfig } from '../../sources/common/line-fields.ts';
import { nearest } from '../../config/nearest.ts';
import { quote } from '../../config/quote.ts';
import type { JsonValue } from '../../core/block.ts';
import { compilePathPattern } from '../../parsers/text/pattern.ts';
import { hasField } from '../../shaping/rows/values/paths.ts';
import { wantedFields } from '../../shaping/rows/wanted-fields.ts';

/** Fewer events prove nothing: fields may be optional. */
const MIN_EVENTS = 5;
/** Names of the events' fields that a misspelt one is compared with, and how deep to search for them. */
const MAX_NAMES = 1000;
const MAX_DEPTH = 4;
/** Fields that the agent itself adds, where there is a reason to. */
const AGENT_FIELDS = [
  ...['_time', 'message', 'host', 'file', 'container_name', 'parse_error', 'time_error', 'transform_error'],
  ...['truncated', 'original_bytes', 'part', 'part_last'],
];

type EventObject = Readonly<Record<string, JsonValue>>;

interface Tally {
  readonly name: string;
  /** Identifies the step of a transform, or the key, that names it. */
  readonly step: string;
  readonly mayBeText: boolean;
  readonly place: (read: Pick<ReadConfig, 'locate' | 'locateIn'>) => Pick<ConfigProblem, 'file' | 'line' | 'column'>;
  readonly isTime: boolean;
  isThere: boolean;
  events: number;
  readonly names: Set<string>;
}

/** Of all sources: those that share a transform may have fields of their own. */
export class FieldChecks {
  readonly #tallies = new Map<string, Tally>();

  /** `events`: the first ones of the source, before their transforms. */
  async add(config: Config, source: LineConfig, events: readonly EventObject[]): Promise<void> {
    const parsed = events.filter((event) => !Object.hasOwn(event, 'parse_error'));
    const pathPatterns = await Promise.all(source.pathFields.map(compilePathPattern));
    const given = new Set([
      ...AGENT_FIELDS,
      ...Object.keys(source.fields),
      ...pathPatterns.flatMap((pattern) => pattern.names),
    ]);
    const names = namesOf(parsed);
    const rows = parsed.map((event) => new Map(Object.entries(event)));
    const tallies = new Map<Tally, boolean>();
    for (const { transform, inputs } of config.sinks) {
      if (!inputs.includes(source.id)) continue;
      for (const field of wantedFields([source.transform, config.transform, transform].flatMap((each) => each ?? []))) {
        const { path, index, name, mayBeText, isMade } = field;
        const step = `${path} ${index}`;
        const tally = this.#tally(`${step} ${name}`, {
          name,
          step,
          mayBeText,
          isTime: false,
          place: (read) => read.locateIn(path, index),
        });
        tallies.set(tally, isMade);
      }
    }
    if (source.time.kind === 'given' && source.time.field !== undefined) {
      const path = `sources.${source.id}.time.field`;
      tallies.set(
        this.#tally(path, {
          name: source.time.field,
          step: path,
          mayBeText: false,
          isTime: true,
          place: (read) => read.locate(path),
        }),
        false,
      );
    }
    for (const [tally, isMade] of tallies) {
      tally.isThere ||= isMade || given.has(tally.name) || rows.some((row) => hasField(row, tally.name));
      tally.events += parsed.length;
      for (const name of names) tally.names.add(name);
    }
  }

  /** Names of one step that resemble no field share a warning: they may be optional fields. */
  warnings(read: Pick<ReadConfig, 'locate' | 'locateIn'>): ConfigProblem[] {
    const warned = new Map<string, { readonly tally: Tally; readonly fix: string; readonly names: string[] }>();
    for (const [key, tally] of this.#tallies) {
      if (tally.isThere || tally.events < MIN_EVENTS) continue;
      const fix = meantBy(tally);
      const { step, name } = tally;
      const shared = fix === undefined ? warned.get(step) : undefined;
      if (shared) shared.names.push(name);
      else warned.set(fix === undefined ? step : key, { tally, fix: fix ?? UNLIKE_FIX, names: [name] });
    }
    return [...warned.values()].map(({ tally: { events, isTime, place }, fix, names }) => {
      const so = isTime ? ', so that their time is that of the read' : '';
      return {
        ...place(read),
        message: `none of the first ${events} events has ${names.map((name) => `\`${quote(name)}\``).join(' or ')}${so}`,
        fix,
      };
    });
  }

  #tally(key: string, start: Pick<Tally, 'name' | 'step' | 'mayBeText' | 'isTime' | 'place'>): Tally {
    const tally = this.#tallies.get(key) ?? { ...start, isThere: false, events: 0, names: new Set() };
    this.#tallies.set(key, tally);
    return tally;
  }
}

const UNLIKE_FIX =
  'correct the name, or leave it if only some events have the field; `tailrace preview` shows the fields that they have';

/** Undefined for a name that resembles none of the events' fields. */
function meantBy({ name, names, mayBeText }: Tally): string | undefined {
  const near = [...names].find((each) => each.endsWith(`.${name}`)) ?? nearest(name, names);
  const meant = near === undefined ? [] : [`did you mean \`${quote(near)}\`?`];
  if (mayBeText) return [...meant, `a text stands in quotes: \`"${quote(name)}"\``].join(' ');
  return meant[0];
}

/** With dots for fields of objects. */
function namesOf(events: readonly EventObject[]): Set<string> {
  const names = new Set<string>();
  const look = (object: EventObject, prefix: string, depth: number): void => {
    for (const [key, value] of Object.entries(object)) {
      if (names.size >= MAX_NAMES) return;
      names.add(`${prefix}${key}`);
      if (depth < MAX_DEPTH && typeof value === 'object' && value !== null && !Array.isArray(value))
        look(value, `${prefix}${key}.`, depth + 1);
    }
  };
  for (const event of events) look(event, '', 1);
  return names;
}
