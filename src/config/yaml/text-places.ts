/**
 * Maps the characters of a YAML scalar to their places in its file: for texts in another language, whose errors are shown in place. A table
 * of stretches within which the text and the file run side by side.
 */

/** From `index` of the text on, characters are at `offset` of the scalar as written. */
interface Stretch {
  readonly index: number;
  readonly offset: number;
}

/** `source` is the scalar as written, with its quotes or block header; `value` what it says. */
export function textPlaces(source: string, value: string): (index: number) => number {
  const stretches = /^[|>]/.test(source) ? blockStretches(source, value) : flowStretches(source);
  return (index) => {
    const { index: from, offset } = stretches.findLast((each) => each.index <= index) ?? { index: 0, offset: 0 };
    return Math.min(offset + index - from, source.length);
  };
}

/** `|` keeps each line, `>` folds some: both without what every line is indented by. */
function blockStretches(source: string, value: string): Stretch[] {
  const stretches: Stretch[] = [];
  const [header = ''] = source.split('\n', 1);
  const lines = source.slice(header.length + 1).split('\n');
  // A line of the text itself may begin with spaces, where the header says by how much lines are indented.
  const indent = leadingSpaces(lines) - leadingSpaces(value.split('\n'));
  let index = 0;
  let offset = header.length + 1;
  for (const line of lines) {
    const content = line.slice(indent).replace(/\r$/, '');
    if (content !== '') {
      const found = value.indexOf(content, index);
      if (found < 0) break;
      stretches.push({ index: found, offset: offset + indent });
      index = found + content.length;
    }
    offset += line.length + 1;
  }
  return stretches;
}

/** Spaces of the first line that has more than spaces. */
function leadingSpaces(lines: readonly string[]): number {
  const line = lines.find((each) => each.trim() !== '') ?? '';
  return line.length - line.trimStart().length;
}

const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/** Plain text, or text in quotes: line breaks are folded, and quotes and backslashes escaped. */
function flowStretches(source: string): Stretch[] {
  const quote = source[0] === '"' || source[0] === "'" ? source[0] : '';
  const stretches: Stretch[] = [{ index: 0, offset: quote.length }];
  let index = 0;
  const fold = /[ \t\r]*\n\s*/y;
  for (let at = quote.length; at < source.length;) {
    fold.lastIndex = at;
    const folded = fold.exec(source)?.[0];
    if (folded !== undefined) {
      const breaks = folded.split('\n').length - 1;
      index += breaks === 1 ? 1 : breaks - 1;
      at += folded.length;
    } else if (quote === "'" && source.startsWith("''", at)) {
      index += 1;
      at += 2;
    } else if (quote === '"' && source[at] === '\\') {
      const [escape] = /^\\(?:\r?\n[ \t]*|.)/s.exec(source.slice(at, at + 1000)) ?? ['\\'];
      const length = ESCAPE_LENGTHS[escape[1] ?? ''] ?? escape.length;
      // A line break that is escaped says nothing, one beyond 16 bits takes two characters.
      if (!escape.includes('\n'))
        index += escape[1] === 'U' && Number.parseInt(source.slice(at + 2, at + 10), 16) > 0xffff ? 2 : 1;
      at += length;
    } else {
      index += 1;
      at += 1;
      continue;
    }
    stretches.push({ index, offset: at });
  }
  return stretches;
}
