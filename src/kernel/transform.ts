/**
 * The typed door to pipelines over bytes (assembly/transform.ts, built to transform.wasm). It has a memory of its own, small enough to stay in
 * the cache: events are copied in, and the results stay there until the next call.
 */
import { createMemory, instantiate, PAGE_BYTES } from './web-assembly.ts';

interface Exports {
  setUp(results: number, members: number, found: number, keys: number, keysBytes: number): void;
  useProgram(at: number): void;
  run(p: number, end: number, out: number, limit: number, sent: number, most: number, first: number): void;
}

export interface TransformRun {
  /** The first event that was not handled, and where it begins in the loaded bytes. */
  readonly event: number;
  readonly reached: number;
  /** Those that are sent, and their bytes, valid until the next call. */
  readonly written: number;
  readonly bytes: Buffer;
  /** `values`: the event has to be shaped by its values. `full`: there may be more in a next call. */
  readonly stop: 'end' | 'values' | 'full';
}

const SLACK_BYTES = 64;
const RESULTS_AT = 64;
const FOUND_AT = 128;
/** assembly/transform/members.ts: 32 slots of four bytes, 256 members of 16. */
const MEMBERS_AT = FOUND_AT + 128;
const KEYS_AT = MEMBERS_AT + 256 * 16;
const KEYS_BYTES = 8 * 1024;
/** Where the image of a program belongs. */
export const TRANSFORM_IMAGE_AT = KEYS_AT + KEYS_BYTES;
export const TRANSFORM_IMAGE_BYTES = 64 * 1024;
const SENT_AT = TRANSFORM_IMAGE_AT + TRANSFORM_IMAGE_BYTES;
const MOST_SENT = 4096;
const INPUT_AT = SENT_AT + 8 * MOST_SENT;
/** Bytes of events that are taken at a time. */
export const TRANSFORM_INPUT_BYTES = 128 * 1024;
const OUTPUT_AT = INPUT_AT + TRANSFORM_INPUT_BYTES + SLACK_BYTES;
const OUTPUT_BYTES = TRANSFORM_INPUT_BYTES + TRANSFORM_IMAGE_BYTES + SLACK_BYTES;
const STOPS = ['end', 'values', 'full'] as const;

interface Instance {
  readonly kernel: Exports;
  readonly bytes: Buffer;
  readonly results: Uint32Array;
  /** The number and the end of each event that is sent. */
  readonly sent: Uint32Array;
}

let instance: Instance | undefined;
let loaded: Buffer | undefined;

function makeInstance(): Instance {
  const memory = createMemory(Math.ceil((OUTPUT_AT + OUTPUT_BYTES + SLACK_BYTES) / PAGE_BYTES));
  const kernel = instantiate('transform.wasm', memory) as Exports;
  kernel.setUp(RESULTS_AT, MEMBERS_AT, FOUND_AT, KEYS_AT, KEYS_BYTES);
  const { buffer } = memory;
  return {
    kernel,
    bytes: Buffer.from(buffer),
    results: new Uint32Array(buffer, RESULTS_AT, 5),
    sent: new Uint32Array(buffer, SENT_AT, 2 * MOST_SENT),
  };
}

/** For each event that the last run sent: its number, and where in the run's bytes it ends. */
export const sentEvents = (): Uint32Array => (instance ??= makeInstance()).sent;

/** Takes `[from, to)` of the bytes, whole events and at most TRANSFORM_INPUT_BYTES, for the runs that follow. */
export function loadEvents(bytes: Buffer, from: number, to: number): void {
  bytes.copy((instance ??= makeInstance()).bytes, INPUT_AT, from, to);
}

/** Runs the program over the loaded bytes, from `from` up to `to`; `first` is the number of the event there. */
export function runTransform(image: Buffer, from: number, to: number, first: number): TransformRun {
  const { kernel, bytes, results } = (instance ??= makeInstance());
  if (image !== loaded) {
    bytes.set(image, TRANSFORM_IMAGE_AT);
    kernel.useProgram(TRANSFORM_IMAGE_AT);
    loaded = image;
  }
  kernel.run(INPUT_AT + from, INPUT_AT + to, OUTPUT_AT, OUTPUT_AT + OUTPUT_BYTES, SENT_AT, MOST_SENT, first);
  const reached = results[0]! - INPUT_AT;
  return {
    event: results[2]!,
    reached,
    written: results[3]!,
    bytes: bytes.subarray(OUTPUT_AT, results[1]),
    stop: STOPS[results[4]!]!,
  };
}
