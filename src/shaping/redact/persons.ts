/** Detectors of what names a person or a machine: mail addresses, phone numbers, cards, accounts, network addresses. */
import { isIPv6 } from 'node:net';
import { either, matching, type Detector, type Span } from './detector.ts';

const LOCAL = /[\p{L}\p{N}._%+-]/u;
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}\p{L}{2,24}/uy;
const MAX_LOCAL = 64;

/** From each @ to both sides. */
export const email: Detector = function* emails(text) {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < MAX_LOCAL && LOCAL.test(text[start - 1]!)) start--;
    DOMAIN.lastIndex = at + 1;
    if (start < at && DOMAIN.test(text)) yield { start, end: DOMAIN.lastIndex };
  }
};

export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let n = 0; n < digits.length; n++) {
    const digit = Number(digits[digits.length - 1 - n]);
    const doubled = n % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const DIGITS = /(?<![\d.])\d+(?:[ -]\d+)*/g;
const [LEAST_CARD, MOST_CARD] = [13, 19];

/** Digits, in groups or not, whose checksum is right: the longest that begin and end with a group. */
export const creditCard: Detector = function* cards(text) {
  for (const { 0: run, index } of text.matchAll(DIGITS)) {
    if (run.length < LEAST_CARD) continue;
    const groups = [...run.matchAll(/\d+/g)];
    for (let first = 0; first < groups.length; first++) {
      let digits = '';
      let found: Span | undefined;
      let last = first;
      for (let n = first; n < groups.length && digits.length < MOST_CARD; n++) {
        digits += groups[n]![0];
        if (digits.length < LEAST_CARD || digits.length > MOST_CARD || !/^[2-6]/.test(digits) || !isLuhn(digits)) continue;
        found = { start: index + groups[first]!.index, end: index + groups[n]!.index + groups[n]![0].length };
        last = n;
      }
      if (!found) continue;
      yield found;
      first = last;
    }
  }
};

/** Letters count as 10 to 35; the number, turned by four places, leaves 1 when it is divided by 97. */
export function isIban(text: string): boolean {
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
    const candidate = run.replace(/(?:\.|(?<!:):)+$/, '');
    if (candidate.length > 2 && isIPv6(candidate)) yield { start: index, end: index + candidate.length };
  }
};
