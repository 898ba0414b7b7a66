/** Detectors of what names a person or a machine: mail addresses, phone numbers, cards, accounts, network addresses. */
import { isIPv6 } from 'node:net';
import { either, matching, type Detector } from './detector.ts';

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

/** Whether `[\p{L}\p{N}._%+-]` is at `at`; characters beyond 16 bits do not count. */
function isLocal(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x80)
    return (
      isAsciiAlphanumeric(code) || code === DOT || code === 0x5f || code === 0x25 || code === 0x2b || code === HYPHEN
    );
  return (code < 0xd8_00 || code >= 0xe0_00) && behindAlphanumeric(text, at) > 0;
}

/** Names that look like addresses: algorithms and requests of SSH, units of systemd. */
const NO_MAIL =
  /^(?:openssh\.com|libssh\.org|tinyssh\.org|lysator\.liu\.se|.*\.(?:service|socket|slice|timer|mount|scope|device))$/is;

/** From each @ to both sides. */
export const email: Detector = function* emails(text) {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < MAX_LOCAL && isLocal(text, start - 1)) start--;
    const end = start < at ? domainEnd(text, at + 1) : 0;
    if (end > 0 && !NO_MAIL.test(text.slice(at + 1, end))) yield { start, end };
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

/** The end of the label at `at`, or -1. */
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

/** Where a number may begin: beside no letter, and no sign that makes it a part of another word, number or phone number. */
const NUMBER_START = /(?<![\p{L}\p{N}_.+-])\d/gu;
const NUMBER_END = String.raw`(?![\p{L}\p{N}_-]|\.\d)`;
/** The longer ones first. */
const CARD_SHAPES = [
  String.raw`\d{13,19}`,
  String.raw`\d{4}(?: \d{4}){3} \d{3}`,
  String.raw`\d{4}(?:-\d{4}){3}-\d{3}`,
  String.raw`\d{4}(?: \d{4}){3}`,
  String.raw`\d{4}(?:-\d{4}){3}`,
  String.raw`\d{4} \d{6} \d{4,5}`,
  String.raw`\d{4}-\d{6}-\d{4,5}`,
].map((shape) => new RegExp(shape + NUMBER_END, 'uy'));
/** Prefixes of issuers and the lengths of their numbers: Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro, Mir. */
const ISSUERS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|64[4-9]\d|65\d\d|62\d\d|352[89]|35[3-8]\d|220[0-4])\d{12,15}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{9,15})$/;

/** Numbers in the shapes of cards, of an issuer, whose checksum is right. */
export const creditCard: Detector = function* cards(text) {
  for (const { index } of text.matchAll(NUMBER_START)) {
    for (const shape of CARD_SHAPES) {
      shape.lastIndex = index;
      const [match] = shape.exec(text) ?? [];
      if (match === undefined || !isCard(match.replaceAll(/[ -]/g, ''))) continue;
      yield { start: index, end: index + match.length };
      break;
    }
  }
};

/** The digits doubled from the second last on, 9 taken off where that gives two, add up to a multiple of 10. */
function isCard(digits: string): boolean {
  if (!ISSUERS.test(digits)) return false;
  let sum = 0;
  for (let n = 0; n < digits.length; n++) {
    const digit = digits.charCodeAt(n) - 0x30;
    const value = (digits.length - n) % 2 === 0 ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
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

/** The words after it may look like a part of it: groups are left out from its end until the checksum is right. */
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
