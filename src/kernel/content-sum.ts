/**
 * The checksum of a stream's bytes that adds up over its stretches (assembly/content-sum.ts): what spans, files and copies are
 * compared by. core/sums.ts adds and subtracts. Why it is no CRC: docs/adr/0012-content-sums.md.
 */
import { CONTENT_SUM_MODULUS } from '../core/sums.ts';
import { createMemory, instantiate } from './web-assembly.ts';

interface Exports {
  sum(from: number, end: number, offset: number): number;
}

/** Behind the weights of one page. Bytes are copied to here a piece at a time, small enough to stay in the first cache. */
const PIECE_AT = 4096;
const PIECE_BYTES = 32 * 1024;

let made: { readonly exports: Exports; readonly piece: Buffer } | undefined;

/** Takes its memory now, so that no file waits for it when there is none. Throws `TailraceError` `E_KERNEL_MEMORY`. */
export function prepareContentSum(): void {
  made ??= make();
}

/** The sum of bytes of which the first is at `offset` in its stream: a whole number below 2^52, 0 for no bytes. */
export function contentSum(bytes: Uint8Array, offset: number): number {
  const { exports, piece } = (made ??= make());
  let total = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const part = bytes.length > PIECE_BYTES ? bytes.subarray(at, at + PIECE_BYTES) : bytes;
    piece.set(part);
    total = (total + exports.sum(PIECE_AT, PIECE_AT + part.length, offset + at)) % CONTENT_SUM_MODULUS;
  }
  return total;
}

function make(): NonNullable<typeof made> {
  const memory = createMemory(1);
  return { exports: instantiate('content-sum.wasm', memory) as Exports, piece: Buffer.from(memory.buffer, PIECE_AT, PIECE_BYTES) };
}
