/**
 * Lines that are whole events already, made by a source that vouches for them (format `events`): they are copied as they are.
 * The same contract as `Kernel.wrap`, without parsing between the newlines.
 */
import type { Region } from '../core/block.ts';
import type { WrapResult } from './wrap-result.ts';

const LF = 0x0a;

/** `input.bytes[start, end)` ends in a newline; `count` counts newlines. Fills and returns `result`. */
export function copyEvents(
  result: WrapResult,
  count: (input: Region, start: number, end: number) => number,
  input: Region,
  start: number,
  end: number,
  output: Region,
  at: number,
  limit: number,
  maxEvents: number,
): WrapResult {
  const { bytes } = input;
  let to =
    end - start <= limit - at ? end : start + lastLineEnd(bytes.subarray(start, start + Math.max(0, limit - at)));
  let events = count(input, start, to);
  if (events > maxEvents) {
    to = start;
    for (let n = 0; n < maxEvents; n += 1) to = bytes.indexOf(LF, to) + 1;
    events = maxEvents;
  }
  bytes.copy(output.bytes, at, start, to);
  result.consumed = result.written = to - start;
  result.events = events;
  result.skipped = result.replaced = result.unknownZones = 0;
  if (to === end) result.stop = 'input';
  else if (events === maxEvents) result.stop = 'events';
  else result.stop = bytes.indexOf(LF, to) + 1 - to > limit ? 'too_large' : 'output';
  return result;
}

/** Behind the last newline, or 0. */
function lastLineEnd(bytes: Buffer): number {
  return bytes.lastIndexOf(LF) + 1;
}
