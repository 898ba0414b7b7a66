/**
 * Reads the parts that may precede a line's time: colours, a level, a pid, brackets, and the keys of logfmt and auditd. A foreign word ends
 * the search. The kernel's copy is assembly/time/head.ts.
 */

/** Pieces before the time, and pairs of logfmt before its key, at most. */
const MAX_PIECES = 12;
const MAX_PAIRS = 8;

/** Words for levels, as alternatives of a regular expression. */
export const LEVELS = 'trace|debug|info|notice|warn|warning|err|error|crit|critical|severe|fatal|alert|panic';
const COLOUR = new RegExp(String.raw`${String.fromCharCode(0x1b)}\[[\d;]{0,16}m`, 'y');
const BLANKS = /[ \t]{1,4}/y;
/** Brackets around other things, such as a thread: not around a clock, a quote, a backslash or a control character. */
const GROUPS = [
  /\[(?![ !#-Z^-\uffff]{0,60}\d:\d\d)[ !#-Z^-\uffff]{0,64}\]/y,
  /\((?![ !#-'*-[\]-\uffff]{0,60}\d:\d\d)[ !#-'*-[\]-\uffff]{0,64}\)/y,
  /<\d{1,3}>/y,
];
const OPENING = /[[(<"]/y;
const SEPARATOR = /[\])>:|,-]/y;
export const LEVEL = new RegExp(`(?:${LEVELS})(?![A-Za-z])`, 'iy');
/** Levels of Ruby's logger, and of those that write levels as letters. */
const LEVEL_LETTER = /[DIWEFTVAU](?=[ ,\]|])/y;
/** `1234`, or `1:M` of Redis. */
const PID = /\d{1,10}(?::[MSCX](?= )|(?=[ \t:]))/y;
const SLOW_LOG = /# Time: /y;
const PAIR = /([A-Za-z_@][\w.@-]{0,31})=/y;
const VALUE = /(?:"[ !#-[\]-\uffff]{0,128}"|[!#-[\]-\uffff]{0,128}) /y;
const AUDIT = /audit\((?=\d)/y;
const TIME_KEYS: ReadonlySet<string> = new Set(['time', 'ts', 't']);

/** A place where a time may be, and of which kind. */
export interface TimePlace {
  readonly at: number;
  readonly kind: 'form' | 'slow log' | 'audit' | 'value' | 'text value';
}

/** The places in the order in which they are tried. */
export function* timePlaces(text: string): Generator<TimePlace> {
  const slowLog = endOf(SLOW_LOG, text, 0);
  if (slowLog > 0) return yield { at: slowLog, kind: 'slow log' };
  const pair = pairPlace(text);
  if (pair) return yield pair;
  let hasPid = false;
  for (let at = 0, n = 0; n <= MAX_PIECES; n++) {
    yield { at, kind: 'form' };
    const opening = endOf(OPENING, text, at);
    if (opening > at) yield { at: opening, kind: 'form' };
    const pid: number = hasPid ? at : endOf(PID, text, at);
    hasPid ||= pid > at;
    const end = pid > at ? pid : pieceEnd(text, at, n > 0, opening);
    if (end === at) return;
    at = end;
  }
}

/** The end of the piece there, or the place itself. */
function pieceEnd(text: string, at: number, isInside: boolean, opening: number): number {
  if (opening > at) {
    for (const group of GROUPS) {
      const end = endOf(group, text, at);
      if (end > at) return end;
    }
    return opening;
  }
  for (const piece of isInside ? [COLOUR, LEVEL, LEVEL_LETTER, BLANKS, SEPARATOR] : [COLOUR, LEVEL, LEVEL_LETTER]) {
    const end = endOf(piece, text, at);
    if (end > at) return end;
  }
  return at;
}

/** Behind `time=`, `ts=`, `t=` of a line of logfmt, or in `audit(…)`. */
function pairPlace(text: string): TimePlace | undefined {
  const audit = endOf(AUDIT, text, 0);
  if (audit > 0) return { at: audit, kind: 'audit' };
  for (let at = 0, n = 0; n < MAX_PAIRS; n++) {
    PAIR.lastIndex = at;
    const key = PAIR.exec(text)?.[1];
    if (key === undefined) return undefined;
    const value = PAIR.lastIndex;
    if (TIME_KEYS.has(key))
      return { at: text[value] === '"' ? value + 1 : value, kind: key === 't' ? 'text value' : 'value' };
    const inside = key === 'msg' ? endOf(AUDIT, text, value) : value;
    if (inside > value) return { at: inside, kind: 'audit' };
    at = endOf(VALUE, text, value);
    if (at === value) return undefined;
  }
  return undefined;
}

/** Behind the pattern at that place, or the place itself. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
