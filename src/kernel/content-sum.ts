/**
 * The checksum of a stream's bytes that adds up over its stretches (assembly/content-sum.ts): what spans, files and copies are
 * compared by. core/sums.ts adds and subtracts. Why it is no CRC: docs/adr/0012-content-sums.md.
 */
import { addSums } from '../core/sums.ts';
import { createMemory, instantiate, PAGE_BYTES, type WasmMemory } from './web-assembly.ts';

interface Exports {
  setUp(weightsAt: number): void;
  sum(from: number, end: number, offset: number): number;
}

/** Bytes that the sums need of a memory that they are made in. */
export const WEIGHTS_BYTES = 4096;

/** Bytes from anywhere else are copied after the weights a piece at a time, small enough to stay in the first cache. */
const PIECE_AT = WEIGHTS_BYTES;
const PIECE_BYTES = 32 * 1024;

let apart: { readonly exports: Exports; readonly piece: Buffer } | undefined;
/** By the memory whose bytes are summed where they lie. */
const inPlace = new WeakMap<ArrayBufferLike, Exports>();

/** Takes its memory now, so that a lack of memory shows at the start. Throws `TailraceError` `E_KERNEL_MEMORY`. */
export function prepareContentSum(): void {
  apart ??= makeApart();
}

/** Sums the bytes of this memory where they lie from now on. Its `[weightsAt, weightsAt + WEIGHTS_BYTES)` are used for that. */
export function sumInPlace(memory: WasmMemory, weightsAt: number): void {
  inPlace.set(memory.buffer, make(memory, weightsAt));
}

/** The sum of the bytes `[from, end)`, of which the first is at `offset` in its stream: a whole number below 2^52, 0 for no bytes. */
export function contentSum(all: Uint8Array, offset: number, from = 0, end = all.length): number {
  const there = inPlace.get(all.buffer);
  if (there) return there.sum(all.byteOffset + from, all.byteOffset + end, offset);
  const bytes = all.subarray(from, end);
  const { exports, piece } = (apart ??= makeApart());
  let total = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const part = bytes.length > PIECE_BYTES ? bytes.subarray(at, at + PIECE_BYTES) : bytes;
    piece.set(part);
    total = addSums(total, exports.sum(PIECE_AT, PIECE_AT + part.length, offset + at));
  }
  return total;
}

function makeApart(): NonNullable<typeof apart> {
  const memory = createMemory(Math.ceil((PIECE_AT + PIECE_BYTES) / PAGE_BYTES));
  return { exports: make(memory, 0), piece: Buffer.from(memory.buffer, PIECE_AT, PIECE_BYTES) };
}

function make(memory: WasmMemory, weightsAt: number): Exports {
  const exports = instantiate('content-sum.wasm', memory) as Exports;
  exports.setUp(weightsAt);
  return exports;
}
