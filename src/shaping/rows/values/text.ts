/** Texts as the language sees them: characters are code points, their order is that of UTF-8. */
import { TRANSFORM_TEXT_CHARS } from '../../limits.ts';

/** Below, at or above 0, in the order of code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above those of every other unit. */
const rank = (unit: number): number => (unit >= 0xd8_00 && unit < 0xe0_00 ? unit + 0x1_00_00 : unit);

/** Whether every UTF-16 unit is a code point. */
// oxlint-disable-next-line no-control-regex
const isPlain = (text: string): boolean => !/[\ud800-\udfff]/.test(text);

export const lengthOf = (text: string): number => (isPlain(text) ? text.length : Array.from(text).length);

/** `length` characters from `start` on. */
export function substring(text: string, start: number, length: number): string {
  if (isPlain(text)) return text.slice(start, start + length);
  return Array.from(text)
    .slice(start, start + length)
    .join('');
}

/** Place of the text in characters, from the character `start` on; -1 where it is not. */
export function indexOf(text: string, wanted: string, start: number): number {
  if (isPlain(text)) return start > text.length ? -1 : text.indexOf(wanted, start);
  const units = Array.from(text).slice(0, start).join('').length;
  const at = start > lengthOf(text) ? -1 : text.indexOf(wanted, units);
  return at < 0 ? -1 : Array.from(text.slice(0, at)).length;
}

/** Thrown by what would make a text longer than an event can be. */
export class TextTooLong extends Error {
  constructor() {
    super(`the text would be longer than ${TRANSFORM_TEXT_CHARS} characters`);
  }
}

export function checkLength(length: number): void {
  if (length > TRANSFORM_TEXT_CHARS) throw new TextTooLong();
}

export function bounded(text: string): string {
  checkLength(text.length);
  return text;
}

export function countOf(text: string, wanted: string): number {
  if (wanted === '') return 0;
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) count++;
  return count;
}
