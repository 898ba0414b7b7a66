/**
 * The typed door to pipelines over bytes (assembly/transform.ts, built to transform.wasm). Events in a kernel's memory are read where they lie;
 * others are copied into a memory of its own. The results stay there until the next call.
 */
import { KERNEL_SLACK_BYTES } from '../core/limits.ts';
import { REGIONS_AT, TRANSFORM_AT } from './layout.ts';
import { createMemory, instantiate, PAGE_BYTES, type WasmMemory } from './web-assembly.ts';

interface Exports {
  setUp(results: number, members: number, found: number, keys: number, keysBytes: number): void;
  useProgram(at: number): void;
  run(
    p: number,
    end: number,
    out: number,
    limit: number,
    ends: number,
    sent: number,
    dispositions: number,
    runs: number,
    most: number,
  ): void;
}

/** The tables are by event, from the first of the run on; all views are valid until the next call. */
export interface TransformRun {
  /** How many events were handled, and where the next begins in the loaded bytes. */
  readonly events: number;
  readonly reached: number;
  /** How many are sent, and their bytes. */
  readonly written: number;
  readonly bytes: Buffer;
  /** Where its own bytes end. */
  readonly ends: Uint32Array;
  /** 1 or 0. */
  readonly sent: Uint32Array;
  /** Places in DISPOSITIONS. */
  readonly dispositions: Uint8Array;
  /** As in `Shaped`. */
  readonly runs: Uint32Array;
  /** `values`: the event has to be shaped by its values. `full`: there may be more in a next call. */
  readonly stop: 'end' | 'values' | 'full';
}

const RESULTS_AT = TRANSFORM_AT;
const FOUND_AT = RESULTS_AT + 64;
/** assembly/transform/members.ts: 32 slots of four bytes, 256 members of 16. */
const MEMBERS_AT = FOUND_AT + 128;
const KEYS_AT = MEMBERS_AT + 256 * 16;
const KEYS_BYTES = 8 * 1024;
/** Where the image of a program belongs. */
export const TRANSFORM_IMAGE_AT = KEYS_AT + KEYS_BYTES;
export const TRANSFORM_IMAGE_BYTES = 64 * 1024;
/** Events of one call. */
const MOST_EVENTS = 16 * 1024;
const RUN_NUMBERS = 3;
const ENDS_AT = TRANSFORM_IMAGE_AT + TRANSFORM_IMAGE_BYTES;
const SENT_AT = ENDS_AT + 4 * MOST_EVENTS;
const RUNS_AT = SENT_AT + 4 * MOST_EVENTS;
const DISPOSITIONS_AT = RUNS_AT + 4 * RUN_NUMBERS * MOST_EVENTS;
const OUTPUT_AT = DISPOSITIONS_AT + MOST_EVENTS;
const OUTPUT_END = REGIONS_AT - KERNEL_SLACK_BYTES;
/** Bytes of events that are copied in at a time. */
export const TRANSFORM_INPUT_BYTES = 128 * 1024;
/** Copies of events start behind the kernel's reserved memory. */
const INPUT_AT = REGIONS_AT;
const STOPS = ['end', 'values', 'full'] as const;

interface Instance {
  readonly kernel: Exports;
  readonly bytes: Buffer;
  readonly results: Uint32Array;
  loaded: Buffer | undefined;
}

/** Events where a run finds them. */
export interface LoadedEvents {
  readonly instance: Instance;
  /** The address of the first. */
  readonly at: number;
}

const kernels = new WeakMap<ArrayBufferLike, WasmMemory>();
const instances = new WeakMap<WasmMemory, Instance>();
let ownMemory: WasmMemory | undefined;

/** Events in this memory, which is laid out as a kernel's, are read where they lie from now on. */
export function transformInPlace(memory: WasmMemory): void {
  kernels.set(memory.buffer, memory);
}

/** True for bytes that are read where they lie, however many. */
export const liesInPlace = (bytes: Buffer): boolean => kernels.has(bytes.buffer);

/** Takes `[from, to)` of the bytes, whole events, for the runs that follow; at most TRANSFORM_INPUT_BYTES of those that do not lie in place. */
export function loadEvents(bytes: Buffer, from: number, to: number): LoadedEvents {
  const memory = kernels.get(bytes.buffer);
  if (memory) return { instance: instanceOver(memory), at: bytes.byteOffset + from };
  ownMemory ??= createMemory(Math.ceil((INPUT_AT + TRANSFORM_INPUT_BYTES + KERNEL_SLACK_BYTES) / PAGE_BYTES));
  const instance = instanceOver(ownMemory);
  bytes.copy(instance.bytes, INPUT_AT, from, to);
  return { instance, at: INPUT_AT };
}

function instanceOver(memory: WasmMemory): Instance {
  let instance = instances.get(memory);
  if (instance) return instance;
  const kernel = instantiate('transform.wasm', memory) as Exports;
  kernel.setUp(RESULTS_AT, MEMBERS_AT, FOUND_AT, KEYS_AT, KEYS_BYTES);
  const { buffer } = memory;
  const results = new Uint32Array(buffer, RESULTS_AT, 6);
  instance = { kernel, bytes: Buffer.from(buffer), results, loaded: undefined };
  instances.set(memory, instance);
  return instance;
}

/** Runs the program over the loaded bytes, from `from` up to `to`. */
export function runTransform(image: Buffer, { instance, at }: LoadedEvents, from: number, to: number): TransformRun {
  const { kernel, bytes, results } = instance;
  if (image !== instance.loaded) {
    bytes.set(image, TRANSFORM_IMAGE_AT);
    kernel.useProgram(TRANSFORM_IMAGE_AT);
    instance.loaded = image;
  }
  kernel.run(at + from, at + to, OUTPUT_AT, OUTPUT_END, ENDS_AT, SENT_AT, DISPOSITIONS_AT, RUNS_AT, MOST_EVENTS);
  const events = results[2]!;
  const { buffer } = bytes;
  return {
    events,
    reached: results[0]! - at,
    written: results[3]!,
    bytes: bytes.subarray(OUTPUT_AT, results[1]),
    ends: new Uint32Array(buffer, ENDS_AT, events),
    sent: new Uint32Array(buffer, SENT_AT, events),
    dispositions: new Uint8Array(buffer, DISPOSITIONS_AT, events),
    runs: new Uint32Array(buffer, RUNS_AT, RUN_NUMBERS * results[5]!),
    stop: STOPS[results[4]!]!,
  };
}
