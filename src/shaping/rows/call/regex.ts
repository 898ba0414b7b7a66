/**
 * Regular expressions of the language: RE2's, so that their cost is linear in the text whatever the pattern; no look-around, no back
 * references. A dot does not match a newline unless the pattern says so.
 */
import { RE2JS } from 're2js';
import { messageOf } from '../../../core/errors.ts';
import { MAX_FIELD_PATTERN_CHARS } from '../../limits.ts';
import type { Of, RowCall } from './call.ts';
import { plainPattern } from '../values/plain-pattern.ts';
import { bounded } from '../values/text.ts';

/** The place of a match, and its groups: '' for one that took no part. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly string[];
}

/** Texts up to this length may be read as often as they have characters, and by JavaScript's engine. */
const SHORT_TEXT = 1024;
/** How often all matches together may read a longer one. */
const MOST_READINGS = 8;
/** Readings that the engine takes for each match, however short. */
const MATCH_READINGS = 32;
/** Characters that a search for a fixed text passes in the time that the engine takes for one. */
const SEARCHED_AT_ONCE = 16;

/** A text that the engine reads only so often. */
class MeasuredText extends String {
  #left: number;

  constructor(text: string) {
    super(text);
    this.#left = MOST_READINGS * text.length;
  }

  override charCodeAt(at: number): number {
    this.#take(1);
    return super.charCodeAt(at);
  }

  override indexOf(wanted: string, from = 0): number {
    const found = super.indexOf(wanted, from);
    this.#take(1 + ((found < 0 ? this.length : found) - from) / SEARCHED_AT_ONCE);
    return found;
  }

  /** A match was found. */
  allowMatch(): void {
    this.#left += MATCH_READINGS;
  }

  #take(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0)
      throw new RangeError(
        `the regular expression would read a text of ${this.length} characters more than ${MOST_READINGS} times`,
      );
  }
}

export class Regex {
  readonly #engine: RE2JS;
  /** For texts that are short enough for an engine that may try a start at each character. */
  readonly #plain: RegExp | undefined;
  readonly groups: number;
  /** The last text and its first match: several captures of one pattern ask for the same. */
  #text: string | undefined;
  #first: RegexMatch | undefined;

  constructor(pattern: string) {
    this.#engine = RE2JS.compile(pattern);
    this.#plain = plainPattern(pattern);
    this.groups = this.#engine.groupCount();
  }

  test(text: string): boolean {
    return this.#plain && text.length <= SHORT_TEXT
      ? this.#plainMatch(this.#plain, text, 0) !== undefined
      : this.#engine.test(text);
  }

  first(text: string): RegexMatch | undefined {
    if (text !== this.#text) {
      const isPlain = this.#plain && text.length <= SHORT_TEXT;
      this.#first = isPlain ? this.#plainMatch(this.#plain, text, 0) : (this.matches(text).next().value ?? undefined);
      this.#text = text;
    }
    return this.#first;
  }

  #plainMatch(plain: RegExp, text: string, at: number): RegexMatch | undefined {
    plain.lastIndex = at;
    const groups = plain.exec(text);
    return groups ? { start: groups.index, end: groups.index + groups[0].length, groups: [...groups] } : undefined;
  }

  /**
   * Finds matches without overlaps; after an empty one it goes on a character later. Throws a `RangeError` when that reads a long text too
   * often.
   */
  *matches(text: string): Generator<RegexMatch, undefined> {
    const find =
      this.#plain && text.length <= SHORT_TEXT ? this.#findPlain(this.#plain, text) : this.#findMeasured(text);
    for (let at = 0; at <= text.length;) {
      const match = find(at);
      if (!match) return undefined;
      yield match;
      const { start, end } = match;
      at = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xff_ff ? 2 : 1);
    }
    return undefined;
  }

  #findPlain(plain: RegExp, text: string): (at: number) => RegexMatch | undefined {
    return (at) => this.#plainMatch(plain, text, at);
  }

  #findMeasured(text: string): (at: number) => RegexMatch | undefined {
    let matcher = this.#engine.matcher(text);
    let measured: MeasuredText | undefined;
    return (at) => {
      // One search is linear; each of those after it may read all of the rest.
      if (at > 0 && !measured && text.length > SHORT_TEXT) {
        measured = new MeasuredText(text);
        matcher = this.#engine.matcher(measured as unknown as string);
      }
      measured?.allowMatch();
      if (!matcher.find(at)) return undefined;
      const [start, end] = [matcher.start(), matcher.end()];
      const groups = [text.slice(start, end)];
      for (let n = 1; n <= this.groups; n++) groups.push(matcher.group(n) ?? '');
      return { start, end, groups };
    };
  }

  replace(text: string, by: (match: RegexMatch) => string): string {
    let result = '';
    let done = 0;
    for (const match of this.matches(text)) {
      result = bounded(result + text.slice(done, match.start) + by(match));
      done = match.end;
    }
    return done === 0 && result === '' ? text : bounded(result + text.slice(done));
  }
}

/** Patterns that come out of fields: the last ones are remembered. */
const MOST_DYNAMIC = 100;

/** A regular expression that is an argument. Undefined where it is null or cannot be read; a constant that cannot be read throws. */
export function regexArgument(
  call: RowCall,
  n: number,
  around: (pattern: string) => string = (pattern) => pattern,
): Of<Regex | undefined> {
  const literal = call.literal(n);
  if (literal) {
    if (literal.value === null) return () => undefined;
    const regex = compileRegex(around(String(literal.value)), (message, fix) => call.fail(n, message, fix));
    return () => regex;
  }
  const [text, known] = [call.string(n), new Map<string, Regex | undefined>()];
  return (scope) => {
    const pattern = text(scope);
    if (pattern === null || pattern.length > MAX_FIELD_PATTERN_CHARS) return undefined;
    if (known.has(pattern)) return known.get(pattern);
    if (known.size >= MOST_DYNAMIC) known.clear();
    let regex: Regex | undefined;
    try {
      regex = new Regex(around(pattern));
    } catch {
      regex = undefined;
    }
    known.set(pattern, regex);
    return regex;
  };
}

/** Throws what `fail` makes of the message. */
export function compileRegex(pattern: string, fail: (message: string, fix?: string) => Error): Regex {
  try {
    return new Regex(pattern);
  } catch (error) {
    throw fail(
      `this is no regular expression that can be used: ${messageOf(error)}`,
      "wanted RE2's syntax, without look-around and back references",
    );
  }
}
