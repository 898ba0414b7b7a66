/** One message as it was framed: whole, its beginning, or one of its parts. */
import { utf8Cut } from '../../../parsers/text/encoding.ts';
import type { JsonValue } from '../../../core/block.ts';
import type { StructuredData } from './structured-data.ts';

export type MessageFields = Record<string, JsonValue | StructuredData | undefined>;

/** The bytes are not written to again. */
export interface MessageFrame {
  readonly bytes: Buffer;
  /** Set when bytes are missing at the end: the message's whole length, as far as it is known. */
  readonly originalBytes?: number;
  /** The connection ended before the message did. */
  readonly isCutOff?: true;
  /** It lies between two octet counts that agree with the bytes: no message of its own. */
  readonly isOutOfStep?: true;
  /** It goes on with a message that was given without its end, as its time was over. */
  readonly isRest?: true;
  /** Set when the message comes in parts. */
  readonly part?: MessagePart;
}

export interface MessagePart {
  /** From 1. */
  readonly number: number;
  readonly isLast: boolean;
  /** All parts of a message have the header of its first part. */
  readonly message: { head?: MessageFields };
}

/** `kept` holds the first bytes of a message of `length` bytes, of which at most `maxEventBytes` are taken. */
export function cut(kept: Buffer, length: number, maxEventBytes: number): MessageFrame | undefined {
  if (length === 0) return undefined;
  if (length <= maxEventBytes && length <= kept.length) return { bytes: kept.subarray(0, length) };
  return { bytes: kept.subarray(0, utf8Cut(kept, 0, Math.min(maxEventBytes, kept.length))), originalBytes: length };
}

/** A whole message as a frame, cut when it is too long. */
export function cutFrame(bytes: Buffer, maxEventBytes: number): MessageFrame {
  return cut(bytes, bytes.length, maxEventBytes) ?? { bytes };
}

/** A whole message as parts of at most `maxEventBytes` (4 or more), or as one frame when it is not too long. */
export function splitFrame(bytes: Buffer, maxEventBytes: number): MessageFrame[] {
  if (bytes.length <= maxEventBytes) return [{ bytes }];
  const message = {};
  const frames: MessageFrame[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.length - at <= maxEventBytes ? bytes.length : utf8Cut(bytes, at, at + maxEventBytes);
    frames.push({
      bytes: bytes.subarray(at, end),
      part: { number: frames.length + 1, isLast: end === bytes.length, message },
    });
    at = end;
  }
  return frames;
}
