/** How a source's bytes become events, from its configuration: encoding, joining, parsing. What is needed for that is loaded here. */
import type { LineConfig, MultilineConfig, TimeConfig } from '../config/model.ts';
import type { EventShape, EventTimes, JsonValue } from '../core/block.ts';
import { JOIN_TIMEOUT_MS, MAX_CSV_HEADER_BYTES, MAX_JOINED_LINES } from '../core/limits.ts';
import { createZone } from '../core/zone.ts';
import { loadEncoding } from '../parsers/charset.ts';
import type { ReadContainerLine, ReadLineHead } from '../parsers/container-line.ts';
import { type Encoding, utf8 } from '../parsers/encoding.ts';
import type { Grouping, GroupingLimits } from '../parsers/grouping.ts';
import type { FormatParser, LineParser, ValueErrors } from '../parsers/line-parser.ts';
import type { TimeStep } from '../parsers/shaped-events.ts';
import { beginsEvent, createMultiline, type MultilineRule } from '../parsers/multiline.ts';
import { compileGroupPattern, compilePattern } from '../parsers/pattern.ts';

export interface LineShaping {
  /** Of streams that do not begin with a byte order mark. */
  readonly encoding: Encoding;
  /** Makes the joining for one window; undefined where each line is an event. */
  readonly grouping: (() => Grouping) | undefined;
  /** Milliseconds after which lines that wait for more of their event are sent. */
  readonly groupTimeoutMs: number;
  /** Makes the parser for one window; undefined where the kernel makes the events. */
  readonly parser: ((errors: ValueErrors) => LineParser) | undefined;
  /** Bytes of a stream's beginning that must be known to read its middle. */
  readonly headBytes: number;
  /** All of it that shapes events, for their digest; undefined for plain lines. */
  readonly name: string | undefined;
}

export const plainLines: LineShaping = {
  encoding: utf8,
  grouping: undefined,
  groupTimeoutMs: Infinity,
  parser: undefined,
  headBytes: 0,
  name: undefined,
};

/** The shape of a stream's events. `wrapFields`: what a line gets that is no object of its own. */
export function shapeOf(config: LineConfig, { parser, name }: LineShaping, wrapFields: Readonly<Record<string, JsonValue>>): EventShape {
  const { fields } = config;
  const times = eventTimes(config.time, parser !== undefined);
  const shaping = { ...(name === undefined ? {} : { shaping: name }), ...(times ? { time: times } : {}) };
  // What a parser makes are objects, and of the same standing as a wrapped line.
  if (parser && !keepsLines(config)) return { format: 'auto', wrapFields: {}, fields: { ...wrapFields, ...fields }, ...shaping };
  return { format: config.format === 'json' || config.format === 'text' ? config.format : 'auto', wrapFields, fields, ...shaping };
}

/** The keys of an object that are tried for its time, in this order. */
const TIME_KEYS = ['time', 'timestamp', 'ts', '@timestamp', 'eventTime'];
/** Formats whose `_time` is text of the log, not of the event's maker. */
const OWN_TIMES: ReadonlySet<string> = new Set(['regex', 'csv']);

/** What the kernel reads of times: all of `auto`; of a field that is named only what it cannot be in, the beginning of text. */
function eventTimes(time: TimeConfig, isParsed: boolean): EventTimes | undefined {
  if (time.kind === 'auto') return { zone: time.timezone, keys: TIME_KEYS, messageLeads: isParsed };
  if (time.kind === 'read' || time.field === undefined) return undefined;
  return { zone: time.timezone, keys: [], messageLeads: false };
}

/** JSON lines keep their bytes, and text that is no more than a line is left to the kernel. */
function keepsLines({ format, time }: LineConfig): boolean {
  return (format === 'auto' || format === 'json') && time.kind === 'given' && time.field !== undefined;
}

/** Reads times in JavaScript, where the kernel does not; undefined where there is nothing to read. */
async function loadTimes(config: LineConfig): Promise<TimeStep | undefined> {
  const { format, time } = config;
  const readsOwn = OWN_TIMES.has(format);
  if (time.kind === 'read' || (time.kind === 'auto' && !readsOwn)) return undefined;
  const { createGivenTime } = await import('../parsers/given-time.ts');
  const isGiven = time.kind === 'given';
  const read = createGivenTime({ format: isGiven ? time.format : 'auto', zone: createZone(time.timezone) });
  const isSearched = isGiven && time.field === undefined;
  return {
    field: isGiven ? time.field?.split('.') : undefined,
    readsOwn,
    keys: isSearched ? TIME_KEYS : [],
    leads: isSearched,
    time: read,
  };
}

/** Throws `TailraceError` `E_PATTERN` for a pattern that cannot be used. */
export async function loadShaping(config: LineConfig): Promise<LineShaping> {
  const { format, charset, multiline, csv, regex } = config;
  const rule = multiline && { kind: multiline.kind, pattern: await compilePattern(multiline.pattern) };
  const { parser: formatParser, grouping } = await loadFormat(config, rule);
  const times = await loadTimes(config);
  const parser = await parserOf(formatParser, times);
  const isPlain = charset === 'utf-8' && grouping === undefined && parser === undefined;
  const limits = limitsOf(multiline, config.maxEventBytes);
  return {
    encoding: await loadEncoding(charset),
    grouping: grouping && (() => grouping(limits)),
    groupTimeoutMs: multiline?.timeoutMs ?? JOIN_TIMEOUT_MS,
    parser,
    headBytes: format === 'csv' && csv.columns === undefined ? MAX_CSV_HEADER_BYTES : 0,
    name: isPlain
      ? undefined
      : JSON.stringify([format, charset, multiline?.kind, multiline?.pattern, grouping && limits, csv, regex, config.time]),
  };
}

/** Undefined where the kernel makes the events. */
async function parserOf(format: Format['parser'], times: TimeStep | undefined): Promise<LineShaping['parser']> {
  if (!times) return format;
  const { createLineParser } = await import('../parsers/shaped-events.ts');
  return (errors) => createLineParser(format?.(), times, errors);
}

function limitsOf(multiline: MultilineConfig | undefined, maxEventBytes: number): GroupingLimits {
  return { maxLines: multiline?.maxLines ?? MAX_JOINED_LINES, maxBytes: Math.min(multiline?.maxBytes ?? Infinity, maxEventBytes) };
}

interface Format {
  readonly parser: (() => FormatParser) | undefined;
  readonly grouping: ((limits: GroupingLimits) => Grouping) | undefined;
}

async function loadFormat({ format, csv, regex }: LineConfig, rule: MultilineRule | undefined): Promise<Format> {
  const grouping = rule && ((limits: GroupingLimits) => createMultiline(rule, limits));
  switch (format) {
    case 'auto':
    case 'text':
    case 'json':
      return { parser: undefined, grouping };
    case 'logfmt':
      return { parser: shared((await import('../parsers/logfmt.ts')).logfmtParser), grouping };
    case 'combined':
      return { parser: shared((await import('../parsers/combined.ts')).combinedParser), grouping };
    case 'regex':
      return { parser: shared((await import('../parsers/regex.ts')).createRegexParser(await compileGroupPattern(regex ?? ''))), grouping };
    case 'csv': {
      const { createCsvGrouping, createCsvParser } = await import('../parsers/csv.ts');
      return { parser: () => createCsvParser(csv), grouping: createCsvGrouping };
    }
    case 'cri': {
      const { NOT_CRI, readCriHead, readCriLine } = await import('../parsers/cri.ts');
      return loadContainerFormat(readCriLine, readCriHead, NOT_CRI, rule);
    }
    case 'docker': {
      const { NOT_DOCKER, readDockerHead, readDockerLine } = await import('../parsers/docker.ts');
      return loadContainerFormat(readDockerLine, readDockerHead, NOT_DOCKER, rule);
    }
  }
}

/** With `multiline`, its pattern is held against the messages, not against the runtime's lines. */
async function loadContainerFormat(
  read: ReadContainerLine,
  readHead: ReadLineHead,
  reason: string,
  rule: MultilineRule | undefined,
): Promise<Format> {
  const container = await import('../parsers/container-line.ts');
  if (!rule) {
    return {
      parser: shared(container.createContainerParser(read, reason)),
      grouping: (limits) => container.createContainerGrouping(readHead, limits),
    };
  }
  const begins = (content: string): boolean => {
    const bytes = Buffer.from(content);
    return beginsEvent(rule, bytes, 0, bytes.length);
  };
  return {
    parser: shared(container.createJoinedContainerParser(read, reason)),
    grouping: (limits) => container.createJoinedContainerGrouping(read, begins, limits),
  };
}

/** For a parser that keeps nothing from one text to the next. */
function shared(parser: FormatParser): () => FormatParser {
  return () => parser;
}
