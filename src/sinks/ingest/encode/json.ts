/**
 * The JSON encodings of a batch: an array of the events as they are, or of `{time, data, labels}` envelopes. Values are
 * copied as bytes, never parsed and printed again.
 */
import { ByteWriter } from '../../../core/bytes/byte-writer.ts';
import { isNull, Members } from '../../../json/members.ts';
import { type Edit, writeSpliced } from '../../../json/splice.ts';
import { visitLines } from './lines.ts';

const LF = 0x0a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Bytes that an envelope may add to an event. */
const ENVELOPE_BYTES = 32;

/** A JSON array of the events, byte for byte. Each line of `ndjson` ends in a newline. */
export function encodeArray(ndjson: Buffer): Buffer {
  const body = Buffer.allocUnsafe(ndjson.length + 1);
  body[0] = OPEN_LIST;
  ndjson.copy(body, 1);
  for (let at = body.indexOf(LF, 1); at >= 0; at = body.indexOf(LF, at + 1)) body[at] = COMMA;
  body[body.length - 1] = CLOSE_LIST;
  return body;
}

export interface EnvelopeOptions {
  /** The field whose value becomes `time`; it stays in `data`. Where it is absent, `_time` moves to `time`. */
  readonly timestampField: string | undefined;
  /** JSON text of the object that every event carries as `labels`. */
  readonly labels: string | undefined;
}

/** A JSON array of envelopes. An event without a time has none; `null` is no time. */
export function encodeEnvelopes(ndjson: Buffer, options: EnvelopeOptions): Buffer {
  const field = options.timestampField === undefined ? undefined : Buffer.from(JSON.stringify(options.timestampField));
  const ownTime = Buffer.from('"_time"');
  const labels = options.labels === undefined ? '' : `,"labels":${options.labels}`;
  const out = new ByteWriter(ndjson.length + Math.ceil(ndjson.length / 4) + ENVELOPE_BYTES);
  out.byte(OPEN_LIST);
  const members = new Members();
  visitLines(ndjson, (from, to) => {
    if (from > 0) out.byte(COMMA);
    // The last one counts, as it does to a JSON parser.
    let [fieldAt, fieldEnd, timeAt, timeEnd] = [0, 0, 0, 0];
    members.scan(ndjson, from);
    const edits = Array<Edit>(members.count).fill('keep');
    for (let n = 0; n < members.count; n++) {
      const [keyFrom, keyTo] = [members.keyFrom[n]!, members.keyTo[n]!];
      if (field && equals(ndjson, keyFrom, keyTo, field))
        [fieldAt, fieldEnd] = [members.valueFrom[n]!, members.valueTo[n]!];
      if (!equals(ndjson, keyFrom, keyTo, ownTime)) continue;
      [timeAt, timeEnd] = [members.valueFrom[n]!, members.valueTo[n]!];
      edits[n] = 'remove';
    }
    const byField = fieldEnd > 0 && !isNull(ndjson, fieldAt);
    const byTime = !byField && timeEnd > 0 && !isNull(ndjson, timeAt);
    out.byte(OPEN);
    if (byField || byTime) {
      out.text('"time":');
      out.copy(ndjson, byField ? fieldAt : timeAt, byField ? fieldEnd : timeEnd);
      out.byte(COMMA);
    }
    out.text('"data":');
    if (byTime) writeSpliced(out, members, edits, []);
    else out.copy(ndjson, from, to);
    out.text(labels);
    out.byte(CLOSE);
  });
  out.byte(CLOSE_LIST);
  return out.bytes;
}

function equals(bytes: Buffer, from: number, to: number, other: Buffer): boolean {
  return to - from === other.length && bytes.compare(other, 0, other.length, from, to) === 0;
}
