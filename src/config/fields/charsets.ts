/** The charsets that a source can be in, by the names that the configuration takes. parsers/text/charset knows how to read each. */

/** Charsets of one byte a character. Every byte below 80 is ASCII, so that a newline is one byte. */
const ONE_BYTE = [
  'latin1',
  ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  ...[874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map((page) => `windows-${page}`),
  ...[437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 865, 866, 869].map((page) => `cp${page}`),
  'koi8-r',
  'koi8-u',
  'macintosh',
];
/** Charsets of up to four bytes a character, none of which is a newline. */
const MORE_BYTES = ['big5', 'big5-hkscs', 'gbk', 'gb18030', 'shift_jis', 'euc-jp', 'euc-kr'];

export const CHARSETS: readonly string[] = ['utf-8', 'utf-16le', 'utf-16be', ...ONE_BYTE, ...MORE_BYTES];

/** True where a character may take several bytes. */
export function hasLongCharacters(charset: string): boolean {
  return MORE_BYTES.includes(charset);
}

/** Other names that are in use. */
const ALIASES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf16le: 'utf-16le',
  utf16be: 'utf-16be',
  'utf-16': 'utf-16le',
  ascii: 'utf-8',
  'us-ascii': 'utf-8',
  'iso-8859-1': 'latin1',
  sjis: 'shift_jis',
  cp932: 'shift_jis',
  cp936: 'gbk',
  gb2312: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
};

/** The charset's canonical name; undefined for an unknown one. */
export function findCharset(name: string): string | undefined {
  const lower = name.toLowerCase().replaceAll('_', '-');
  const candidates = [
    lower,
    lower.replace('-', '_'),
    lower.replace(/^cp-?(125\d|874)$/, 'windows-$1'),
    lower.replace(/^iso8859-/, 'iso-8859-'),
    lower.replace(/^(?:ibm|win)-?(\d{3})$/, 'cp$1'),
  ];
  const known = candidates.find((each) => CHARSETS.includes(each) || Object.hasOwn(ALIASES, each));
  return known === undefined ? undefined : (ALIASES[known] ?? known);
}
