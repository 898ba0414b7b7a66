/** Docker's json-file: `{"log":"message\n","stream":"stdout","time":"…"}`; a message whose `log` has no newline at its end goes on. */
import { parseExactObject, parseObject } from '../../json/numbers.ts';
import type { EventFields } from '../values/fields.ts';
import type { ContainerLine, LineHead } from './container-line.ts';

export const NOT_DOCKER = "not in the format of Docker's json-file";

export function readDockerLine(line: string): ContainerLine | undefined {
  const entry = parseObject(line);
  const { log, stream = 'stdout', time, ...more } = entry ?? {};
  if (typeof log !== 'string' || typeof stream !== 'string' || typeof time !== 'string') return undefined;
  const isPartial = !log.endsWith('\n');
  // Numbers keep their form; few lines have more members.
  const exact = Object.keys(more).length === 0 ? more : membersBeside(line);
  return { time, stream, content: isPartial ? log : log.replace(/\r?\n$/, ''), isPartial, more: exact };
}

function membersBeside(line: string): EventFields {
  const { log: _log, stream: _stream, time: _time, ...more } = parseExactObject(line.trim()) ?? {};
  return more;
}

const LOG = Buffer.from('{"log":"');
/** A quote inside of `log` has a backslash before it, so this can only be what follows its end. */
const STREAM = Buffer.from('","stream":"');
const QUOTE = 34;

export function readDockerHead(bytes: Buffer, start: number, end: number): LineHead | undefined {
  const line = bytes.subarray(start, end);
  const at = line.subarray(0, LOG.length).equals(LOG) ? line.indexOf(STREAM) : -1;
  const from = at + STREAM.length;
  const to = at === -1 ? -1 : line.indexOf(QUOTE, from);
  if (to === -1) {
    const entry = readDockerLine(line.toString());
    return entry && { stream: entry.stream, isPartial: entry.isPartial };
  }
  return { stream: line.toString('latin1', from, to), isPartial: !endsInNewline(line, at) };
}

/** True when the JSON text before `end` ends in `\n`, not in an escaped backslash and an n. */
function endsInNewline(line: Buffer, end: number): boolean {
  if (line[end - 1] !== 0x6e) return false;
  let backslashes = 0;
  while (line[end - 2 - backslashes] === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
