/** What stands in a file as a message may show it: on one line, cut where it is long, nothing that a terminal obeys. */

const MAX_SHOWN = 60;
/** Up to the last `@`: a password may hold one, and in an address that is no address, anything. */
const USER_IN_ADDRESS = /([a-z][a-z0-9+.-]*:\/\/)\S*@/gi;

/** Control and formatting characters (line breaks, escape sequences, reversed writing) as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

export function quote(value: unknown, maxShown = MAX_SHOWN): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.replaceAll(USER_IN_ADDRESS, '$1(hidden)@');
  return printable(shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown);
}
