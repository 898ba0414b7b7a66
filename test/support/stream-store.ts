/** A StreamStore in memory: commits what a lane accepted, so that a test can restart a source where a database would let it. */
import { randomBytes } from 'node:crypto';
import type { Behind, Tail } from '../../src/core/block.ts';
import { addSums, type ContentPoint } from '../../src/core/sums.ts';
import type { CompressedEnd, FileIdentity, Loss, StreamRecord, StreamStore } from '../../src/core/stream.ts';

export class MemoryStreamStore implements StreamStore {
  readonly records = new Map<string, StreamRecord>();
  /** Streams that are not settled; the others are. */
  readonly unsettled = new Set<string>();
  readonly forgotten: string[] = [];
  readonly losses: Loss[] = [];
  /** Wall clock of new streams. */
  readonly nowMs: () => number;

  constructor(nowMs: () => number = () => 0) {
    this.nowMs = nowMs;
  }

  mint(source: string, path: string, identity?: FileIdentity, startAt = 0): StreamRecord {
    const at = { startAt, resumeAt: startAt, tail: { length: 0, crc: 0 }, contentSum: 0, createdMs: this.nowMs() };
    const record: StreamRecord = { id: randomBytes(16).toString('hex'), source, path, identity, ...at };
    this.records.set(record.id, record);
    return record;
  }

  list(source: string): StreamRecord[] {
    return [...this.records.values()].filter((record) => record.source === source);
  }

  begin(stream: string, startAt: number, tail: Tail, read: readonly ContentPoint[] = [{ at: startAt, sum: 0 }]): void {
    const record = this.records.get(stream);
    if (!record) throw new Error(`begin of a stream that was never minted: ${stream}`);
    const { at, sum } = read.at(-1)!;
    if (record.resumeAt !== record.startAt) throw new Error(`begin of a stream that was read: ${stream}`);
    this.records.set(stream, {
      ...record,
      startAt,
      resumeAt: at,
      tail,
      contentSum: sum,
      contentPoints: read.slice(0, -1),
    });
  }

  identify(stream: string, identity: FileIdentity): void {
    const record = this.records.get(stream);
    if (!record) throw new Error(`identify of a stream that was never minted: ${stream}`);
    this.records.set(stream, { ...record, identity });
  }

  see(stream: string, seenSize: number): void {
    const record = this.records.get(stream);
    if (record) this.records.set(stream, { ...record, seenSize });
  }

  lose(loss: Loss): void {
    this.losses.push(loss);
  }

  noteCompressedEnd(stream: string, compressedEnd: CompressedEnd | undefined): void {
    const { compressedEnd: _, ...record } = this.records.get(stream)!;
    this.records.set(stream, { ...record, ...(compressedEnd ? { compressedEnd } : {}) });
  }

  forget(stream: string): void {
    if (!this.isSettled(stream)) throw new Error(`forget of a stream that is not settled: ${stream}`);
    if (this.records.delete(stream)) this.forgotten.push(stream);
  }

  isSettled(stream: string): boolean {
    return !this.unsettled.has(stream);
  }

  /** What a committed span does: reading goes on at `to` after a restart. */
  commit(stream: string, to: number, tail: Tail, sum: number, behind?: Behind): void {
    const record = this.records.get(stream);
    if (!record) throw new Error(`commit of a stream that was never minted: ${stream}`);
    const { resumeAt, contentSum = 0, contentPoints = [] } = record;
    this.records.set(stream, {
      ...record,
      resumeAt: to,
      tail,
      contentSum: addSums(contentSum, sum),
      contentPoints: [...contentPoints, { at: resumeAt, sum: contentSum }],
      behind,
    });
  }
}
