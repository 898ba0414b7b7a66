/**
 * Patterns that JavaScript's own engine runs as RE2 does, and much faster: a sequence of characters and classes of ASCII, repeated or not,
 * where the next one cannot be a part of a repetition. There is one way to match them, so that nothing is tried twice from one place.
 */

/** Which characters match: 128 of ASCII, then all others as one. */
type CharacterSet = readonly boolean[];
const OTHERS = 128;

interface Item {
  readonly set: CharacterSet;
  readonly least: number;
  readonly most: number;
}

const MOST_REPEATED = 100;
const DIGIT = setOf((char) => /\d/.test(char));
const WORD = setOf((char) => /\w/.test(char));
const SPACE = setOf((char) => '\t\n\f\r '.includes(char));
const CLASSES: Readonly<Record<string, CharacterSet>> = {
  d: DIGIT,
  w: WORD,
  s: SPACE,
  D: not(DIGIT),
  W: not(WORD),
  S: not(SPACE),
};
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' };
const ANY = not(setOf((char) => char === '\n'));

/** The same pattern for JavaScript, with the flag g; undefined for one that is not as plain as that. */
export function plainPattern(pattern: string): RegExp | undefined {
  const reader = { pattern, at: 0 };
  const items: Item[] = [];
  let source = '';
  let depth = 0;
  while (reader.at < pattern.length) {
    const char = pattern[reader.at]!;
    if ((char === '^' && reader.at === 0) || (char === '$' && reader.at === pattern.length - 1)) {
      source += char;
      reader.at += 1;
    } else if (char === '(' && pattern[reader.at + 1] !== '?') {
      source += char;
      depth += 1;
      reader.at += 1;
    } else if (char === ')' && depth > 0 && !isQuantifier(pattern[reader.at + 1])) {
      source += char;
      depth -= 1;
      reader.at += 1;
    } else {
      const item = readItem(reader);
      if (!item) return undefined;
      items.push(item);
      source += sourceOf(item);
    }
  }
  return depth === 0 && items.every((item, n) => isCertain(item, items.slice(n + 1)))
    ? new RegExp(source, 'g')
    : undefined;
}

interface PatternReader {
  readonly pattern: string;
  at: number;
}

function setOf(holds: (char: string) => boolean): CharacterSet {
  return Array.from({ length: OTHERS + 1 }, (_, code) => code < OTHERS && holds(String.fromCharCode(code)));
}

function not(set: CharacterSet): CharacterSet {
  return set.map((holds) => !holds);
}

const isQuantifier = (char: string | undefined): boolean => char !== undefined && '*+?{'.includes(char);

function readItem(reader: PatternReader): Item | undefined {
  const set = readSet(reader);
  const range = set && readQuantifier(reader);
  return range && { set, ...range };
}

function readSet(reader: PatternReader): CharacterSet | undefined {
  const char = reader.pattern[reader.at++]!;
  if (char === '[') return readClass(reader);
  if (char === '\\') return readEscape(reader);
  if (char === '.') return ANY;
  if ('^$()|*+?{}]'.includes(char) || char.charCodeAt(0) >= OTHERS) return undefined;
  return setOf((other) => other === char);
}

function readEscape(reader: PatternReader): CharacterSet | undefined {
  const char = reader.pattern[reader.at++];
  if (char === undefined) return undefined;
  const set = CLASSES[char];
  if (set) return set;
  const meant = CONTROLS[char] ?? (/[^\w\s]/.test(char) && char.charCodeAt(0) < OTHERS ? char : undefined);
  return meant === undefined ? undefined : setOf((other) => other === meant);
}

function readClass(reader: PatternReader): CharacterSet | undefined {
  const { pattern } = reader;
  const isNegated = pattern[reader.at] === '^';
  if (isNegated) reader.at += 1;
  let set: CharacterSet = setOf(() => false);
  for (let isFirst = true; ; isFirst = false) {
    const char = pattern[reader.at++];
    if (char === undefined || char === '[' || char.charCodeAt(0) >= OTHERS || (isFirst && char === ']'))
      return undefined;
    if (char === ']') return isNegated ? not(set) : set;
    let part: CharacterSet | undefined;
    if (char === '\\') part = readEscape(reader);
    else if (pattern[reader.at] === '-' && pattern[reader.at + 1] !== ']') {
      const last = pattern[reader.at + 1] ?? '';
      // Other ranges are for those who know all of their rules.
      if (!/^[A-Za-z0-9]{2}$/.test(char + last) || last < char) return undefined;
      reader.at += 2;
      part = setOf((other) => other >= char && other <= last);
    } else if (char === '-' && !isFirst && pattern[reader.at] !== ']') return undefined;
    else part = setOf((other) => other === char);
    if (!part || (isNegated && part[OTHERS] === true)) return undefined;
    set = set.map((holds, code) => holds || part[code]!);
  }
}

function readQuantifier(reader: PatternReader): Pick<Item, 'least' | 'most'> | undefined {
  const found = /^(?:[*+?]|\{(\d{1,3})(,(\d{1,3})?)?\})/.exec(reader.pattern.slice(reader.at));
  if (!found) return reader.pattern[reader.at] === '{' ? undefined : { least: 1, most: 1 };
  const [text, from, comma, to] = found;
  reader.at += text.length;
  if (isQuantifier(reader.pattern[reader.at])) return undefined;
  if (text === '*') return { least: 0, most: Infinity };
  if (text === '+') return { least: 1, most: Infinity };
  if (text === '?') return { least: 0, most: 1 };
  const least = Number(from);
  const most = comma === undefined ? least : to === undefined ? Infinity : Number(to);
  return most < least || least > MOST_REPEATED || (most > MOST_REPEATED && most !== Infinity)
    ? undefined
    : { least, most };
}

/** Whether it is certain where the item ends, and that characters of two UTF-16 units are taken whole. */
function isCertain({ set, least, most }: Item, behind: readonly Item[]): boolean {
  if (set[OTHERS] && !(most === Infinity && least <= 1)) return false;
  if (least === most) return true;
  for (const next of behind) {
    if (next.set.some((holds, code) => holds && set[code] === true)) return false;
    if (next.least > 0) break;
  }
  return true;
}

function sourceOf({ set, least, most }: Item): string {
  const codes = set.flatMap((holds, code) =>
    holds && code < OTHERS ? [String.raw`\x${code.toString(16).padStart(2, '0')}`] : [],
  );
  const others = set[OTHERS] ? String.raw`\u0080-\uffff` : '';
  if (codes.length === 1 && !set[OTHERS] && least === 1 && most === 1) return codes[0]!;
  return `[${codes.join('')}${others}]{${least},${most === Infinity ? '' : most}}`;
}
