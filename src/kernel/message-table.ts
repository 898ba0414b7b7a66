/** Tables of syslog messages, an entry each (assembly/syslog/syslog.ts): where it lies and how long it is. */
import type { Region } from '../core/block.ts';

/** Bytes of an entry. */
export const ENTRY_BYTES = 8;
const SUFFIX_MARK = 0x8000_0000;
const FRAMED_MARK = 0x4000_0000;

/** Messages that lie anywhere in the kernel's memory, in their order, and the suffixes of their events. */
export interface MessageTable {
  readonly region: Region;
  /** Entries so far. */
  readonly count: number;
  readonly isFull: boolean;
  clear(): void;
  /** `address` is the kernel's. A datagram that begins with an octet count that fits is taken without it. */
  addDatagram(address: number, length: number): void;
  /** A message of a stream. */
  addFramed(address: number, length: number): void;
  /** The end of the events of the messages after it. */
  addSuffix(address: number, length: number): void;
}

/** A table of as many entries as fit the region. */
export function createMessageTable(region: Region): MessageTable {
  const { bytes } = region;
  const capacity = Math.floor(bytes.length / ENTRY_BYTES);
  let count = 0;
  function add(address: number, length: number): void {
    if (count === capacity) throw new RangeError(`kernel: a table of ${capacity} entries is full`);
    bytes.writeUInt32LE(address, count * ENTRY_BYTES);
    bytes.writeUInt32LE(length, count * ENTRY_BYTES + 4);
    count += 1;
  }
  return {
    region,
    get count() {
      return count;
    },
    get isFull() {
      return count === capacity;
    },
    clear() {
      count = 0;
    },
    addDatagram: add,
    addFramed: (address, length) => add(address, length + FRAMED_MARK),
    addSuffix: (address, length) => add(address, length + SUFFIX_MARK),
  };
}

/** Bytes of a table. */
export function tableBytes(entries: number): number {
  return entries * ENTRY_BYTES;
}
