/** How many of a file's first lines each preset fits: what `init` chooses by, and `tailrace preset try` shows. */
import type { Trials, TriedEvent } from './trials.ts';

export interface PresetFit {
  readonly name: string;
  /** Lines that are events with fields of their own, or belong to one. */
  readonly lines: number;
  /** Fields of all events together: of presets that fit alike, the one that reads more. */
  readonly fields: number;
  /** Names of the fields. */
  readonly names: ReadonlySet<string>;
}

export interface Fits {
  /** Lines that were looked at, without empty ones. */
  readonly lines: number;
  /** The best first. */
  readonly presets: readonly PresetFit[];
}

const BASE_FIELDS = new Set(['_time', 'message', 'host', 'file', 'truncated', 'original_bytes']);
/** Most texts have some pairs. */
const PAIRS = 'logfmt';

interface TriedLines {
  /** By the number of its first line. */
  readonly begun: ReadonlyMap<number, TriedEvent>;
  readonly joined: ReadonlySet<number>;
}

/** `names` in the order in which those that fit alike are preferred. */
export async function fitPresets(names: readonly string[], path: string, head: Buffer, trials: Trials): Promise<Fits> {
  const auto = await trials.run('format: auto', path, head);
  const hasTime = auto.map(({ hasOwnTime }) => hasOwnTime);
  const tried = new Map<string, TriedLines>();
  const first = firstLines(head);
  for (const name of names) {
    const lines = async (text: Buffer): Promise<TriedLines> =>
      linesOf(await trials.run(`preset: ${name}`, path, text), name, hasTime);
    if (first.length < head.length && (await lines(first)).begun.size === 0) continue;
    tried.set(name, await lines(head));
  }
  const candidates = [...tried.keys()];
  const presets = candidates.map((name, order) => {
    const { begun, joined } = tried.get(name)!;
    // A line that carries a time, or begins an event of another preset, belongs to no event before it.
    const isForeign = (line: number): boolean =>
      hasTime[line] === true || candidates.some((other) => other !== PAIRS && isTimed(tried.get(other)!, line));
    const lines = begun.size + [...joined].filter((line) => !isForeign(line)).length;
    const fields = [...begun.values()].flatMap(({ event }) => fieldsOf(event));
    return { name, lines, fields: fields.length, names: new Set(fields), order };
  });
  const best = presets.toSorted(
    (a, b) => b.lines - a.lines || rankOf(a.name) - rankOf(b.name) || b.fields - a.fields || a.order - b.order,
  );
  return { lines: auto.length, presets: best.filter(({ lines }) => lines > 0) };
}

/** One that fits none of so many lines is not tried on the others. */
const SCREENED_LINES = 20;

function firstLines(head: Buffer): Buffer {
  let end = 0;
  for (let n = 0; n < SCREENED_LINES; n++) {
    const newline = head.indexOf(0x0a, end);
    if (newline < 0) return head;
    end = newline + 1;
  }
  return head.subarray(0, end);
}

const rankOf = (name: string): number => (name === PAIRS ? 1 : 0);
const isTimed = ({ begun }: TriedLines, line: number): boolean => begun.get(line)?.hasOwnTime === true;

function linesOf(events: readonly TriedEvent[], preset: string, hasTime: readonly boolean[]): TriedLines {
  const begun = new Map<number, TriedEvent>();
  const joined = new Set<number>();
  const fieldCounts = events.map(({ event }) => fieldsOf(event).length);
  const trust: Trust = {
    levels: fieldCounts.some((count) => count > 1),
    messages: fieldCounts.filter((count) => count > 0).length * 2 >= events.length,
  };
  let at = 0;
  for (const event of events) {
    const count = event.text.split('\n').filter((line) => line.trimEnd() !== '').length;
    if (fits(event, preset, hasTime.slice(at, at + count).includes(true), trust)) {
      begun.set(at, event);
      for (let n = 1; n < count; n++) joined.add(at + n);
    }
    at += count;
  }
  return { begun, joined };
}

/** Weak evidence, which counts only if other lines of the file give more: a level alone, a message after a time. */
interface Trust {
  readonly levels: boolean;
  readonly messages: boolean;
}

/** Parsed into fields of its own, with its time unless it carries none. */
function fits({ event, text, hasOwnTime }: TriedEvent, preset: string, carriesTime: boolean, trust: Trust): boolean {
  const fields = fieldsOf(event);
  // For lines of JSON their keys are better evidence.
  if (event['parse_error'] !== undefined || event['time_error'] !== undefined || text.startsWith('{')) return false;
  if (preset === PAIRS) return isPairs(event, fields);
  if (hasOwnTime) return fields.length > 0 || (trust.messages && event['message'] !== text);
  return !carriesTime && trust.levels && event['level'] !== undefined;
}

/** Keys that are words, and more with a value than without; auditd and CEF have pairs after a head of their own. */
function isPairs(event: Readonly<Record<string, unknown>>, fields: readonly string[]): boolean {
  const words = fields.filter((key) => /^[A-Za-z_@][\w.@/-]*$/.test(key));
  const bare = fields.filter((key) => event[key] === true);
  return (
    fields.length > 1 &&
    words.length === fields.length &&
    bare.length * 2 < fields.length &&
    !String(event['msg']).startsWith('audit(')
  );
}

const fieldsOf = (event: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(event).filter((key) => !BASE_FIELDS.has(key));
