/** A flattened name within one request of ingest. */
import { SERVICE_FIELD_NAME_BYTES } from '../limits.ts';
import type { OwnValues } from '../engine/rows/own-values.ts';
import { quote } from '../http/api-error.ts';

export interface FieldNode {
  readonly name: string;
  /** Number within the block, set at the first value. */
  field: number;
  readonly children: Map<string, FieldNode>;
  /** Its own columns, by kind. */
  readonly own: readonly (OwnValues | undefined)[] | undefined;
  /** Why no event may have this field. */
  readonly refusal: string | undefined;
  /** The key has a backslash: JSON.parse may have taken another key for it. */
  readonly suspect: boolean;
  /** Type bits in this dataset, those of this request included; undefined for a new field. */
  bits: number | undefined;
  /** The event that has staged it last, and where. */
  event: number;
  at: number;
}

export function newNode(name: string, bits: number | undefined, own: FieldNode['own']): FieldNode {
  const tooLong = Buffer.byteLength(name) > SERVICE_FIELD_NAME_BYTES;
  const refusal = tooLong
    ? `the field name ${quote(name)} is longer than ${SERVICE_FIELD_NAME_BYTES} bytes`
    : undefined;
  return { name, field: -1, children: new Map(), own, refusal, suspect: name.includes('\\'), bits, event: 0, at: 0 };
}
