/** The parser and the joining of a format, or of several. Their modules are loaded here. */
import type { FormatChoice } from '../../config/fields/kinds-formats.ts';
import type { LineConfig } from '../common/line-fields.ts';
import type { ReadContainerLine, ReadLineHead } from '../../parsers/formats/container-line.ts';
import type { Grouping, GroupingLimits } from '../../parsers/text/grouping.ts';
import type { FormatParser } from '../../parsers/formats/line-parser.ts';
import { beginsEvent, createMultiline, type MultilineRule } from '../../parsers/text/multiline.ts';
import { compileGroupPattern } from '../../parsers/text/pattern.ts';

export interface LineFormat {
  readonly parser: (() => FormatParser) | undefined;
  readonly grouping: ((limits: GroupingLimits) => Grouping) | undefined;
  /** Of formats whose messages come in pieces. */
  readonly pieces?: Pieces;
}

/** How a line of the runtime is read, and no more than its head. */
export interface Pieces {
  readonly read: ReadContainerLine;
  readonly readHead: ReadLineHead;
}

/** Throws `TailraceError` `E_PATTERN` for a pattern that cannot be used. */
export async function loadFormat(config: LineConfig, rule: MultilineRule | undefined): Promise<LineFormat> {
  const { format, formats, csv, regex } = config;
  const grouping = rule && ((limits: GroupingLimits) => createMultiline(rule, limits));
  if (formats.length > 0) {
    const { createFirstFormat } = await import('../../parsers/formats/first-format.ts');
    return { parser: shared(createFirstFormat(await Promise.all(formats.map(loadChoice)))), grouping };
  }
  switch (format) {
    case 'json':
      return {
        parser: config.group ? shared((await import('../../parsers/formats/first-format.ts')).jsonParser) : undefined,
        grouping,
      };
    case 'auto':
      return { parser: undefined, grouping };
    case 'text':
      return {
        parser:
          config.parseJson || config.group
            ? shared((await import('../../parsers/formats/first-format.ts')).textParser)
            : undefined,
        grouping,
      };
    case 'logfmt':
      return { parser: shared((await import('../../parsers/formats/logfmt.ts')).logfmtParser), grouping };
    case 'combined':
      return { parser: shared((await import('../../parsers/formats/combined.ts')).combinedParser), grouping };
    case 'w3c': {
      const { createW3cParser } = await import('../../parsers/formats/w3c.ts');
      return { parser: () => createW3cParser(csv.columns), grouping };
    }
    case 'auditd':
      return { parser: shared((await import('../../parsers/formats/auditd.ts')).auditdParser), grouping };
    case 'regex':
      return {
        parser: shared(
          (await import('../../parsers/formats/regex.ts')).createRegexParser(await compileGroupPattern(regex ?? '')),
        ),
        grouping,
      };
    case 'csv': {
      const { createCsvGrouping, createCsvParser } = await import('../../parsers/formats/csv.ts');
      return { parser: () => createCsvParser(csv), grouping: createCsvGrouping };
    }
    case 'cri': {
      const { NOT_CRI, readCriHead, readCriLine } = await import('../../parsers/formats/cri.ts');
      return loadContainerFormat(readCriLine, readCriHead, NOT_CRI, rule);
    }
    case 'docker': {
      const { NOT_DOCKER, readDockerHead, readDockerLine } = await import('../../parsers/formats/docker.ts');
      return loadContainerFormat(readDockerLine, readDockerHead, NOT_DOCKER, rule);
    }
  }
}

async function loadChoice({ format, regex }: FormatChoice): Promise<FormatParser> {
  switch (format) {
    case 'logfmt':
      return (await import('../../parsers/formats/logfmt.ts')).logfmtParser;
    case 'combined':
      return (await import('../../parsers/formats/combined.ts')).combinedParser;
    case 'regex':
      return (await import('../../parsers/formats/regex.ts')).createRegexParser(await compileGroupPattern(regex ?? ''));
    case 'text':
      return (await import('../../parsers/formats/first-format.ts')).textParser;
    case 'json':
      return (await import('../../parsers/formats/first-format.ts')).jsonParser;
  }
}

/** With `multiline`, its pattern is held against the messages, not against the runtime's lines. */
async function loadContainerFormat(
  read: ReadContainerLine,
  readHead: ReadLineHead,
  reason: string,
  rule: MultilineRule | undefined,
): Promise<LineFormat> {
  const container = await import('../../parsers/formats/container-line.ts');
  if (!rule) {
    return {
      parser: shared(container.createContainerParser(read, reason)),
      grouping: (limits) => container.createContainerGrouping(readHead, limits),
      pieces: { read, readHead },
    };
  }
  const begins = (content: string): boolean => {
    const bytes = Buffer.from(content);
    return beginsEvent(rule, bytes, 0, bytes.length);
  };
  return {
    parser: shared(container.createJoinedContainerParser(read, reason)),
    grouping: (limits) => container.createJoinedContainerGrouping(read, begins, limits),
    pieces: { read, readHead },
  };
}

/** For a parser that keeps nothing from one text to the next. */
function shared(parser: FormatParser): () => FormatParser {
  return () => parser;
}
