/** The format of containerd and CRI-O: `2026-11-21T10:15:00.123456789Z stdout F message`, with P for a piece that is not the last. */
import type { ContainerLine, LineHead } from './container-line.ts';

const LINE =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([A-Z])(?::\S*)? ?(.*)$/s;
/** Time, stream and tag take no more. */
const HEAD_BYTES = 64;

export const NOT_CRI = 'not in the format of a container runtime (CRI)';

export function readCriLine(line: string): ContainerLine | undefined {
  const [, time, stream, tag, content] = LINE.exec(line) ?? [];
  if (time === undefined || stream === undefined || content === undefined) return undefined;
  return { time, stream, content, isPartial: tag === 'P' };
}

export function readCriHead(bytes: Buffer, start: number, end: number): LineHead | undefined {
  const [, , stream, tag] =
    LINE.exec(bytes.toString('latin1', start, Math.min(end, start + HEAD_BYTES)).trimEnd()) ?? [];
  return stream === undefined ? undefined : { stream, isPartial: tag === 'P' };
}
