/** The charsets of the configuration as encodings. Legacy ones are read by iconv-lite, which enters here and is loaded for them alone. */
import { hasLongCharacters } from '../../config/fields/charsets.ts';
import { asciiLines, type TextEncoding, utf16be, utf16le, utf8 } from './encoding.ts';

const BUILT_IN: ReadonlyMap<string, TextEncoding> = new Map([utf8, utf16le, utf16be].map((each) => [each.name, each]));
/** How far back to search for a place where no character of several bytes is torn. */
const LOOK_BACK_BYTES = 1024;
/** The longest character of those charsets. */
const LONGEST_CHARACTER_BYTES = 4;

/** `name` is one of config/fields/charsets. */
export async function loadEncoding(name: string): Promise<TextEncoding> {
  const builtIn = BUILT_IN.get(name);
  if (builtIn) return builtIn;
  const { default: iconv } = await import('iconv-lite');
  const decode = (bytes: Buffer): string => iconv.decode(bytes, name, { stripBOM: false });
  const isLong = hasLongCharacters(name);
  /** No byte below 30 is a part of a character of several bytes. */
  const wholeUpTo = (bytes: Buffer, start: number, limit: number): number | undefined => {
    for (let at = limit; at > start && limit - at < LOOK_BACK_BYTES; at -= 1) if (bytes[at - 1]! < 0x30) return at;
    return undefined;
  };
  const isUnfinished = (bytes: Buffer): boolean => {
    const decoder = iconv.getDecoder(name);
    decoder.write(bytes);
    return (decoder.end() ?? '') !== '';
  };
  return {
    ...asciiLines,
    name,
    textBytes: (bytes) => Buffer.byteLength(decode(bytes)),
    cut: (bytes, start, limit) => (isLong ? (wholeUpTo(bytes, start, limit) ?? limit) : limit),
    unfinishedBytes(bytes, from, to) {
      if (!isLong) return 0;
      const start = wholeUpTo(bytes, from, to) ?? from;
      for (let rest = 0; rest < LONGEST_CHARACTER_BYTES && to - rest > start; rest += 1)
        if (!isUnfinished(bytes.subarray(start, to - rest))) return rest;
      return Math.min(LONGEST_CHARACTER_BYTES - 1, to - start);
    },
    decode,
  };
}
