/**
 * Received datagrams to events: one system call (native/receive.ts) becomes one call of the kernel. Owns the
 * buffers that all datagram sockets of a source are read into. Promises: order; stops reading while datagrams wait for the
 * window, so that the system's buffer fills instead of memory.
 */
import type { Region } from '../../../core/block.ts';
import { MAX_SYSLOG_SENDERS } from '../limits.ts';
import { createMessageTable, type MessageTable, tableBytes } from '../../../kernel/message-table.ts';
import { MAX_SUFFIX_BYTES } from '../../../kernel/syslog.ts';
import { utf8Cut } from '../../../parsers/text/encoding.ts';
import type { StreamPosition } from '../intake/collector.ts';
import type { PausableReader } from '../intake/flow.ts';
import { formatPeer } from '../listen/addresses.ts';
import type { NativeLibrary } from '../../native/library.ts';
import { createReceiver, type Receiver, receiverBytes } from '../../native/receive.ts';
import { peerOfName } from '../../native/sockets.ts';
import type { Reception } from './reception.ts';
import { suffixOf } from '../message/sender.ts';

export interface DatagramsOptions {
  readonly reception: Reception;
  readonly library: NativeLibrary;
  /** Datagrams read in one call, and bytes of each that are kept. */
  readonly batch: number;
  readonly placeBytes: number;
  /** Stops reading from every socket, or starts again. */
  readonly setReading: (isReading: boolean) => void;
}

export class Datagrams implements PausableReader {
  readonly #options: DatagramsOptions;
  readonly #receiver: Receiver;
  readonly #table: MessageTable;
  /** The suffixes that the table names. */
  readonly #suffixes: Region;
  readonly #known = new Map<string, Buffer>();
  #cursor: StreamPosition | undefined;
  /** The name of the last call's senders, where they have no address. */
  #unnamed: Buffer | undefined;
  /** Of the last call: its datagrams, those that are in the table or taken, entries of the table that are taken. */
  #count = 0;
  #built = 0;
  #taken = 0;

  constructor(options: DatagramsOptions) {
    const { library, batch, placeBytes, reception } = options;
    const { reserve } = reception;
    this.#options = options;
    this.#receiver = createReceiver({
      library,
      region: reserve(receiverBytes(batch, placeBytes)),
      datagrams: batch,
      placeBytes,
    });
    this.#table = createMessageTable(reserve(tableBytes(2 * batch)));
    this.#suffixes = reserve(batch * MAX_SUFFIX_BYTES);
  }

  get isWaiting(): boolean {
    return this.#built < this.#count || this.#taken < this.#table.count;
  }

  pause(): void {
    this.#options.setReading(false);
  }

  resume(): void {
    this.#take();
    if (!this.isWaiting) this.#options.setReading(true);
  }

  /**
   * Reads what the socket has now, as many as one call gives. `unnamed` ends the events of all where senders have no address. Returns
   * whether there may be more. Throws the system's error.
   */
  read(fd: number, cursorOf: () => StreamPosition, unnamed: Buffer | undefined): boolean {
    const { batch, reception } = this.#options;
    const { received, refused, flow } = reception;
    const count = this.#receiver.receive(fd);
    if (count === 0) return false;
    let bytes = 0;
    for (let n = 0; n < count; n += 1) bytes += this.#receiver.sentBytesOf(n);
    received(bytes);
    try {
      this.#cursor = cursorOf();
    } catch (error) {
      refused(error, count, bytes);
      return count === batch;
    }
    this.#unnamed = unnamed;
    this.#count = count;
    this.#built = 0;
    this.#take();
    if (this.isWaiting) flow.wait(this);
    return count === batch && !this.isWaiting;
  }

  #take(): void {
    const { placeBytes, reception } = this.#options;
    const { intake } = reception;
    while (this.isWaiting && !intake.isFull) {
      if (this.#taken < this.#table.count) {
        this.#taken = intake.takeTable(this.#cursor!, this.#table, this.#taken);
      } else if (this.#receiver.sentBytesOf(this.#built) > placeBytes) {
        this.#takeCut(this.#built);
        this.#built += 1;
      } else {
        this.#build();
      }
    }
  }

  /** Puts the datagrams, up to one that was cut, into the table. */
  #build(): void {
    const { placeBytes } = this.#options;
    this.#table.clear();
    this.#taken = 0;
    let suffixAt = 0;
    for (let last = -1; this.#built < this.#count; this.#built += 1) {
      const n = this.#built;
      if (this.#receiver.sentBytesOf(n) > placeBytes) return;
      if (last < 0 || (this.#unnamed === undefined && !this.#receiver.isSameSender(n, last))) {
        const suffix = this.#suffixOf(n);
        suffix.copy(this.#suffixes.bytes, suffixAt);
        this.#table.addSuffix(this.#suffixes.at + suffixAt, suffix.length);
        suffixAt += suffix.length;
      }
      last = n;
      this.#table.addDatagram(this.#receiver.addressOf(n), this.#receiver.lengthOf(n));
    }
  }

  /** A datagram of which the system kept only the beginning. */
  #takeCut(n: number): void {
    const bytes = this.#receiver.bytesOf(n);
    const end = utf8Cut(bytes, 0, bytes.length);
    const frame = { bytes: bytes.subarray(0, end), originalBytes: this.#receiver.sentBytesOf(n) };
    this.#options.reception.intake.takeFrame(this.#cursor!, this.#suffixOf(n), frame);
  }

  #suffixOf(n: number): Buffer {
    if (this.#unnamed !== undefined) return this.#unnamed;
    const name = this.#receiver.nameOf(n);
    const key = name.toString('latin1', 0, 28);
    let suffix = this.#known.get(key);
    if (suffix === undefined) {
      const peer = peerOfName(this.#options.library, name);
      suffix = suffixOf(this.#options.reception.form.endingOf({ peer: formatPeer(peer?.address, peer?.port) }));
      if (this.#known.size >= MAX_SYSLOG_SENDERS) this.#known.clear();
      this.#known.set(key, suffix);
    }
    return suffix;
  }
}
