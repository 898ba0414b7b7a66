/** Finds the end of text in double quotes, as several formats write it, and decodes its escapes. */

/** The place of the quote that closes the one before `from`, or -1. A backslash takes the next character along. */
export function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - 1 - backslashes >= from && text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** With `\n`, `\t`, `\r`, `\xHH` and `\uHHHH` replaced; any other escaped character is itself. */
export function unescapeQuoted(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  return quoted.replace(ESCAPE, (_, long: string | undefined, short: string | undefined, char: string) => {
    const hex = long ?? short;
    return hex === undefined ? (ESCAPED[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16));
  });
}

/** The same; web servers write a byte beyond ASCII as `\xHH`: such bytes are put together as UTF-8. */
export function unescapeBytes(quoted: string): string {
  const plain = unescapeQuoted(quoted);
  return /\\x[89a-fA-F]/.test(quoted) && /^[\0-\x7f]*$/.test(quoted)
    ? Buffer.from(plain, 'latin1').toString('utf8')
    : plain;
}
