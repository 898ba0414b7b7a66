/** What stands in a file as a message may show it: on one line, cut where it is long, nothing that a terminal obeys. */

const MAX_SHOWN = 60;

/** Control and formatting characters (line breaks, escape sequences, reversed writing) as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

export function quote(value: unknown, maxShown = MAX_SHOWN): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return printable(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
}
