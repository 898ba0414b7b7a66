/** Detectors of what names a person or a machine: mail addresses, phone numbers, cards, accounts, network addresses. */
import { isIPv6 } from 'node:net';
import { either, matching, type Detector, type Span } from './detector.ts';

const LETTER = /\p{L}/uy;
const ALPHANUMERIC = /[\p{L}\p{N}]/uy;
const [DOT, HYPHEN] = [0x2e, 0x2d];
const MAX_LOCAL = 64;
const [MAX_LABEL, MAX_LABELS] = [63, 8];
const [LEAST_TOP_LEVEL, MOST_TOP_LEVEL] = [2, 24];

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Behind the character at `at` when it is of that kind, else 0. */
function behind(text: string, at: number, isAscii: (code: number) => boolean, pattern: RegExp): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return isAscii(code) ? at + 1 : 0;
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : 0;
}

const isAsciiAlphanumeric = (code: number): boolean => isAsciiLetter(code) || isDigit(code);
const behindLetter = (text: string, at: number): number => behind(text, at, isAsciiLetter, LETTER);
const behindAlphanumeric = (text: string, at: number): number => behind(text, at, isAsciiAlphanumeric, ALPHANUMERIC);

/** Whether `[\p{L}\p{N}._%+-]` stands at `at`; characters beyond 16 bits do not count. */
function isLocal(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x80) return isAsciiAlphanumeric(code) || code === DOT || code === 0x5f || code === 0x25 || code === 0x2b || code === HYPHEN;
  return (code < 0xd8_00 || code >= 0xe0_00) && behindAlphanumeric(text, at) > 0;
}

/** From each @ to both sides. */
export const email: Detector = function* emails(text) {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < MAX_LOCAL && isLocal(text, start - 1)) start--;
    const end = start < at ? domainEnd(text, at + 1) : 0;
    if (end > 0) yield { start, end };
  }
};

/** Behind the longest domain at `at` of up to eight labels and a top-level domain of letters, or 0. */
function domainEnd(text: string, at: number): number {
  let end = 0;
  for (let labels = 0; labels < MAX_LABELS; labels++) {
    const dot = labelEnd(text, at);
    if (text.charCodeAt(dot) !== DOT) break;
    at = dot + 1;
    end = topLevelEnd(text, at) || end;
  }
  return end;
}

/** Behind the label at `at`; -1 where there is none. */
function labelEnd(text: string, at: number): number {
  let next = behindAlphanumeric(text, at);
  if (next === 0) return -1;
  for (let length = 1; next > 0 && length <= MAX_LABEL; length++) {
    at = next;
    next = text.charCodeAt(at) === HYPHEN ? at + 1 : behindAlphanumeric(text, at);
  }
  return at;
}

function topLevelEnd(text: string, at: number): number {
  let letters = 0;
  for (let next = behindLetter(text, at); next > 0 && letters < MOST_TOP_LEVEL; next = behindLetter(text, at)) {
    at = next;
    letters += 1;
  }
  return letters < LEAST_TOP_LEVEL ? 0 : at;
}

function luhnValue(digit: number, isDoubled: boolean): number {
  const value = isDoubled ? digit * 2 : digit;
  return value > 9 ? value - 9 : value;
}

const DIGITS = /(?<![\d.])\d+(?:[ -]\d+)*/g;
const [LEAST_CARD, MOST_CARD] = [13, 19];

/** Digits, in groups or not, whose checksum is right: the longest that begin and end with a group. */
export const creditCard: Detector = function* cards(text) {
  for (let from = 0; ;) {
    DIGITS.lastIndex = from;
    const match = DIGITS.exec(text);
    if (!match) return;
    from = match.index + match[0].length;
    if (match[0].length >= LEAST_CARD) yield* cardsIn(match[0], match.index);
  }
};

/** Sums of the digits before each, of which every second one is doubled, let each candidate be checked at once. */
function cardsIn(run: string, index: number): Span[] {
  const ends: number[] = [];
  const [evenDoubled, oddDoubled] = [[0], [0]];
  /** Of each group, the number of its first digit. */
  const groups: number[] = [];
  for (let at = 0; at < run.length; at++) {
    const digit = run.charCodeAt(at) - 0x30;
    if (digit < 0) continue;
    const n = ends.length;
    if (n === 0 || ends[n - 1] !== at) groups.push(n);
    ends.push(at + 1);
    evenDoubled.push(evenDoubled[n]! + luhnValue(digit, n % 2 === 0));
    oddDoubled.push(oddDoubled[n]! + luhnValue(digit, n % 2 === 1));
  }
  groups.push(ends.length);
  const found: Span[] = [];
  for (let first = 0; first < groups.length - 1; first++) {
    const from = groups[first]!;
    const opening = run.charCodeAt(ends[from]! - 1);
    if (opening < 0x32 || opening > 0x36) continue;
    let last = -1;
    for (let next = first + 1; next < groups.length && groups[next]! - from <= MOST_CARD; next++) {
      const to = groups[next]!;
      // The last digit is not doubled.
      const sums = to % 2 === 0 ? evenDoubled : oddDoubled;
      if (to - from >= LEAST_CARD && (sums[to]! - sums[from]!) % 10 === 0) last = next;
    }
    if (last < 0) continue;
    found.push({ start: index + ends[from]! - 1, end: index + ends[groups[last]! - 1]! });
    first = last - 1;
  }
  return found;
}

/** Letters count as 10 to 35; the number, turned by four places, leaves 1 when it is divided by 97. */
function isIban(text: string): boolean {
  const bare = text.replaceAll(' ', '');
  if (bare.length < 15 || bare.length > 34) return false;
  let rest = 0;
  for (const char of bare.slice(4) + bare.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;

/** Words behind it may look like a part of it: groups are left out from its end until the checksum is right. */
export const iban: Detector = function* ibans(text) {
  for (const { 0: match, index } of text.matchAll(IBAN)) {
    let candidate = match;
    while (candidate.includes(' ') && !isIban(candidate)) candidate = candidate.slice(0, candidate.lastIndexOf(' '));
    if (isIban(candidate)) yield { start: index, end: index + candidate.length };
  }
};

export const phone: Detector = either(
  matching(/(?<![\w+])\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,13}(?!\d)/g),
  matching(/(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[.-])\d{3}[.-]\d{4}(?![\d-]|\.\d)/g),
);

const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
export const ipv4: Detector = matching(new RegExp(`(?<![\\w.])${BYTE}(?:\\.${BYTE}){3}(?![\\w]|\\.\\d)`, 'g'));

const IPV6_LIKE = /(?<![\w:.])[0-9A-Fa-f:][0-9A-Fa-f:.]*/g;
export const ipv6: Detector = function* addresses(text) {
  for (const { 0: run, index } of text.matchAll(IPV6_LIKE)) {
    if (run.length < 3 || run.length > 64) continue;
    let end = run.length;
    while (run[end - 1] === '.' || (run[end - 1] === ':' && run[end - 2] !== ':')) end--;
    const candidate = run.slice(0, end);
    if (candidate.length > 2 && isIPv6(candidate)) yield { start: index, end: index + candidate.length };
  }
};
