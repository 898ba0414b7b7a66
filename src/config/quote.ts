/** Quotes the text of a file for a message: on one line, cut if long, without characters that control a terminal. */

const MAX_SHOWN = 60;

/** Control and formatting characters, line and paragraph separators, halves of characters. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Escapes characters that control a terminal (line breaks, escape sequences, reversed writing) as `\u001b`: for any foreign text, on one
 * line.
 */
export function printable(text: string): string {
  // A character of two halves is written as both, as JSON does, so that JSON stays JSON.
  return text.replaceAll(OBEYED, (character) => character.split('').map(escapeUnit).join(''));
}

/** Those of ASCII are escaped in JSON already, or are our own line breaks and colours. */
const OBEYED_BEYOND_ASCII = /(?![\0-\x7e])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The same for JSON, whose meaning stays. */
export function printableJson(json: string): string {
  return json.replaceAll(OBEYED_BEYOND_ASCII, (character) => character.split('').map(escapeUnit).join(''));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

export function quote(value: unknown, maxShown = MAX_SHOWN): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.replaceAll(/\S+/g, hideUser);
  return printable(shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown);
}

/** Hides up to the last `@` of an address: a password may hold one, and an invalid address anything. */
function hideUser(word: string): string {
  const [from, to] = [word.indexOf('://'), word.lastIndexOf('@')];
  return from < 0 || to < from ? word : `${word.slice(0, from)}://(hidden)${word.slice(to)}`;
}
