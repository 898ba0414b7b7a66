/**
 * What makes a file the same file: device, inode, the hash of its head (up to 1 KiB, growing with the file) and the
 * checksum of the bytes just before the position. Pure functions; who reads the bytes is elsewhere.
 */
import { hash } from 'node:crypto';
import type { Tail } from '../../../core/block.ts';
import { HEAD_BYTES } from '../../../core/limits.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { tailOf } from '../../../core/tail.ts';

/** What is known of a file from before. */
export interface KnownFile {
  readonly identity: FileIdentity;
  /** Where the stream begins in the file. */
  readonly startAt: number;
  readonly offset: number;
  /** Of the bytes just before `offset`. */
  readonly tail: Tail;
}

/** What is there now. */
export interface FileSample {
  readonly device: string;
  readonly inode: string;
  readonly size: number;
  /** Up to HEAD_BYTES from the beginning; at least the known head's length where the file has it. */
  readonly head: Buffer;
  /** The `known.tail.length` bytes before `known.offset`, fewer where the file ends sooner. */
  readonly beforeOffset: Buffer;
  /** The byte at the beginning of a stream that `isAtHole`; undefined where there is none, and of any other. */
  readonly first: number | undefined;
}

export type Verdict = 'same' | 'different' | 'undecided';

export const NO_HEAD = { headLength: 0, headHash: '' } as const;

const NUL_HEAD = hash('sha256', Buffer.alloc(HEAD_BYTES), 'hex');

/** The head that is known is nothing but NULs. */
export function isHollow({ headLength, headHash }: FileIdentity): boolean {
  return headLength === HEAD_BYTES && headHash === NUL_HEAD;
}

/** Nothing was read of a stream that begins behind a hole: all that is known of it is that the hole ends there. */
export function isAtHole({ identity, startAt, offset }: Omit<KnownFile, 'tail'>): boolean {
  return startAt > 0 && offset === startAt && isHollow(identity);
}

/** True when a file with these first bytes may be the one of the identity: it has no other first bytes than that. */
export function beginsAs({ headLength, headHash }: FileIdentity, head: Buffer): boolean {
  return headLength === 0 || hashHead(head.subarray(0, headLength)).headHash === headHash;
}

/** Length and hash of a head. */
export function hashHead(head: Buffer): Pick<FileIdentity, 'headLength' | 'headHash'> {
  return head.length === 0 ? NO_HEAD : { headLength: head.length, headHash: hash('sha256', head, 'hex') };
}

/** True when the content that is known is still there: nothing before the position was cut off or changed. */
export function hasSameContent(known: KnownFile, sample: FileSample): boolean {
  if (sample.size < known.offset || sample.head.length < known.identity.headLength) return false;
  if (hashHead(sample.head.subarray(0, known.identity.headLength)).headHash !== known.identity.headHash) return false;
  // The hole of a later generation is longer.
  if (sample.first === 0) return false;
  return sample.beforeOffset.length === known.tail.length && tailOf(sample.beforeOffset).crc === known.tail.crc;
}

/**
 * - `different`: known content is not there any more, or it is another file.
 * - `same`: the same inode of the same device with the known content. Nothing known and nothing read counts as the same.
 * - `undecided`: the same content in another place, which a copy, a restored file or a device with a new number can be.
 */
export function compareFile(known: KnownFile, sample: FileSample): Verdict {
  if (!hasSameContent(known, sample)) return 'different';
  if (sample.inode === known.identity.inode && sample.device === known.identity.device) return 'same';
  return known.identity.headLength === 0 ? 'different' : 'undecided';
}
