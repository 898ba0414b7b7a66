/** Loads memory and modules of WebAssembly from files beside this one or its bundle, or from inside the single executable. */
import { readFileSync } from 'node:fs';
import { getRawAsset, isSea } from 'node:sea';
import { TailraceError } from '../core/errors.ts';

/** The part of WebAssembly that is used: without the DOM's types TypeScript knows no more than its name. */
declare const WebAssembly: {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export const PAGE_BYTES = 64 * 1024;

/** Memory of a fixed size, in pages. Throws `TailraceError` `E_KERNEL_MEMORY` when the system gives none. */
export function createMemory(pages: number): WasmMemory {
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (cause) {
    throw new TailraceError('E_KERNEL_MEMORY', `${pages * PAGE_BYTES} bytes of memory could not be reserved`, {
      fix: 'Allow more address space (ulimit -v), or lower buffer.max_memory or max_event_bytes',
      cause,
    });
  }
}

/** The module's exports, over this memory. */
export function instantiate(file: 'kernel.wasm' | 'content-sum.wasm' | 'transform.wasm', memory: WasmMemory): unknown {
  const bytes = isSea() ? new Uint8Array(getRawAsset(file)) : readFileSync(new URL(`./${file}`, import.meta.url));
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports;
}
