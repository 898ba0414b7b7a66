/**
 * gzip (RFC 1952) of the bodies that are sent: deflate by a module of its own (assembly/deflate.ts) over memory of its own. Why it is not Node's: docs/adr/0013-own-compressor.md.
 */
import { crc32 } from 'node:zlib';
import { createMemory, instantiate } from './web-assembly.ts';

interface Exports {
  readonly begin: () => void;
  readonly deflate: (length: number, isLast: boolean) => number;
  readonly SEGMENT_BYTES: { readonly value: number };
  readonly INPUT: { readonly value: number };
  readonly OUTPUT: { readonly value: number };
  readonly END: { readonly value: number };
}

interface Deflater {
  readonly begin: Exports['begin'];
  readonly deflate: Exports['deflate'];
  /** Most bytes compressed in one call. */
  readonly segmentBytes: number;
  readonly input: Buffer;
  readonly output: Buffer;
}

const MEMORY_PAGES = 46;
/** Deflate, no name, no time, the fastest, of an unknown system. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
const TRAILER_BYTES = 8;

let made: Deflater | undefined;

/** Takes its memory now, so that a lack of memory shows at the start. Throws `TailraceError` `E_KERNEL_MEMORY`. */
export function prepareGzip(): void {
  made ??= make();
}

/** The compressed body in pieces. The last is in the module's memory: it holds until the next call, the others for good. */
export function gzip(body: Uint8Array): Buffer[] {
  const { begin, deflate, segmentBytes, input, output } = (made ??= make());
  const pieces: Buffer[] = [];
  begin();
  let checksum = 0;
  for (let at = 0; at === 0 || at < body.length; at += segmentBytes) {
    const segment = body.length > segmentBytes ? body.subarray(at, at + segmentBytes) : body;
    input.set(segment);
    // Now, while it is in the cache.
    checksum = crc32(input.subarray(0, segment.length), checksum);
    const isLast = at + segment.length === body.length;
    const piece = output.subarray(0, HEAD.length + deflate(segment.length, isLast) + (isLast ? TRAILER_BYTES : 0));
    if (isLast) {
      piece.writeUInt32LE(checksum, piece.length - 8);
      piece.writeUInt32LE(body.length % 2 ** 32, piece.length - 4);
    }
    const stripped = at === 0 ? piece : piece.subarray(HEAD.length);
    pieces.push(isLast ? stripped : Buffer.from(stripped));
  }
  return pieces;
}

function make(): Deflater {
  const memory = createMemory(MEMORY_PAGES);
  const { begin, deflate, SEGMENT_BYTES, INPUT, OUTPUT, END } = instantiate('deflate.wasm', memory) as Exports;
  if (END.value > memory.buffer.byteLength) throw new Error(`deflate.wasm wants ${END.value} bytes of memory`);
  const output = Buffer.from(memory.buffer, OUTPUT.value - HEAD.length, INPUT.value - OUTPUT.value + HEAD.length);
  output.set(HEAD);
  return { begin, deflate, segmentBytes: SEGMENT_BYTES.value, input: Buffer.from(memory.buffer, INPUT.value, SEGMENT_BYTES.value), output };
}
