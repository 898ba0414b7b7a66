/**
 * Lines of container runtimes: each has a time, a stream, and a piece of a message, which may go on in the stream's next line.
 * Grouping joins the pieces; lines of the two streams may lie between each other's pieces, then they are one group of
 * several events.
 */
import type { FormatParser } from './line-parser.ts';
import { type EventFields, unparsed } from '../values/fields.ts';
import type { Grouping, GroupingLimits } from '../text/grouping.ts';

/** What grouping has to know of a line. */
export interface LineHead {
  readonly stream: string;
  /** The message goes on in the stream's next line. */
  readonly isPartial: boolean;
}

export interface ContainerLine extends LineHead {
  readonly time: string;
  readonly content: string;
  readonly more?: EventFields;
}

/** Undefined for a line that the runtime did not write. */
export type ReadContainerLine = (line: string) => ContainerLine | undefined;

/** Undefined for a line that the runtime did not write. The text is `bytes[start, end)`. */
export type ReadLineHead = (bytes: Buffer, start: number, end: number) => LineHead | undefined;

export function createContainerParser(read: ReadContainerLine, reason: string): FormatParser {
  return {
    parse(text) {
      const events: EventFields[] = [];
      const open = new Map<string, EventFields & { message: string }>();
      for (const [line, found] of readLines(text, read)) {
        const begun = found && open.get(found.stream);
        if (!found) events.push(unparsed(line, reason));
        else if (begun) begun.message += found.content;
        else {
          const event = eventOf(found);
          events.push(event);
          open.set(found.stream, event);
        }
        if (found && !found.isPartial) open.delete(found.stream);
      }
      return events;
    },
  };
}

/** The same where `multiline` joined messages of one stream: the text is one event. */
export function createJoinedContainerParser(read: ReadContainerLine, reason: string): FormatParser {
  return {
    parse(text) {
      const events: EventFields[] = [];
      let event: (EventFields & { message: string }) | undefined;
      let isPartial = false;
      for (const [line, found] of readLines(text, read)) {
        if (!found) events.push(unparsed(line, reason));
        else if (event) event.message += isPartial ? found.content : `\n${found.content}`;
        else events.push((event = eventOf(found)));
        isPartial = found?.isPartial ?? false;
      }
      return events;
    },
  };
}

function* readLines(
  text: string,
  read: ReadContainerLine,
): Generator<readonly [line: string, found: ContainerLine | undefined]> {
  for (const each of text.split('\n')) {
    const line = each.endsWith('\r') ? each.slice(0, -1) : each;
    if (line !== '') yield [line, read(line)];
  }
}

function eventOf({ time, content, stream, more }: ContainerLine): EventFields & { message: string } {
  return { _time: time, message: content, stream, ...more };
}

/** Joins lines until no stream has a message that goes on. `readHead` gives undefined for a line that the runtime did not write. */
export function createContainerGrouping(readHead: ReadLineHead, limits: GroupingLimits): Grouping {
  const open = new Set<string>();
  return {
    ...limits,
    begins(bytes, start, end) {
      const isFirst = open.size === 0;
      const head = readHead(bytes, start, end);
      if (head?.isPartial) open.add(head.stream);
      else if (head) open.delete(head.stream);
      return isFirst;
    },
    mayContinue: () => true,
    isWhole: () => open.size === 0,
    reset: () => open.clear(),
  };
}

/** Joins messages by what they say themselves. A line of the other stream begins an event of its own. */
export function createJoinedContainerGrouping(
  read: ReadContainerLine,
  begins: (content: string) => boolean,
  limits: GroupingLimits,
): Grouping {
  let last: LineHead | undefined;
  return {
    ...limits,
    begins(bytes, start, end) {
      const before = last;
      const line = read(bytes.toString('utf8', start, end));
      last = line;
      if (!line || before?.stream !== line.stream) return true;
      return !before.isPartial && begins(line.content);
    },
    mayContinue: (bytes, start, end) => read(bytes.toString('utf8', start, end)) !== undefined,
    isWhole: () => false,
    reset() {
      last = undefined;
    },
  };
}
