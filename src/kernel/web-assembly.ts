/** Memory and modules of WebAssembly, which stand beside this file, and beside the bundle that this file becomes part of. */
import { readFileSync } from 'node:fs';

/** The part of WebAssembly that is used: without the DOM's types TypeScript knows no more than its name. */
declare const WebAssembly: {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** Memory of a fixed size, in pages of 64 KiB. Throws a `RangeError` where there is no room for it. */
export function createMemory(pages: number): WasmMemory {
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/** What the module exports, over this memory. */
export function instantiate(file: 'kernel.wasm' | 'content-sum.wasm' | 'deflate.wasm', memory: WasmMemory): unknown {
  const bytes = readFileSync(new URL(`./${file}`, import.meta.url));
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports;
}
