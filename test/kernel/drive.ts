/** Drives the kernel over a block under any chunking, output room and event limit, and holds each step against the oracle. */
import { expect } from 'vitest';
import type { EventShape, Marks } from '../../src/core/block.ts';
import { KERNEL_SLACK_BYTES } from '../../src/core/limits.ts';
import { createKernel, type Template } from '../../src/kernel/kernel.ts';
import { countInvalid, eventOf, type LineContext } from '../../src/kernel/reference.ts';

const WINDOW_BYTES = 1024 * 1024;
const SLOT_BYTES = 4 * 1024 * 1024;
const CANARY = 0xaa;

/** Another kernel after so many blocks: one that met nothing but junk for a while pauses what it knows of objects. */
const BLOCKS_A_KERNEL = 10;

let kernel = createKernel(8 * 1024 * 1024);
let window = kernel.reserve(WINDOW_BYTES);
let slot = kernel.reserve(SLOT_BYTES);
let blocks = 0;

function renew(): void {
  kernel = createKernel(8 * 1024 * 1024);
  window = kernel.reserve(WINDOW_BYTES);
  slot = kernel.reserve(SLOT_BYTES);
}

export interface Plan {
  readonly shape: EventShape;
  readonly timestampField?: string | undefined;
  readonly readAtMs?: number;
  readonly marks?: Marks | undefined;
  /** Each of the `lines` is an event of several: it may hold newlines. */
  readonly isJoined?: boolean;
  /** Where the block starts in the window, so that lines meet every alignment. */
  readonly start?: number;
  /** The window's bytes after the block: must not matter. */
  readonly behind?: Uint8Array;
  /** Lines given at a time, output room, where output starts and events allowed, for the calls in turn, repeated. */
  readonly steps?: readonly {
    readonly lines: number;
    readonly at: number;
    readonly limit: number;
    readonly maxEvents: number;
  }[];
}

const WHOLE = [{ lines: 1_000_000, at: 0, limit: SLOT_BYTES - 256, maxEvents: 1_000_000 }];

/** Runs the lines (without newlines) through the kernel; throws at the first difference from the oracle. Returns all events. */
export function drive(lines: readonly Uint8Array[], plan: Plan): Buffer {
  const context: LineContext = {
    shape: plan.shape,
    timestampField: plan.timestampField,
    readAtMs: plan.readAtMs ?? 1_795_256_100_000,
    marks: plan.marks,
    isJoined: plan.isJoined ?? false,
  };
  const unknownZones: number[] = [];
  const events = lines.map((line) => {
    const own = { ...context, unknownZones: 0 };
    const event = eventOf(line, own);
    unknownZones.push(own.unknownZones);
    return event;
  });
  if (++blocks % BLOCKS_A_KERNEL === 0) renew();
  const template = kernel.compile(plan.shape, plan.timestampField);
  const start = plan.start ?? 0;
  let at = start;
  const ends = lines.map((line) => {
    window.bytes.set(line, at);
    window.bytes[at + line.length] = 0x0a;
    return (at += line.length + 1);
  });
  if (plan.behind) window.bytes.set(plan.behind, at);
  const block = Buffer.from(window.bytes.subarray(start, at));

  const out: Buffer[] = [];
  const steps = plan.steps ?? WHOLE;
  let next = 0;
  for (let turn = 0; next < lines.length; turn++) {
    const step = steps[turn % steps.length]!;
    // Every round of the plan gets one call that cannot stall.
    const { lines: count, at: to, limit, maxEvents } = turn % (steps.length + 1) === steps.length ? WHOLE[0]! : step;
    next = checkCall(
      template,
      context,
      { lines, events, unknownZones, ends, start, next, last: Math.min(next + count, lines.length) },
      { to, limit, maxEvents },
      out,
    );
  }
  expect(block.equals(window.bytes.subarray(start, at)), 'the input is left as it was').toBe(true);
  return Buffer.concat(out);
}

interface Progress {
  readonly lines: readonly Uint8Array[];
  readonly events: readonly (Buffer | undefined)[];
  readonly unknownZones: readonly number[];
  readonly ends: readonly number[];
  readonly start: number;
  readonly next: number;
  readonly last: number;
}

/** One call: bytes, counts and the reason it stopped must be what the oracle's events say. Returns the next line's index. */
function checkCall(
  template: Template,
  context: LineContext,
  on: Progress,
  room: { to: number; limit: number; maxEvents: number },
  out: Buffer[],
): number {
  const { to, limit, maxEvents } = room;
  const from = on.next === 0 ? on.start : on.ends[on.next - 1]!;
  const end = on.ends[on.last - 1]!;
  // Expected: as many events as the room takes.
  let next = on.next;
  let size = 0;
  let events = 0;
  let stop = 'input';
  for (; next < on.last; next++) {
    const event = on.events[next];
    if (event === undefined) continue;
    if (events === maxEvents) stop = 'events';
    else if (to + size + event.length > limit) stop = event.length > limit ? 'too_large' : 'output';
    if (stop !== 'input') break;
    size += event.length;
    events++;
  }
  const expected = Buffer.concat(on.events.slice(on.next, next).filter((event) => event !== undefined));
  const beyond = limit + KERNEL_SLACK_BYTES;
  slot.bytes.fill(CANARY, to === 0 ? 0 : to - 1, to);
  slot.bytes.fill(CANARY, beyond, beyond + 64);

  const ends = context.isJoined ? Uint32Array.from(on.ends.slice(on.next)) : undefined;
  const done = kernel.wrap(
    template,
    context.readAtMs,
    window,
    from,
    end,
    slot,
    to,
    limit,
    maxEvents,
    context.marks,
    ends,
  );
  const written = Buffer.from(slot.bytes.subarray(to, to + done.written));
  if (!written.equals(expected)) throw new Error(differs(written, expected));
  const reached = next === on.next ? from : on.ends[next - 1]!;
  const skipped = next - on.next - events;
  const replaced = on.lines.slice(on.next, next).reduce((sum, each) => sum + countInvalid(each), 0);
  const unknownZones = on.unknownZones.slice(on.next, next).reduce((sum, each) => sum + each, 0);
  expect({ ...done }).toEqual({
    consumed: reached - from,
    written: size,
    events,
    skipped,
    replaced,
    unknownZones,
    stop,
  });
  if (to > 0 && slot.bytes[to - 1] !== CANARY) throw new Error('a byte before the output was overwritten');
  if (slot.bytes.subarray(beyond, beyond + 64).some((byte) => byte !== CANARY))
    throw new Error('bytes past the slack were overwritten');
  if (stop === 'too_large' || stop === 'output') {
    const { marks, isJoined } = context;
    const large = kernel.wrapLarge(
      template,
      context.readAtMs,
      window,
      reached,
      isJoined ? on.ends[next]! : end,
      marks,
      isJoined,
    );
    if (!large.event.equals(on.events[next]!)) throw new Error(differs(large.event, on.events[next]!));
    expect(large.consumed).toBe(on.ends[next]! - reached);
    expect(large.replaced).toBe(countInvalid(on.lines[next]!));
    expect(large.unknownZones).toBe(on.unknownZones[next]);
  }
  out.push(written);
  return next;
}

function differs(written: Buffer, expected: Buffer): string {
  const at = written.findIndex((byte, i) => byte !== expected[i]);
  const from = written.lastIndexOf(0x0a, Math.max(0, (at < 0 ? written.length : at) - 1)) + 1;
  const show = (bytes: Buffer) => JSON.stringify(bytes.subarray(from, from + 400).toString('latin1'));
  return `the kernel wrote\n${show(written)}\nthe reference\n${show(expected)}`;
}

/** One line through the kernel, checked against the oracle at every alignment and with other text behind it. */
export function eventText(
  line: string | Uint8Array,
  shape: Partial<EventShape> = {},
  plan: Omit<Plan, 'shape'> = {},
): string {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line;
  const full: EventShape = { format: 'auto', wrapFields: {}, fields: {}, ...shape };
  let event = '';
  for (let start = 0; start < 17; start++) {
    event = drive([bytes], {
      ...plan,
      shape: full,
      start,
      behind: Buffer.from(start % 2 ? '"}}}]]"\n{"a":1}\n        ' : '\u00e9\\\\\\"\r\r\n,,,,,,,,,,,'),
    }).toString();
  }
  return event;
}
