/** NDJSON: every line that is not blank is an event. */
import { PartialEvent, type Splitter, type Take } from './event-bytes.ts';

const NEWLINE = 10;
const BLANK = new Set([9, 13, 32]);

export function splitLines(): Splitter {
  const open = new PartialEvent();
  let line = 1;
  const finish = (take: Take): void => {
    const event = open.take(line);
    if (event.problem !== undefined || !isBlank(event.bytes)) take(event);
    line += 1;
  };
  return {
    push(bytes, take) {
      let from = 0;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        open.add(bytes.subarray(from, at));
        finish(take);
        from = at + 1;
      }
      open.add(bytes.subarray(from));
    },
    end: finish,
  };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => BLANK.has(byte));
}
