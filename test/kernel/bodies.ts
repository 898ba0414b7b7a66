/** Hostile bodies for the compressors: pieces of log, of noise, and of the body itself from the distances and of the lengths that are edges of a format. */
import * as fc from 'fast-check';
import { LOG_LINES } from './corpus.ts';

/** A body grows by one of these at a time. */
type Piece =
  | { readonly kind: 'line' | 'utf8' | 'skewed' | 'noise' | 'hex'; readonly length: number; readonly seed: number }
  | { readonly kind: 'run'; readonly length: number; readonly byte: number }
  | { readonly kind: 'again'; readonly length: number; readonly distance: number };

const BLOCK = 2 ** 18;
const LENGTHS = [
  1,
  2,
  3,
  4,
  5,
  7,
  8,
  15,
  16,
  17,
  31,
  33,
  257,
  258,
  259,
  260,
  261,
  262,
  516,
  517,
  65_534,
  65_535,
  65_536,
  BLOCK - 1,
  BLOCK,
  BLOCK + 1,
];
const DISTANCES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 32_767, 32_768, 32_769, 65_536, BLOCK, BLOCK + 1];

/** Short ones most of the time: a long one costs as much as a thousand others. */
const length = fc.oneof(
  { weight: 30, arbitrary: fc.nat(40) },
  { weight: 10, arbitrary: fc.nat(1500) },
  { weight: 10, arbitrary: fc.constantFrom(...LENGTHS.filter((each) => each < 1000)) },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...LENGTHS), fc.nat(40_000)) },
);
const distance = fc.oneof(fc.constantFrom(...DISTANCES), fc.nat(50_000));

const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      'line' as const,
      'line' as const,
      'utf8' as const,
      'skewed' as const,
      'noise' as const,
      'hex' as const,
    ),
    length,
    seed: fc.nat(),
  }),
  fc.record({ kind: fc.constant('run' as const), length, byte: fc.oneof(fc.constantFrom(0, 32, 255), fc.nat(255)) }),
  fc.record({ kind: fc.constant('again' as const), length, distance }),
);

export const body: fc.Arbitrary<Buffer> = fc.array(piece, { maxLength: 14, size: 'max' }).map(build);

export function build(pieces: readonly Piece[]): Buffer {
  const bytes = Buffer.alloc(pieces.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of pieces) {
    const part = bytes.subarray(at, at + each.length);
    if (each.kind === 'run') part.fill(each.byte);
    else if (each.kind === 'again')
      for (let i = 0; i < part.length; i++) part[i] = bytes[at + i - Math.min(each.distance, at)]!;
    else fill(part, each.kind, each.seed);
    at += each.length;
  }
  return bytes;
}

function fill(part: Buffer, kind: 'line' | 'utf8' | 'skewed' | 'noise' | 'hex', seed: number): void {
  let state = seed | 1;
  const random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  if (kind === 'line') part.fill(`${LOG_LINES[seed % LOG_LINES.length]!}\n`);
  else if (kind === 'utf8') part.fill('Zürich → Αθήνα, 日本語のログ 😀 '.slice(seed % 8));
  else
    for (let i = 0; i < part.length; i++) {
      // As often as each bit is set half as often as the one before: code lengths that go past every limit.
      if (kind === 'skewed') part[i] = Math.clz32(random()) * 7;
      else part[i] = kind === 'hex' ? '0123456789abcdef'.charCodeAt(random() % 16) : random();
    }
}
