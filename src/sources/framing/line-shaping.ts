/** How a source's bytes become events, from its configuration: encoding, joining, parsing. Loads the modules for it. */
import { type EventPlace, originFields } from '../../config/fields/origin.ts';
import type { LineConfig, MultilineConfig, TimeConfig } from '../common/line-fields.ts';
import type { EventShape, EventTimes } from '../../core/block.ts';
import { MAX_CSV_HEADER_BYTES } from '../../parsers/limits.ts';
import { JOIN_TIMEOUT_MS, MAX_JOINED_LINES } from './limits.ts';
import { TIME_KEYS } from '../../core/time/forms.ts';
import { createZone } from '../../core/time/zone.ts';
import { loadEncoding } from '../../parsers/text/charset.ts';
import { type TextEncoding, utf8 } from '../../parsers/text/encoding.ts';
import type { Grouping, GroupingLimits } from '../../parsers/text/grouping.ts';
import type { LineParser } from '../../parsers/formats/line-parser.ts';
import type { ValueErrors } from '../../parsers/values/fields.ts';
import type { ShapeSteps, TimeStep } from '../../parsers/shaped-events.ts';
import { compilePathPattern, compilePattern } from '../../parsers/text/pattern.ts';
import { type GroupRule, loadGroupRule } from './group-rule.ts';
import { type ObjectRules, objectRules, PLAIN_OBJECTS } from './cut-object.ts';
import { type LineFormat, loadFormat } from './line-format.ts';

export interface LineShaping {
  /** Of streams that do not begin with a byte order mark. */
  readonly encoding: TextEncoding;
  /** Makes the joining for one window; undefined where each line is an event. */
  readonly grouping: (() => Grouping) | undefined;
  /** Joins lines that carry the same key; undefined where none are. */
  readonly group?: GroupRule | undefined;
  /** Milliseconds after which lines that wait for more of their event are sent. */
  readonly groupTimeoutMs: number;
  /** Makes the parser for one window; undefined where the kernel makes the events. */
  readonly parser: ((errors: ValueErrors) => LineParser) | undefined;
  /** Bytes of a stream's beginning that must be known to read its middle. */
  readonly headBytes: number;
  /** A line with `#Fields` may come anywhere, and holds from there on. */
  readonly hasLaterHeaders: boolean;
  /** The fields that a file's path gives its events. */
  readonly fieldsOf?: (path: string) => Readonly<Record<string, string>>;
  readonly objects: ObjectRules;
  /** All of it that shapes events, for their digest; undefined for plain lines. */
  readonly name: string | undefined;
}

export const plainLines: LineShaping = {
  encoding: utf8,
  grouping: undefined,
  groupTimeoutMs: Infinity,
  parser: undefined,
  headBytes: 0,
  hasLaterHeaders: false,
  objects: PLAIN_OBJECTS,
  name: undefined,
};

/** The shape of the events of a file, or of no file. */
export function shapeOf(config: LineConfig, shaping: LineShaping, place: EventPlace): EventShape {
  const { origin } = config;
  const ofPath = place.file === undefined ? {} : shaping.fieldsOf?.(place.file);
  const fields = { ...originFields(origin, place), ...ofPath, ...config.fields };
  // Where `origin` is written, what it names is among the fields.
  const wrapFields = origin ? {} : { ...place };
  const {
    parser,
    name,
    objects: { objects },
  } = shaping;
  const makesObjects = parser !== undefined && !keepsLines(config);
  const times = eventTimes(config.time, makesObjects);
  const more = {
    ...(name === undefined ? {} : { shaping: name }),
    ...(objects ? { objects } : {}),
    ...(times ? { time: times } : {}),
  };
  // A parser makes objects, which are treated as wrapped lines.
  if (makesObjects) return { format: 'auto', wrapFields: {}, fields: { ...wrapFields, ...fields }, ...more };
  return {
    format: config.format === 'json' || config.format === 'text' ? config.format : 'auto',
    wrapFields,
    fields,
    ...more,
  };
}

/** Characters that a field of a path takes at most. */
const MAX_PATH_FIELD = 256;
/** Formats whose `_time` is text of the log: of a group or column, or read by the format itself to RFC 3339. */
const OWN_TEXTS: ReadonlySet<string> = new Set(['auditd', 'regex', 'csv', 'w3c']);
const OWN_TIMES: ReadonlySet<string> = new Set(['combined', 'cri', 'docker']);
/** Keys that the agent gives events, beside `fields`. */
const AGENT_KEYS = ['host', 'file', 'container_name'];

/** The times that the kernel reads: all of `auto`; for a named field, only the beginning of text, where the field cannot be. */
function eventTimes(time: TimeConfig, makesObjects: boolean): EventTimes | undefined {
  if (time.kind === 'auto') return { zone: time.timezone, keys: TIME_KEYS, messageLeads: makesObjects };
  if (time.kind !== 'given' || time.field === undefined) return undefined;
  return { zone: time.timezone, keys: [], messageLeads: false };
}

/** JSON lines keep their bytes, and text that is no more than a line is left to the kernel. */
function keepsLines({ format, formats, parseJson, time, group }: LineConfig): boolean {
  return (
    !group &&
    (format === 'auto' || format === 'json') &&
    formats.length === 0 &&
    !parseJson &&
    (time.kind !== 'given' || time.field !== undefined)
  );
}

/** Reads times in JavaScript, where the kernel does not; undefined where there is nothing to read. */
async function loadTimes(config: LineConfig): Promise<TimeStep | undefined> {
  const { format, formats, time } = config;
  const names = formats.length > 0 ? formats.map((each) => each.format) : [format];
  const readsTexts = names.some((name) => OWN_TEXTS.has(name));
  const hasOwn = readsTexts || names.some((name) => OWN_TIMES.has(name));
  if (time.kind === 'kept' || (time.kind !== 'given' && !hasOwn)) return undefined;
  const { createGivenTime } = await import('../../parsers/values/given-time.ts');
  const isGiven = time.kind === 'given';
  const zone = createZone('timezone' in time ? time.timezone : 'UTC');
  const isSearched = isGiven && time.field === undefined;
  return {
    field: isGiven ? time.field : undefined,
    own: time.kind === 'read' ? 'drop' : hasOwn ? 'read' : 'keep',
    keys: isSearched ? TIME_KEYS : [],
    leads: isSearched,
    time: createGivenTime({ format: isGiven ? time.format : 'auto', zone }),
    ownTime: hasOwn && !readsTexts ? createGivenTime({ format: 'auto', zone }) : undefined,
    wanted: config.isShaped ? `not ${isGiven && time.format !== 'auto' ? time.format : 'a known format'}` : undefined,
  };
}

/** Throws `TailraceError` `E_PATTERN` for a pattern that cannot be used. */
export async function loadShaping(config: LineConfig): Promise<LineShaping> {
  const { format, charset, multiline, csv, regex } = config;
  const rule = multiline && {
    kind: multiline.kind,
    pattern: await compilePattern(multiline.pattern),
    before: multiline.before === undefined ? undefined : await compilePattern(multiline.before),
  };
  const { parser: formatParser, grouping, pieces } = await loadFormat(config, rule);
  const pathFields = await loadPathFields(config);
  const parser = await loadParser(config, formatParser, pathFields.names);
  const group = await loadGroupRule(config);
  const isPlain = charset === 'utf-8' && grouping === undefined && parser === undefined;
  const limits = limitsOf(multiline, config.maxEventBytes);
  return {
    encoding: await loadEncoding(charset),
    grouping: grouping && (() => grouping(limits)),
    group,
    groupTimeoutMs: group?.withinMs ?? multiline?.timeoutMs ?? JOIN_TIMEOUT_MS,
    parser,
    headBytes: format === 'w3c' || (format === 'csv' && csv.columns === undefined) ? MAX_CSV_HEADER_BYTES : 0,
    hasLaterHeaders: format === 'w3c',
    name: isPlain
      ? undefined
      : JSON.stringify([
          format,
          charset,
          multiline?.kind,
          multiline?.pattern,
          grouping && limits,
          csv,
          regex,
          config.time,
          config.isShaped,
          config.formats,
          config.types,
          config.parseJson,
          ...(multiline?.before === undefined ? [] : [multiline.before]),
          ...(group ? [group.digest] : []),
        ]),
    fieldsOf: (path) => pathFields.fieldsOf(path),
    objects: objectRules(config, rule, pieces),
  };
}

/** Undefined where the kernel makes the events. */
async function loadParser(
  config: LineConfig,
  format: LineFormat['parser'],
  pathNames: readonly string[],
): Promise<LineShaping['parser']> {
  const { types, parseJson, time } = config;
  const times = await loadTimes(config);
  const isTyped = Object.keys(types).length > 0;
  if (!times && !isTyped && !parseJson && !config.group) return format;
  const { createLineParser } = await import('../../parsers/shaped-events.ts');
  const { createGivenTime } = await import('../../parsers/values/given-time.ts');
  const zone = createZone('timezone' in time ? time.timezone : 'UTC');
  const datetimes = createGivenTime({ format: 'auto', zone, mayBeAhead: true });
  const taken = new Set([...AGENT_KEYS, ...pathNames, ...Object.keys(config.fields)]);
  const steps: ShapeSteps = {
    time: times,
    types: Object.entries(types),
    readTime: (text, readAtMs) => datetimes.whole(text, readAtMs),
    isTaken: parseJson ? (key) => taken.has(key) : undefined,
  };
  return (errors) => createLineParser(format?.(), steps, errors);
}

/** The fields that a file's path gives its events. */
async function loadPathFields({ format, pathFields }: LineConfig) {
  const patterns = await Promise.all(pathFields.map(compilePathPattern));
  const isDocker = format === 'docker' && patterns.length > 0;
  const containerNameOf = isDocker ? (await import('./container-name.ts')).containerNameOf : undefined;
  return {
    names: patterns.flatMap(({ names }) => names),
    fieldsOf(path: string): Record<string, string> {
      const found: Record<string, string> = {};
      for (const pattern of patterns) {
        for (const [name, value] of Object.entries(pattern.groups(path) ?? {}))
          if (!Object.hasOwn(found, name)) found[name] = value.slice(0, MAX_PATH_FIELD);
      }
      const name = containerNameOf?.(path);
      return name === undefined ? found : { ...found, container_name: name };
    },
  };
}

function limitsOf(multiline: MultilineConfig | undefined, maxEventBytes: number): GroupingLimits {
  return {
    maxLines: multiline?.maxLines ?? MAX_JOINED_LINES,
    maxBytes: Math.min(multiline?.maxBytes ?? Infinity, maxEventBytes),
  };
}
