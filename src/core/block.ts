/**
 * Blocks: how lines travel from a source to the batchers. A block is a run of whole lines of one stream, as bytes in a
 * region of the kernel's memory. Nothing here makes an object or a string for a line.
 */

/** A value that JSON can write. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** True for a text that is one JSON value, by RFC 8259. Its parsed form is never used: V8 can mistake keys that hold escapes. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * A part of the kernel's memory, reserved once at start. `at` is its address there, `bytes` a view of it.
 * The memory never grows, so views never detach.
 */
export interface Region {
  readonly at: number;
  readonly bytes: Buffer;
}

/**
 * The shape of a source's events. One object per file or listener, made once and kept: compiled templates are
 * cached by its identity.
 *
 * - `auto`: a line that is a JSON object passes through, any other becomes `{"message": line}`.
 * - `json`: the same, but a line that is not a JSON object also gets a `parse_error`.
 * - `text`: every line becomes `{"message": line}`.
 * - `events`: every line is a whole event that the source made, valid JSON with everything in it: it is copied. No fields are added.
 */
export interface EventShape {
  readonly format: 'auto' | 'json' | 'text' | 'events';
  /** Options that shape the events before they come as lines: charset, joining, a format with a parser. Part of their digest. */
  readonly shaping?: string;
  /** Added to wrapped lines only: `host`, `file`. */
  readonly wrapFields: Readonly<Record<string, JsonValue>>;
  /** Added to every event, never over a key of its own. Wins over a wrap field of the same name. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /**
   * Where an event's text may hold a JSON object. Absent: in any line of it; else after the head of a CRI line, or as a syslog message, by
   * its `parse_json`. `none`: text that looks like an object is plain text.
   */
  readonly objects?: 'none' | 'cri' | 'cee' | 'all' | 'fields';
  /** Events that bring no `_time` get the time that they carry themselves; absent: that of the read. */
  readonly time?: EventTimes;
}

/** Where the kernel looks for the time of an event. */
export interface EventTimes {
  /** IANA name; of times that name none. */
  readonly zone: string;
  /** In objects: the keys whose value is a time, in the order in which they are tried; then `message`, if it may begin with one. */
  readonly keys: readonly string[];
  readonly messageLeads: boolean;
}

/** The last bytes before a stream's position, to recognise on restart that the file is still the same. `length` is 0…64. */
export interface Tail {
  readonly length: number;
  readonly crc: number;
}

/**
 * Whole lines of one stream. The window's bytes `[start, end)` end in a newline each and are valid only until `accept`
 * resolves. `offset` is the position in the stream of the byte at `start`: a number that grows along the stream, below 2^53, and means something to its source alone.
 */
export interface Block {
  /** The stream's id: 128 random bits as 32 hex digits, persisted before its first use (state/database/streams). */
  readonly stream: string;
  readonly shape: EventShape;
  readonly window: Region;
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  /** Wall clock of the read, milliseconds: `_time` of lines that bring none. */
  readonly readAtMs: number;
  /** The header in force before the block, if its events depend on an earlier one. */
  readonly header?: string;
  /** Content sum of the stream's bytes, where the source has computed it already. */
  readonly sum?: number;
  /**
   * Set when the window holds one event of another number of stream bytes: an unfinished last line (a newline was added), or a line over
   * `max_event_bytes`. The event then covers `[offset, offset + length)` of the stream, whose bytes have this content sum, and always ends
   * its span.
   */
  readonly single?: {
    readonly length: number;
    readonly sum: number;
    readonly tail: Tail;
    /** For a line over the limit, or a part of one. */
    readonly marks?: Marks;
    /** Set when the event is not to be sent: why it goes to the dead letters. */
    readonly refusal?: string;
  };
  /**
   * Beside `single`: the event goes on in other streams, in this order. These bytes are no events of their own, and settle
   * with it. `single` tells the bytes of the block's own stream alone.
   */
  readonly continued?: readonly StreamRange[];
  /** Where events begin in the window that hold the text, or a part of the text, of a JSON object that was not read as one. Others may, too. */
  readonly unread?: readonly number[];
  /** Where in the window each event ends, when that is not at each newline: joined lines. The last entry is `end`. */
  readonly ends?: Uint32Array;
  /**
   * Comes with `ends`, from a source whose positions do not count the window's bytes: the position after each event, above the one before.
   * Absent: the position grows by one for each byte of the stream.
   */
  readonly positions?: readonly number[];
  /**
   * Set when the window's bytes are not the stream's own but were made from them (decoded, parsed). Then `ends` is set, too.
   * An event that comes of bytes that were not used up before it may use up none of its own.
   */
  readonly made?: {
    /** The stream's bytes from `offset` on. */
    readonly from: Buffer;
    /** For each of `ends`, how many of these bytes are used up by then. The last is all of them. */
    readonly used: Uint32Array;
  };
  /** Comes with `made`: lines of several events may interleave. */
  readonly groups?: BlockGroups;
}

/** An event that begins before a position and has lines after it: a hash of its key, and where it takes no more lines. */
export type EarlierGroup = readonly [key: string, until: number];

/**
 * State at a position between two interleaved events, of a source with `group`: an event owns the bytes up to the first byte of the next
 * one, but may have lines after these. Without this state, reading from the position again would make other events.
 */
export interface Behind {
  /** Where the last event before the position was closed: nothing after the position was closed before that. */
  readonly gate: number;
  /** Content sum of the bytes from the position to the gate. */
  readonly sum: number;
  readonly earlier: readonly EarlierGroup[];
}

/** The groups of a span, by which the same bytes give the same events. */
export interface SpanGroups {
  /** At the span's beginning. */
  readonly before: readonly EarlierGroup[];
  /** For each event, where it takes no more lines. */
  readonly untils: number[];
  /** At the span's end. */
  readonly after: Behind;
}

/** The groups of a block. */
export interface BlockGroups {
  readonly before: readonly EarlierGroup[];
  /** For each of the block's `ends`, where its event takes no more lines; -1 for an empty line, which is no event. */
  readonly untils: readonly number[];
  /** Behind the event that ends at `ends[n]`. */
  after(n: number): Behind;
  /** The block ends inside of a line: its span takes nothing more. */
  readonly endsInLine: boolean;
}

/** Bytes of a stream that belong to an event which began in another one. */
export interface StreamRange {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  /** Content sum of the bytes. */
  readonly sum: number;
  /** The last bytes before `to`. */
  readonly tail: Tail;
}

/**
 * Members that one event gets beside its text, which is wrapped whatever it looks like: `truncated` with `original_bytes`
 * (the line's, without its ending), or `part`, the last one with `part_last`.
 */
export type Marks = Readonly<Record<string, JsonValue>>;

/** The way from one source to its sinks' open batches. */
export interface Lane {
  /**
   * Takes every line of the block into open batches and resolves when all are in: the window may then be overwritten.
   * Waits while memory is full; that await is the backpressure. Rejects with a `StoppedError` when the agent gives up
   * waiting (shutdown): the last `remainingBytes` of the window's bytes were not accepted, all before them were.
   */
  accept(block: Block): Promise<void>;
  /** The source has no more to offer now: events taken need not wait for it. */
  rest?(): void;
}

/** The stream's bytes from an offset on were read then, up to the next one's. */
export interface ReadTime {
  readonly from: number;
  /** Wall clock, milliseconds. */
  readonly atMs: number;
}

/** A contiguous range of one stream inside one batch. `from` and `to` are stream offsets in bytes. */
export interface Span {
  readonly source: string;
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly events: number;
  /** Bytes of its events, for sources whose positions are not bytes. */
  readonly bytes?: number | undefined;
  /** Content sum (kernel/content-sum.ts) of the stream's bytes in the range. */
  readonly sum: number;
  readonly tail: Tail;
  /** When its bytes were read, ascending: the same times give the same events. Absent where they cannot be read again. */
  readonly reads?: readonly ReadTime[] | undefined;
  /** Set where lines of several events may interleave. */
  readonly groups?: SpanGroups | undefined;
}
