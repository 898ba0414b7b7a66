/**
 * JSON: the elements of an array, or values one after another. Only strings and nesting are followed; whether an element is JSON is for the
 * service to say, so that a broken one fails alone.
 */
import { PartialEvent, type Splitter, type Take } from './event-bytes.ts';

const NEWLINE = 10;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
const SPACE = new Set([9, 10, 13, 32]);

export function splitValues(): Splitter {
  const open = new PartialEvent();
  /** Of the value, of the byte, and of the array's beginning. */
  let [line, currentLine, listLine] = [1, 1, 0];
  let isInList = false;
  let isInValue = false;
  let depth = 0;
  let isString = false;
  let isEscaped = false;

  const finish = (take: Take): void => {
    isInValue = false;
    take(open.take(line));
  };
  /** Follows one byte of a value; true when it is the value's last one. */
  const follow = (byte: number): boolean => {
    if (isString) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isString = false;
    } else if (byte === QUOTE) isString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (depth > 0 && (byte === CLOSE_OBJECT || byte === CLOSE_LIST)) return --depth === 0;
    return false;
  };
  /** A number, a word or a string has no last byte of its own. */
  const endsBefore = (byte: number): boolean =>
    depth === 0 && !isString && (isInList ? byte === COMMA || byte === CLOSE_LIST : byte === NEWLINE);

  return {
    push(bytes, take) {
      let from = 0;
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]!;
        if (isInValue && endsBefore(byte)) {
          open.add(bytes.subarray(from, at));
          finish(take);
        }
        if (byte === NEWLINE) currentLine += 1;
        if (isInValue) {
          if (!follow(byte)) continue;
          open.add(bytes.subarray(from, at + 1));
          finish(take);
        } else if (byte === OPEN_LIST && !isInList) {
          isInList = true;
          listLine = currentLine;
        } else if (byte === CLOSE_LIST && isInList) isInList = false;
        else if (byte !== COMMA && !SPACE.has(byte)) {
          isInValue = true;
          [from, line] = [at, currentLine];
          depth = 0;
          follow(byte);
        }
      }
      if (isInValue) open.add(bytes.subarray(from));
    },
    end(take) {
      const nothing = Buffer.alloc(0);
      if (isInValue && (depth > 0 || isString))
        take({ bytes: nothing, line, problem: 'the input ends within this value' });
      else if (isInValue) finish(take);
      if (isInList)
        take({ bytes: nothing, line: listLine, problem: 'the input ends within the array that begins here' });
    },
  };
}
