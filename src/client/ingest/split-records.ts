/** CSV: records end at line ends outside of quotes, empty ones do not count. A quote opens at the beginning of a value only, as RFC 4180 has it. */
import { PartialEvent, type Splitter, type Take } from './event-bytes.ts';

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;

export function splitRecords(delimiter = ','): Splitter {
  const lastOfDelimiter = Buffer.from(delimiter).at(-1);
  const open = new PartialEvent();
  /** Of the record, and of the byte. */
  let [line, currentLine] = [1, 1];
  let isQuoted = false;
  /** The byte before closed the quotes: another quote means that it was half of an escaped one. */
  let hasClosed = false;
  let atValueStart = true;

  const finish = (take: Take): void => {
    const event = open.take(line);
    const bytes = event.bytes.at(-1) === RETURN ? event.bytes.subarray(0, -1) : event.bytes;
    if (event.problem !== undefined || bytes.length > 0) take({ ...event, bytes });
  };
  return {
    push(bytes, take) {
      let from = 0;
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at];
        if (byte === NEWLINE) currentLine += 1;
        if (isQuoted) {
          if (byte === QUOTE) [isQuoted, hasClosed] = [false, true];
        } else if (byte === QUOTE) {
          isQuoted = hasClosed || atValueStart;
          hasClosed = atValueStart = false;
        } else if (byte === NEWLINE) {
          open.add(bytes.subarray(from, at));
          finish(take);
          from = at + 1;
          line = currentLine;
          hasClosed = false;
          atValueStart = true;
        } else {
          hasClosed = false;
          atValueStart = byte === lastOfDelimiter;
        }
      }
      open.add(bytes.subarray(from));
    },
    end(take) {
      if (isQuoted)
        take({ bytes: Buffer.alloc(0), line, problem: 'the input ends within quotes that were opened in this record' });
      else finish(take);
    },
  };
}
