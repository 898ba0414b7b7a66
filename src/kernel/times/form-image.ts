/** The table of forms (core/time/forms.ts) as the kernel has it: a program for each, and by its beginning the list of those to try (assembly/time/forms.ts). */
import { TIME_FORMS, type TimeForm } from '../../core/time/forms.ts';
import { compileLayout } from '../../core/time/go-layout.ts';

/** Steps of a program, and of each what it may begin with: so many digits, or one of these characters. */
const STEPS: Readonly<Record<string, number>> = {
  2006: 1,
  '06': 2,
  '01': 3,
  Jan: 4,
  Mon: 5,
  '02': 6,
  2: 7,
  _2: 8,
  15: 14,
};
const LEVEL_LETTER = 15;
const T = 16;
const NEEDS = { fraction: 1, level: 2, year: 4 } as const;
const IS_UTC = 8;
const IS_SLOW_LOG = 16;

const MOST_DIGITS = 8;
const CHARACTERS = 128;
const LETTERS: Readonly<Record<string, string>> = { Jan: 'JFMASOND', Mon: 'MTWFS', I: 'IWEF' };

/** Bytes of the image, at most: its lists have 16-bit addresses. */
export const FORM_IMAGE_BYTES = 8 * 1024;

/** Needs, steps, and 0. */
function programOf({ layout, needs, behind, isUtc }: TimeForm): number[] {
  const flags = (needs ? NEEDS[needs] : 0) | (isUtc ? IS_UTC : 0) | (behind ? IS_SLOW_LOG : 0);
  const steps = compileLayout(layout.replace(/15:04:05$/, '15')).flatMap((part, index) => {
    if (part.kind === 'token') return [STEPS[part.token]!];
    if (part.text === 'T') return [T];
    return index === 0 && part.text === 'I' ? [LEVEL_LETTER] : [...Buffer.from(part.text)];
  });
  return [flags, ...steps, 0];
}

/** Places in the index: digits, then the character after them. */
function beginningsOf({ layout }: TimeForm): number[] {
  const parts = compileLayout(layout);
  const first = parts[0]!;
  const letters = LETTERS[first.kind === 'token' ? first.token : first.text];
  if (letters !== undefined) return [...Buffer.from(letters)];
  let digits = [0];
  for (const part of parts) {
    if (part.kind === 'literal') return digits.map((count) => count * CHARACTERS + part.text.charCodeAt(0));
    const widths = part.token === '2' ? [1, 2] : [part.token.length];
    digits = digits.flatMap((count) => widths.map((width) => count + width));
  }
  throw new Error(`the form ${layout} has nothing behind its first digits`);
}

export function formImage(): Buffer {
  const image = Buffer.alloc(FORM_IMAGE_BYTES);
  let free = (MOST_DIGITS + 1) * CHARACTERS * 2;
  const lists = new Map<number, number[]>();
  for (const form of TIME_FORMS) {
    const program = programOf(form);
    image.set(program, free);
    for (const beginning of beginningsOf(form)) lists.set(beginning, [...(lists.get(beginning) ?? []), free]);
    free += program.length;
  }
  for (const [beginning, programs] of lists) {
    image.writeUInt16LE(free, beginning * 2);
    for (const program of [...programs, 0]) free = image.writeUInt16LE(program, free);
  }
  return image;
}
