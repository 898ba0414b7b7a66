/** How a source's bytes become events, from its configuration: encoding, joining, parsing. What is needed for that is loaded here. */
import type { LineConfig, MultilineConfig } from '../config/model.ts';
import type { EventShape, JsonValue } from '../core/block.ts';
import { JOIN_TIMEOUT_MS, MAX_CSV_HEADER_BYTES, MAX_JOINED_LINES } from '../core/limits.ts';
import { loadEncoding } from '../parsers/charset.ts';
import type { ReadContainerLine, ReadLineHead } from '../parsers/container-line.ts';
import { type Encoding, utf8 } from '../parsers/encoding.ts';
import type { Grouping, GroupingLimits } from '../parsers/grouping.ts';
import type { LineParser } from '../parsers/line-parser.ts';
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
  readonly parser: (() => LineParser) | undefined;
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
  const shaping = name === undefined ? {} : { shaping: name };
  // What a parser makes are objects, and of the same standing as a wrapped line.
  if (parser) return { format: 'auto', wrapFields: {}, fields: { ...wrapFields, ...fields }, ...shaping };
  return { format: config.format === 'json' || config.format === 'text' ? config.format : 'auto', wrapFields, fields, ...shaping };
}

/** Throws `TailraceError` `E_PATTERN` for a pattern that cannot be used. */
export async function loadShaping(config: LineConfig): Promise<LineShaping> {
  const { format, charset, multiline, csv, regex } = config;
  const rule = multiline && { kind: multiline.kind, pattern: await compilePattern(multiline.pattern) };
  const { parser, grouping } = await loadFormat(config, rule);
  const isPlain = charset === 'utf-8' && grouping === undefined && parser === undefined;
  const limits = limitsOf(multiline, config.maxEventBytes);
  return {
    encoding: await loadEncoding(charset),
    grouping: grouping && (() => grouping(limits)),
    groupTimeoutMs: multiline?.timeoutMs ?? JOIN_TIMEOUT_MS,
    parser,
    headBytes: format === 'csv' && csv.columns === undefined ? MAX_CSV_HEADER_BYTES : 0,
    name: isPlain ? undefined : JSON.stringify([format, charset, multiline?.kind, multiline?.pattern, grouping && limits, csv, regex]),
  };
}

function limitsOf(multiline: MultilineConfig | undefined, maxEventBytes: number): GroupingLimits {
  return { maxLines: multiline?.maxLines ?? MAX_JOINED_LINES, maxBytes: Math.min(multiline?.maxBytes ?? Infinity, maxEventBytes) };
}

interface Format {
  readonly parser: (() => LineParser) | undefined;
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
function shared(parser: LineParser): () => LineParser {
  return () => parser;
}
