/**
 * The typed door to the byte loops (assembly/kernel.ts, built to kernel.wasm). One call takes a block; nothing happens
 * per line in JavaScript. The memory is sized once: growing would detach every view.
 */
import type { EventShape, Marks, Region } from '../core/block.ts';
import { TailraceError } from '../core/errors.ts';
import { KERNEL_SLACK_BYTES } from '../core/limits.ts';
import { timeText } from '../core/time/clock.ts';
import { sumInPlace } from './content-sum.ts';
import { Gaps } from './gaps.ts';
import { formImage } from './times/form-image.ts';
import {
  checkRange,
  aligned,
  ABBREVIATIONS_AT,
  ENDS_AT,
  FORMS_AT,
  INDEX_AT,
  MAX_ENDS,
  NAMED_ZONES_AT,
  PREFIX_AT,
  REGIONS_AT,
  RESULTS_AT,
  SCRATCH_AT,
  SHAPES_AT,
  STACK_AT,
  SUM_WEIGHTS_AT,
  TEMPLATE_AT,
  TIME_AT,
  ZONE_AT,
} from './layout.ts';
import { createJournalFactory, type JournalExports, type JournalFactory } from './journal.ts';
import { MAX_JSON_DEPTH } from './limits.ts';
import { countInvalid, eventOf } from './reference.ts';
import { transformInPlace } from './transform.ts';
import { createSyslogFactory, type SyslogExports, type SyslogFactory } from './syslog.ts';
import { encodeTemplate, timeKeysOf, timesOf } from './template.ts';
import { createMemory, instantiate, PAGE_BYTES } from './web-assembly.ts';
import { copyEvents } from './whole-events.ts';
import type { WrapResult } from './wrap-result.ts';
import {
  abbreviationImage,
  MAX_NAMED_ZONES,
  NAMED_ZONE_BYTES,
  namedZoneImage,
  type ZoneTable,
  zoneTable,
} from './times/zone-table.ts';

/** A compiled shape: the bytes that the kernel writes around and into lines. */
export interface Template {
  readonly shape: EventShape;
}

export interface Kernel {
  /** Reserves memory; throws `TailraceError` `E_KERNEL_MEMORY` when the capacity given at start is used up. */
  reserve(bytes: number): Region;
  /** Gives a region back: another one may get its bytes. */
  release(region: Region): void;
  /** `timestampField`: `_time` is not added to a JSON line that has this key. */
  compile(shape: EventShape, timestampField: string | undefined): Template;
  /**
   * Turns the lines in `input.bytes[start, end)` (each ends in a newline) into NDJSON events (each ends in a newline) at `output.bytes[at,
   * limit)`. Up to KERNEL_SLACK_BYTES beyond `limit` may be overwritten; regions have them after their end. Bytes after the last newline
   * are not consumed. `marks` are added to the one event, which is then wrapped even if it is JSON. With `ends` an event is not a line but
   * ends at each of these places of `input.bytes`, the first after `start`, the last at or after `end`; in it the lines are joined by
   * newlines, without their CRs and the empty ones around them. One call may take only so many of them.
   */
  wrap(
    template: Template,
    readAtMs: number,
    input: Region,
    start: number,
    end: number,
    output: Region,
    at: number,
    limit: number,
    maxEvents: number,
    marks?: Marks,
    ends?: Uint32Array,
  ): WrapResult;
  /**
   * The first line alone, or with `isJoined` all of them as one event, at any size, as its own bytes (none when it is empty):
   * the slow path for what fits no slot.
   */
  wrapLarge(
    template: Template,
    readAtMs: number,
    input: Region,
    start: number,
    end: number,
    marks?: Marks,
    isJoined?: boolean,
  ): {
    consumed: number;
    event: Buffer;
    replaced: number;
    unknownZones: number;
  };
  /** How many newlines are in `input.bytes[start, end)`. */
  count(input: Region, start: number, end: number): number;
  /** The syslog loops for one source (syslog.ts). Reserves their memory. */
  readonly syslog: SyslogFactory;
  /** The loop over a journal's entries for one source (journal.ts). Reserves its memory. */
  readonly journal: JournalFactory;
}

/** What kernel.wasm exports; assembly/kernel.ts says what each does. */
interface Exports extends SyslogExports, JournalExports {
  setUp(
    results: number,
    prefix: number,
    scratch: number,
    stack: number,
    maxDepth: number,
    index: number,
    shapes: number,
  ): void;
  setUpTimes(time: number, zone: number, forms: number, abbreviations: number, zones: number): void;
  setRead(readAtMs: number, offsets: number): void;
  useTemplate(at: number): void;
  forgetShapes(): void;
  wrap(
    p: number,
    end: number,
    out: number,
    base: number,
    limit: number,
    maxEvents: number,
    passes: number,
    ends: number,
  ): void;
  count(p: number, end: number): number;
}

interface CompiledTemplate extends Template {
  readonly timestampField: string | undefined;
  /** Byte for byte (latin1): thousands are kept, and a string takes half of what a buffer does. */
  readonly image: string;
  /** Names the known keys and their marks: shapes of objects are kept from one template to another that has the same. */
  readonly keys: string;
  /** Where times are read: the zone of those that name none. */
  readonly zone: ZoneTable | undefined;
}

const STOPS = ['input', 'output', 'events', 'too_large'] as const;
/** Beyond them: the kernel wants a zone. */
const STOP_ZONE = 4;
const LF = 0x0a;

/**
 * `capacityBytes` is reserved as address space; pages cost memory only once they are touched. A region takes its bytes and
 * KERNEL_SLACK_BYTES, rounded up to 64. Throws `TailraceError` `E_KERNEL_MEMORY` when the system gives no such memory.
 */
export function createKernel(capacityBytes: number): Kernel {
  const capacityEnd = REGIONS_AT + capacityBytes;
  const memory = createMemory(Math.ceil(capacityEnd / PAGE_BYTES));
  const bytes = Buffer.from(memory.buffer);
  const results = new Uint32Array(memory.buffer, RESULTS_AT, 9);
  const endsTable = new Uint32Array(memory.buffer, ENDS_AT, MAX_ENDS);
  const kernel = instantiate('kernel.wasm', memory) as Exports;
  kernel.setUp(RESULTS_AT, PREFIX_AT, SCRATCH_AT, STACK_AT, MAX_JSON_DEPTH, INDEX_AT, SHAPES_AT);
  kernel.setUpTimes(TIME_AT, ZONE_AT, FORMS_AT, ABBREVIATIONS_AT, NAMED_ZONES_AT);
  bytes.set(formImage(), FORMS_AT);
  sumInPlace(memory, SUM_WEIGHTS_AT);
  transformInPlace(memory);

  let free = REGIONS_AT;
  const gaps = new Gaps();
  let timeMs = Number.NaN;
  /** The context that the kernel reads times in. */
  let zone: ZoneTable | undefined;
  let zoneMs = Number.NaN;
  /** The next named zone takes this place. */
  let nextNamed = 0;
  let loaded: Template | undefined;
  let loadedKeys = '';
  let compiledKeys = '';
  const result: WrapResult = {
    consumed: 0,
    written: 0,
    events: 0,
    skipped: 0,
    replaced: 0,
    unknownZones: 0,
    stop: 'input',
  };

  function reserve(size: number): Region {
    const length = aligned(size + KERNEL_SLACK_BYTES);
    const reused = gaps.take(length);
    if (reused !== undefined) return { at: reused, bytes: bytes.subarray(reused, reused + size) };
    const at = free;
    const end = at + length;
    if (end > capacityEnd) {
      throw new TailraceError(
        'E_KERNEL_MEMORY',
        `${size} bytes were asked of the kernel's memory, ${capacityEnd - at} of ${capacityBytes} are left`,
        {
          fix: 'Lower buffer.max_memory or max_event_bytes, or the number of sources',
        },
      );
    }
    free = end;
    return { at, bytes: bytes.subarray(at, at + size) };
  }

  /** Takes a read's time and the zone into use. */
  function setTime(ms: number, table: ZoneTable | undefined): void {
    if (ms !== timeMs) bytes.write(`{"_time":"${timeText(ms)}","message":"`, PREFIX_AT, 'latin1');
    timeMs = ms;
    if (!table || (table === zone && ms === zoneMs)) return;
    if (table !== zone) {
      bytes.set(table.image, ZONE_AT);
      bytes.set(abbreviationImage(table.name), ABBREVIATIONS_AT);
    }
    kernel.setRead(ms, table.count);
    zone = table;
    zoneMs = ms;
  }

  /** Lays out the zone whose name the kernel stopped for, in place of the one that has been there longest. */
  function learnZone(): void {
    const name = bytes.toString('latin1', results[7], results[7]! + results[8]!);
    bytes.set(namedZoneImage(name), NAMED_ZONES_AT + nextNamed * NAMED_ZONE_BYTES);
    nextNamed = (nextNamed + 1) % MAX_NAMED_ZONES;
  }

  function load(template: CompiledTemplate, marks: Marks | undefined): void {
    if (template === loaded && !marks) return;
    const { image, keys, shape, timestampField } = template;
    // May throw: nothing may have changed then.
    if (marks) bytes.set(encodeTemplate(shape, timestampField, TEMPLATE_AT, marks), TEMPLATE_AT);
    else bytes.write(image, TEMPLATE_AT, 'latin1');
    if (keys !== loadedKeys) kernel.forgetShapes();
    loadedKeys = keys;
    kernel.useTemplate(TEMPLATE_AT);
    loaded = marks ? undefined : template;
  }

  /** Writes the ends as addresses; returns the address of the last one that fits. */
  function loadEnds(input: Region, ends: Uint32Array): number {
    const count = Math.min(ends.length, MAX_ENDS);
    for (let i = 0; i < count; i++) endsTable[i] = input.at + ends[i]!;
    return endsTable[count - 1]!;
  }

  function count(input: Region, start: number, end: number): number {
    checkRange(input, start, end);
    return kernel.count(input.at + start, input.at + end);
  }

  return {
    reserve,

    release: ({ at, bytes: { length } }) => gaps.add(at, aligned(length + KERNEL_SLACK_BYTES)),

    syslog: createSyslogFactory(kernel, bytes, RESULTS_AT, reserve),
    journal: createJournalFactory(kernel, bytes, RESULTS_AT, reserve),

    compile(shape, timestampField) {
      const image = encodeTemplate(shape, timestampField, TEMPLATE_AT).toString('latin1');
      const times = timesOf(shape, timestampField);
      const text = JSON.stringify([Object.keys(shape.fields), timestampField ?? null, times ? timeKeysOf(times) : []]);
      // One string for all files of a source.
      const keys = text === compiledKeys ? compiledKeys : (compiledKeys = text);
      const template: CompiledTemplate = { shape, timestampField, image, keys, zone: times && zoneTable(times.zone) };
      return template;
    },

    wrap(template, readAtMs, input, start, end, output, at, limit, maxEvents, marks, ends) {
      checkRange(input, start, end);
      checkRange(output, at, limit);
      if (template.shape.format === 'events')
        return copyEvents(result, count, input, start, end, output, at, limit, maxEvents);
      setTime(readAtMs, (template as CompiledTemplate).zone);
      load(template as CompiledTemplate, marks);
      const passes = template.shape.format !== 'text' && !marks;
      const from = input.at + start;
      const to = output.at + at;
      const lastEnd = input.at + lineEnd(input, start, end);
      const stopAt = ends ? Math.min(lastEnd, loadEnds(input, ends)) : lastEnd;
      let [next, out, stop] = [from, to, STOP_ZONE];
      result.events = result.skipped = result.replaced = result.unknownZones = 0;
      while (stop === STOP_ZONE) {
        const endsAt = ends ? ENDS_AT + 4 * (result.events + result.skipped) : 0;
        kernel.wrap(next, stopAt, out, output.at, output.at + limit, maxEvents - result.events, passes ? 1 : 0, endsAt);
        next = results[0]!;
        out = results[1]!;
        result.events += results[2]!;
        result.skipped += results[3]!;
        stop = results[4]!;
        result.replaced += results[5]!;
        result.unknownZones += results[6]!;
        if (stop === STOP_ZONE) learnZone();
      }
      result.consumed = next - from;
      result.written = out - to;
      result.stop = STOPS[stop]!;
      return result;
    },

    wrapLarge(template, readAtMs, input, start, end, marks, isJoined = false) {
      checkRange(input, start, end);
      const newline = isJoined ? end - start - 1 : input.bytes.subarray(start, end).indexOf(LF);
      const line = input.bytes.subarray(start, newline < 0 ? end : start + newline);
      const { shape, timestampField } = template as CompiledTemplate;
      const context = { shape, timestampField, readAtMs, marks, isJoined, unknownZones: 0 };
      const event = eventOf(line, context) ?? Buffer.alloc(0);
      const replaced = shape.format === 'events' ? 0 : countInvalid(line);
      return { consumed: newline < 0 ? end - start : newline + 1, event, replaced, unknownZones: context.unknownZones };
    },

    count,
  };
}

/** The end of the last whole line: the kernel relies on a newline as its input's last byte. */
function lineEnd(input: Region, start: number, end: number): number {
  if (end === start || input.bytes[end - 1] === LF) return end;
  return start + input.bytes.subarray(start, end).lastIndexOf(LF) + 1;
}
