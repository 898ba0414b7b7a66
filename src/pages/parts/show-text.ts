/** Text of events as a page may show it: short enough to draw, and without characters that are invisible or turn the text around them. */

/* oxlint-disable-next-line no-control-regex */
const HIDDEN = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/** Control characters as their escapes. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const known = { '\n': '⏎', '\t': '⇥' }[character];
    return known ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What JSON holds. */
export type Printable = string | number | boolean | object | null | undefined;

/** A value on one line, cut to `most` characters. */
export function formatCell(value: Printable, most = 300): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.length > most ? `${showHidden(text.slice(0, most))}…` : showHidden(text);
}
