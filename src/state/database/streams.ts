/**
 * The streams of every source and their low-water marks, one for each sink. All are in memory; the store writes the changes, which
 * stay pending until they are on disk.
 */
import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Tail } from '../../core/block.ts';
import type { CompressedEnd, FileIdentity, StreamRecord } from '../../core/stream.ts';
import { type ContentPoint, NO_TAIL } from '../../core/sums.ts';
import { baseOfOwner, sinkOfOwner } from '../../core/checkpoint-owner.ts';
import { Mark } from './marks.ts';
import { inLineOf, rowOf, type Statements, textOfCompressedEnd, toBehind, toPoints, toStreamFacts } from './rows.ts';
import { formerOf, type StoredStream, toRecord } from './stream-row.ts';

export class Streams {
  readonly #statements: Statements;
  /** The owners of the marks that a source moves, without those of routed datasets. */
  readonly #ownersOf: (source: string) => readonly string[];
  /** The owners of routed datasets that events went to so far, by the owner of the sink's own dataset (`sink#rules`). */
  readonly #routed = new Map<string, Set<string>>();
  readonly #streams = new Map<string, StoredStream>();
  readonly #new = new Set<StoredStream>();
  /** Those of them that begin elsewhere than where they were made. */
  readonly #begun = new Set<StoredStream>();
  /** Those of which more, or less, of the file was seen. */
  readonly #resized = new Set<StoredStream>();
  readonly #moved = new Map<Mark, { readonly sink: string; readonly stream: string }>();
  readonly #forgotten = new Set<string>();
  /** Marks of other rules than those in force. */
  readonly #retired: { readonly owner: string; readonly stream: string }[] = [];

  constructor(statements: Statements, ownersOf: (source: string) => readonly string[]) {
    this.#statements = statements;
    this.#ownersOf = ownersOf;
  }

  /** The owners of the other datasets that this sink's events went to under these rules. */
  routedOf(base: string): readonly string[] {
    return [...(this.#routed.get(base) ?? [])];
  }

  /** Adds a mark of each stream for the dataset. */
  addRouted(base: string, owner: string): void {
    const owners = this.#routed.get(base) ?? new Set();
    this.#routed.set(base, owners.add(owner));
  }

  /** Removes the dataset and its marks again. */
  removeRouted(base: string, owner: string): void {
    this.#routed.get(base)?.delete(owner);
    for (const { marks } of this.#streams.values()) {
      const mark = marks.get(owner);
      marks.delete(owner);
      if (mark) this.#moved.delete(mark);
    }
  }

  #sinksOf(source: string): readonly string[] {
    return this.#ownersOf(source).flatMap((owner) => [owner, ...this.routedOf(owner)]);
  }

  load(database: DatabaseSync): void {
    // In the order of creation, whatever the clock: a start takes the newest first.
    for (const row of database.prepare('select * from streams order by rowid').all()) {
      const facts = toStreamFacts(row);
      this.#streams.set(facts.id, { ...facts, marks: new Map() });
    }
    for (const row of database.prepare('select * from marks').all()) {
      const tail = { length: Number(row['tail_length']), crc: Number(row['tail_crc']) };
      const contentSum = row['content_sum'] === null ? undefined : Number(row['content_sum']);
      const mark = new Mark(
        Number(row['settled_to']),
        tail,
        contentSum,
        toPoints(row['points']),
        toBehind(row['behind']),
      );
      const owner = String(row['sink']);
      const base = baseOfOwner(owner);
      if (base !== undefined && base !== owner) this.addRouted(base, owner);
      this.#streams.get(String(row['stream']))?.marks.set(owner, mark);
    }
  }

  /** A sink that a reload added takes up a known stream where the others are, without the past: to be called once accepted events are committed. */
  addNewSinks(): void {
    for (const stream of this.#streams.values()) {
      const sinks = this.#sinksOf(stream.source);
      const configured = [...stream.marks].flatMap(([sink, mark]) => (sinks.includes(sink) ? [mark] : []));
      const known = configured.length > 0 ? configured : [...stream.marks.values()];
      const from = known.reduce(
        (least, mark) => (mark.committedTo < least.committedTo ? mark : least),
        known[0] ?? new Mark(stream.startAt, NO_TAIL, 0),
      );
      for (const sink of sinks) {
        const former = formerOf(stream, sink, sinks);
        const own = stream.marks.get(sink);
        if (own && !(former && own.isSettled && own.settledTo < former.settledTo)) continue;
        const mark =
          former ??
          new Mark(from.committedTo, from.committedTail, from.committedSum, from.points, from.committedBehind);
        stream.marks.set(sink, mark);
        this.noteMoved(mark, sink, stream.id);
      }
      if (sinks.length > 0) this.#retireMarks(stream, sinks);
    }
  }

  /** Batches under other rules are not sent again: their bytes are read again. */
  #retireMarks(stream: StoredStream, owners: readonly string[]): void {
    const sinks = new Set(owners.map(sinkOfOwner));
    for (const [owner, mark] of stream.marks) {
      if (baseOfOwner(owner) === undefined || owners.includes(owner) || !sinks.has(sinkOfOwner(owner))) continue;
      // Read again, its bytes are lost where the file is gone: up to here it was seen.
      this.see(stream.id, Math.max(stream.seenSize ?? 0, mark.committedTo));
      stream.marks.delete(owner);
      this.#moved.delete(mark);
      this.#retired.push({ owner, stream: stream.id });
    }
  }

  /** Each sink begins at `startAt`, or where it resumes in one of the `former` streams, which have the same positions, if that is later. */
  mint(
    source: string,
    path: string,
    identity?: FileIdentity,
    startAt = 0,
    former: readonly string[] = [],
  ): StreamRecord {
    const id = randomBytes(16).toString('hex');
    const unknown = { seenSize: undefined, compressedEnd: undefined };
    const stream: StoredStream = {
      id,
      source,
      path,
      identity,
      startAt,
      createdMs: Date.now(),
      ...unknown,
      marks: new Map(),
    };
    for (const sink of this.#sinksOf(source)) {
      const at = Math.max(startAt, ...former.map((other) => this.markOf(other, sink)?.committedTo ?? startAt));
      stream.marks.set(sink, new Mark(at, NO_TAIL, 0));
    }
    this.#streams.set(stream.id, stream);
    this.#new.add(stream);
    return toRecord(stream, [...stream.marks.keys()]);
  }

  list(source: string): StreamRecord[] {
    const sinks = this.#sinksOf(source);
    return [...this.#streams.values()]
      .filter((stream) => stream.source === source)
      .map((stream) => toRecord(stream, sinks));
  }

  begin(id: string, startAt: number, tail: Tail, read: readonly ContentPoint[] = [{ at: startAt, sum: 0 }]): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.startAt = startAt;
    const { at, sum } = read.at(-1)!;
    for (const [sink, mark] of stream.marks) {
      this.#moved.delete(mark);
      stream.marks.set(sink, new Mark(at, tail, sum, read.slice(0, -1)));
    }
    this.#new.add(stream);
    this.#begun.add(stream);
  }

  identify(id: string, identity: FileIdentity): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.identity = identity;
    this.#new.add(stream);
  }

  see(id: string, size: number): void {
    const stream = this.#streams.get(id);
    if (!stream || stream.seenSize === size) return;
    stream.seenSize = size;
    this.#resized.add(stream);
  }

  noteCompressedEnd(id: string, end: CompressedEnd | undefined): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.compressedEnd = end;
    this.#new.add(stream);
  }

  forget(id: string): void {
    const stream = this.#streams.get(id);
    if (!stream || !this.isSettled(id)) return;
    this.#streams.delete(id);
    this.#new.delete(stream);
    this.#begun.delete(stream);
    this.#resized.delete(stream);
    for (const mark of stream.marks.values()) this.#moved.delete(mark);
    this.#forgotten.add(id);
  }

  isSettled(id: string): boolean {
    const stream = this.#streams.get(id);
    return !stream || [...stream.marks.values()].every((mark) => mark.isSettled);
  }

  /** Undefined for a stream that is forgotten, and for a sink that is not one of its source's. */
  markOf(id: string, sink: string): Mark | undefined {
    return this.#streams.get(id)?.marks.get(sink);
  }

  /** The path under which the stream's file was first matched; empty for a stream without a file. */
  pathOf(id: string): string {
    return this.#streams.get(id)?.path ?? '';
  }

  noteMoved(mark: Mark, sink: string, stream: string): void {
    this.#moved.set(mark, { sink, stream });
  }

  get hasNew(): boolean {
    return this.#new.size > 0;
  }

  /** True when there is anything to write. */
  get hasChanges(): boolean {
    return (
      this.#new.size > 0 ||
      this.#resized.size > 0 ||
      this.#moved.size > 0 ||
      this.#forgotten.size > 0 ||
      this.#retired.length > 0
    );
  }

  #writeNew(): void {
    for (const stream of this.#new) {
      const { identity } = stream;
      this.#statements.upsertStream.run(
        stream.id,
        stream.source,
        stream.path,
        identity?.device ?? null,
        identity?.inode ?? null,
        identity?.headLength ?? null,
        identity?.headHash ?? null,
        stream.startAt,
        stream.createdMs,
        identity?.path ?? null,
        stream.seenSize ?? null,
        textOfCompressedEnd(stream.compressedEnd),
        identity?.realPath ?? null,
        inLineOf(identity),
        identity?.headers ? JSON.stringify(identity.headers) : null,
      );
      const writeMark = this.#begun.has(stream) ? this.#statements.upsertMark : this.#statements.insertMark;
      for (const [sink, mark] of stream.marks) writeMark.run(...rowOf(mark, sink, stream.id));
    }
  }

  /** Writes everything that changed, within the caller's transaction; `noteWritten` once that is committed. */
  write(): void {
    this.#writeNew();
    for (const { id, seenSize } of this.#resized) this.#statements.updateSeenSize.run(seenSize!, id);
    for (const [mark, { sink, stream }] of this.#moved) this.#statements.upsertMark.run(...rowOf(mark, sink, stream));
    for (const { owner, stream } of this.#retired) this.#statements.deleteMark.run(owner, stream);
    for (const id of this.#forgotten) {
      this.#statements.deleteStream.run(id);
      this.#statements.deleteMarks.run(id);
    }
  }

  noteWritten(): void {
    this.#new.clear();
    this.#begun.clear();
    this.#resized.clear();
    this.#moved.clear();
    this.#retired.length = 0;
    this.#forgotten.clear();
  }
}
