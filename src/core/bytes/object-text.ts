/**
 * Texts that begin as a JSON object does: `{`, then a quote, with blanks, control characters or a byte order mark before each. Where such a text is no
 * object that was read, the fields in it cannot be hidden one by one. Linear in the text.
 */

import { isJson } from '../block.ts';

const BOM = 0xfe_ff;
const SPACE = 0x20;
/** The head of a line of a container runtime (CRI). */
const CRI_HEAD = /\d{4}-[\dT:.+Z-]{1,60} (?:stdout|stderr) [A-Z](?::\S{0,60})? /y;
/** Characters of it, at most. */
const LONGEST_CRI_HEAD = 140;
/** Behind its time, stream and tag. */
const CRI_HEAD_ENDS = /^\S{0,64} \S{0,8} \S{0,64} /;
/** Before an object in a syslog message. */
const COOKIE = '@cee:';

/** What else than blanks may precede the object on its line. */
export type ObjectPrefix = 'none' | 'cri' | 'cookie';

/** Whether any line of the text begins an object. */
export function hasObjectLine(text: string, prefix: ObjectPrefix = 'none'): boolean {
  for (let at = 0; at < text.length;) {
    at = skipPrefix(text, skipBlanks(text, at), prefix);
    if (text[at] === '{' && text[skipBlanks(text, at + 1)] === '"') return true;
    const newline = text.indexOf('\n', at);
    if (newline < 0) return false;
    at = newline + 1;
  }
  return false;
}

/** Whether an object may begin anywhere in the text. */
export function hasObjectInside(text: string): boolean {
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1))
    if (text[skipBlanks(text, at + 1)] === '"') return true;
  return false;
}

/** Whether any line of the text begins an object that is not whole on that line. */
export function hasOpenObjectLine(text: string): boolean {
  for (let at = 0; at < text.length;) {
    at = skipBlanks(text, at);
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    if (text[at] === '{' && text[skipBlanks(text, at + 1)] === '"' && !isJson(text.slice(at, end).trim())) return true;
    at = end + 1;
  }
  return false;
}

/** Whether a line that begins with this text may be an object: true, too, where the text ends before that is decided. */
export function mayBeginObject(head: string, prefix: ObjectPrefix = 'none'): boolean {
  const at = skipPrefix(head, skipBlanks(head, 0), prefix);
  if (
    at === head.length ||
    (prefix === 'cri' && head.length < LONGEST_CRI_HEAD && /^\d/.test(head) && !CRI_HEAD_ENDS.test(head))
  )
    return true;
  if (head[at] !== '{') return false;
  const behind = skipBlanks(head, at + 1);
  return behind === head.length || head[behind] === '"';
}

function skipBlanks(text: string, at: number): number {
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > SPACE && unit !== BOM) break;
  }
  return at;
}

function skipPrefix(text: string, at: number, prefix: ObjectPrefix): number {
  if (prefix === 'cookie' && text.startsWith(COOKIE, at)) return skipBlanks(text, at + COOKIE.length);
  if (prefix !== 'cri') return at;
  CRI_HEAD.lastIndex = at;
  return CRI_HEAD.test(text) ? skipBlanks(text, CRI_HEAD.lastIndex) : at;
}
