/** Lines of a source with `group`, read in pieces, from positions within, and again from saved state. */
import { groupsIn } from '../../src/batcher/block-events.ts';
import { joinGroups } from '../../src/batcher/span.ts';
import type { Behind, Region, SpanGroups } from '../../src/core/block.ts';
import { newStats } from '../../src/core/source.ts';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import type { WindowBlock } from '../../src/sources/framing/byte-window.ts';
import { createLines } from '../../src/sources/framing/grouped/grouped-lines.ts';
import { type LineShaping, loadShaping } from '../../src/sources/framing/line-shaping.ts';
import { type Lines, streamBytesOf } from '../../src/sources/framing/lines.ts';
import { configOf, configWith } from '../config/reading.ts';

export const NOW_MS = Date.parse('2026-11-22T18:00:00Z');

export interface GroupedEvent {
  readonly message: string;
  /** Behind its last byte in the stream: where the next event begins. */
  readonly end: number;
}

/** Blocks handed out up to a place between two events. */
export interface GroupedPlace {
  readonly at: number;
  /** As it comes back from a row of the database. */
  readonly behind: Behind | undefined;
}

/** A span from one place to another. */
export interface GroupedSpan {
  readonly from: number;
  readonly to: number;
  readonly groups: SpanGroups | undefined;
  readonly events: readonly string[];
}

export interface Reading {
  readonly events: GroupedEvent[];
  readonly places: GroupedPlace[];
  /** Each of one event, or of a line over the limit. */
  readonly spans: GroupedSpan[];
  /** The most that waited at once. */
  mostBytes: number;
}

export interface GroupRig {
  readonly create: () => Lines;
}

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** `source`: keys of a file source, as YAML. */
export async function createGroupRig(
  source: string,
  limits: { maxGroups?: number; maxBytes?: number } = {},
): Promise<GroupRig> {
  const config = configOf(configWith({ source })).sources[0] as FileConfig;
  const loaded = await loadShaping(config);
  const shaping: LineShaping = { ...loaded, group: loaded.group && { ...loaded.group, ...limits } };
  /** Used again by each of the lines. */
  const regions: Region[] = [];
  return {
    create() {
      let n = 0;
      const reserve = (size: number): Region => (regions[n++] ??= { at: 0, bytes: Buffer.alloc(size) });
      return createLines({ rules: config, shaping, stats: newStats(), reserve, clock: { now: () => NOW_MS } });
    },
  };
}

/** Takes what the block holds. */
function note({ events, places, spans }: Reading, block: WindowBlock): void {
  const { window, start, end, ends, made, groups, offset, single } = block;
  if (!groups || !made) {
    const text = window.bytes.toString('utf8', start, end - 1);
    const to = offset + single!.length;
    events.push({ message: text, end: to });
    places.push({ at: to, behind: undefined });
    spans.push({ from: offset, to, groups: undefined, events: [text] });
    return;
  }
  let from = offset;
  for (const [n, until] of ends!.entries()) {
    const begin = ends![n - 1] ?? start;
    const text = window.bytes.toString('utf8', begin, until - 1);
    const to = offset + made.used[n]!;
    const own = text === '' ? [] : [(JSON.parse(text) as { message: string }).message];
    events.push(...own.map((message) => ({ message, end: to })));
    places.push({ at: to, behind: throughJson(groups.after(n)) });
    spans.push({
      from,
      to,
      groups: throughJson(groupsIn({ ...block, stream: '', shape: {} as never, readAtMs: 0 }, begin, until)!),
      events: own,
    });
    from = to;
  }
}

/**
 * Reads the bytes from the place on in pieces of these sizes, over and over. `flushes`: after which pieces all that waits is sent. `most`: stops after
 * so many events were handed out.
 */
export function read(
  rig: GroupRig,
  bytes: Buffer,
  place: GroupedPlace,
  pieces: readonly number[],
  flushes: readonly number[] = [],
  cuts: readonly number[] = [],
): Reading {
  const lines = rig.create();
  const { at, behind } = place;
  lines.reset(at, bytes.subarray(Math.max(0, at - 64), at), bytes.subarray(0, 3));
  lines.goOn({ behind, held: { reads: [], to: at }, cuts });
  const reading: Reading = { events: [], places: [], spans: [], mostBytes: 0 };
  const take = (next: () => WindowBlock | undefined): void => {
    for (let block = next(); block; block = next()) {
      if (block.offset + (block.single?.length ?? streamBytesOf(block).length) !== lines.offset)
        throw new Error('a block does not end where the lines go on');
      note(reading, block);
    }
  };
  for (let from = at, n = 0; from < bytes.length; n += 1) {
    const count = bytes.subarray(from, from + pieces[n % pieces.length]!).copy(lines.free());
    lines.commit(count);
    from += count;
    take(() => lines.next());
    reading.mostBytes = Math.max(reading.mostBytes, lines.pendingBytes);
    if (flushes.includes(n)) take(() => lines.flushOpenEvent());
  }
  take(() => lines.flush());
  return reading;
}

/** Adjacent spans as one. */
export function joinSpans(spans: readonly GroupedSpan[]): GroupedSpan {
  const [first, ...rest] = throughJson(spans) as [GroupedSpan, ...GroupedSpan[]];
  return rest.reduce(
    (whole, next) => ({
      from: whole.from,
      to: next.to,
      groups: joinGroups(whole.groups, next.groups),
      events: [...whole.events, ...next.events],
    }),
    first,
  );
}

/** Makes the events of a span again. */
export function replay(
  rig: GroupRig,
  bytes: Buffer,
  span: GroupedSpan,
  pieces: readonly number[],
): { events: string[]; to: number } {
  const lines = rig.create();
  const { from, to, groups } = span;
  const { gate } = groups!.after;
  lines.reset(from, bytes.subarray(Math.max(0, from - 64), from), bytes.subarray(0, 3));
  lines.replay(groups!, to, [], groups!.after);
  const reading: Reading = { events: [], places: [], spans: [], mostBytes: 0 };
  for (let at = from, n = 0; at < gate; n += 1) {
    const count = bytes.subarray(at, Math.min(gate, at + pieces[n % pieces.length]!)).copy(lines.free());
    lines.commit(count);
    at += count;
    for (let block = lines.next(); block; block = lines.next()) note(reading, block);
  }
  for (let block = lines.flush(); block; block = lines.flush()) note(reading, block);
  return { events: reading.events.map(({ message }) => message), to: reading.places.at(-1)?.at ?? from };
}

export const START: GroupedPlace = { at: 0, behind: undefined };
