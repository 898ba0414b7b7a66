/**
 * The bytes of a batch: its events as they are sent, the memory that they take, and their compression by Node's zlib, off the main thread.
 * Compressors are kept and reset between bodies: a new one each time makes so much garbage outside of the heap that a full collection
 * followed every tenth batch. The settings: docs/adr/0013-compression.md.
 */
import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import type { Region } from '../core/block.ts';
import { MAX_CONCURRENCY } from '../core/limits.ts';
import type { BodyForm, Encoding } from '../core/sink.ts';
import type { Withheld } from '../core/shaping.ts';

export class Payload {
  /** Bytes of NDJSON in `body` before it is encoded. */
  bytes = 0;
  /** Bytes of memory that it counts for. */
  memory: number;
  slot: Region | undefined;
  body: Uint8Array;
  /** The checksum of the events in `body` as they were written, where that was wanted. */
  bodyCrc: number | undefined;
  encoding: Encoding = 'identity';
  /** The form in which it is sent; undefined until the batch is closed. */
  form: BodyForm | undefined;
  /** Compression does not make it smaller. */
  isDense = false;
  #compressing: Promise<void> | undefined;

  constructor({ body, slot }: { readonly body: Uint8Array; readonly slot?: Region | undefined }) {
    this.slot = slot;
    this.body = body;
    this.memory = body.length;
  }

  /** Moves its bytes out of its slot, which another batch may have; it counts for its own size and `extraBytes`. */
  leaveSlot(
    budget: { takeAnyway(bytes: number): void; release(bytes: number, slot: Region | undefined): void },
    extraBytes: number,
  ): void {
    if (!this.slot) return;
    const { memory, slot } = this;
    this.body = Buffer.from(this.body);
    this.memory = this.body.length + extraBytes;
    this.slot = undefined;
    budget.takeAnyway(this.memory);
    budget.release(memory, slot);
  }

  /**
   * Compresses the body, if it is not yet, within its own memory; one that does not shrink stays as it is. Concurrent callers (a worker, the
   * disk buffer) share one run, because it overwrites its input.
   */
  async compress(encoding: Encoding): Promise<void> {
    if (encoding !== 'identity' && this.encoding === 'identity' && !this.isDense)
      this.#compressing ??= this.#compress(encoding).finally(() => (this.#compressing = undefined));
    await this.#compressing;
  }

  async #compress(encoding: Compressed): Promise<void> {
    const body = await compressInPlace(this.body, encoding);
    this.isDense = body === undefined;
    if (!body) return;
    this.body = body;
    this.encoding = encoding;
  }

  /** Gives back its memory. */
  release(budget: { release(bytes: number, slot: Region | undefined): void }): void {
    budget.release(this.memory, this.slot);
    this.memory = 0;
    this.slot = undefined;
  }
}

/** The events of a batch that a transform failed on and that must not be sent: they become dead letters before the batch is sent. */
export class WithheldEvents {
  /** `event` counts the accepted ones. Empty while they are on disk alone. */
  events: readonly Withheld[] = [];
  /** There are some, also while they are on disk alone. */
  isAny = false;
  /** Bytes of memory that they take, beside the payload. */
  bytes = 0;
  fate: 'dead_lettered' | 'dropped' = 'dropped';

  /** Returns the bytes of memory that these take. */
  add(events: readonly Withheld[]): number {
    this.events = [...this.events, ...events];
    this.isAny = true;
    const bytes = events.reduce((sum, { text }) => sum + 2 * text.length, 0);
    this.bytes += bytes;
    return bytes;
  }

  /** Gives back their memory. */
  release(budget: { release(bytes: number, slot: undefined): void }): void {
    budget.release(this.bytes, undefined);
    this.bytes = 0;
  }
}

type Compressed = Exclude<Encoding, 'identity'>;
type Compressor = (Gzip | ZstdCompress) & { reset(): void };

/** Output is gathered in pieces of this size; the default of 16 KiB costs a hop each. */
const CHUNK_BYTES = 128 * 1024;
/** Looking back further than 256 KiB takes 7 % more time and leaves 0.7 % less. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 18 };

const KINDS: Readonly<Record<Compressed, { readonly create: () => Compressor; readonly end: number }>> = {
  gzip: {
    create: () => createGzip({ chunkSize: CHUNK_BYTES, level: 1, memLevel: 9 }) as Compressor,
    end: constants.Z_FINISH,
  },
  zstd: {
    create: () => createZstdCompress({ chunkSize: CHUNK_BYTES, params: ZSTD_PARAMS }) as Compressor,
    end: constants.ZSTD_e_end,
  },
};

const idle: Readonly<Record<Compressed, Compressor[]>> = { gzip: [], zstd: [] };

/** Resolves with the compressed bytes; rejects only on a fault of the compressor itself. */
export async function compress(body: Uint8Array, encoding: Compressed): Promise<Buffer> {
  return Buffer.concat(await compressToChunks(body, encoding));
}

/**
 * Overwrites `body` with what it compresses to and resolves with that part of it; undefined, and `body` unchanged, where it
 * takes more memory. Compressed bodies outside of their slots would come on top of the slots' own memory.
 */
export async function compressInPlace(body: Uint8Array, encoding: Compressed): Promise<Uint8Array | undefined> {
  const chunks = await compressToChunks(body, encoding);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length > body.length) return undefined;
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body.subarray(0, length);
}

async function compressToChunks(body: Uint8Array, encoding: Compressed): Promise<Buffer[]> {
  const { create, end } = KINDS[encoding];
  const compressor = idle[encoding].pop() ?? create();
  const chunks = await run(compressor, body, end);
  // One that failed is not kept.
  compressor.reset();
  if (idle[encoding].length < MAX_CONCURRENCY) idle[encoding].push(compressor);
  return chunks;
}

function run(compressor: Compressor, body: Uint8Array, end: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => chunks.push(chunk);
    compressor.on('data', onData);
    compressor.once('error', reject);
    compressor.write(body);
    compressor.flush(end, () => {
      compressor.off('data', onData);
      compressor.off('error', reject);
      resolve(chunks);
    });
  });
}
