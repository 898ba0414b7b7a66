/** Lays out the kernel's memory up to the regions, and checks ranges of these. Address 0 stays unused. */
import type { Region } from '../core/block.ts';
import { KERNEL_SLACK_BYTES } from '../core/limits.ts';
import { WEIGHTS_BYTES } from './content-sum.ts';
import { FORM_IMAGE_BYTES } from './times/form-image.ts';
import { MAX_JSON_DEPTH, MAX_TEMPLATE_BYTES } from './limits.ts';
import { ABBREVIATIONS_BYTES, MAX_NAMED_ZONES, NAMED_ZONE_BYTES, ZONE_TABLE_BYTES } from './times/zone-table.ts';

const ALIGN_BYTES = 64;

export function aligned(address: number): number {
  return Math.ceil(address / ALIGN_BYTES) * ALIGN_BYTES;
}

export const RESULTS_AT = 64;
export const PREFIX_AT = 128;
export const STACK_AT = 256;
export const SCRATCH_AT = aligned(STACK_AT + MAX_JSON_DEPTH);
export const TEMPLATE_AT = aligned(SCRATCH_AT + MAX_TEMPLATE_BYTES + KERNEL_SLACK_BYTES);
export const INDEX_AT = aligned(TEMPLATE_AT + MAX_TEMPLATE_BYTES + KERNEL_SLACK_BYTES);
/** assembly/index.ts: 16 bytes, and four for each byte of a stretch and its last step. */
const INDEX_BYTES = 8 * 1024;
export const ENDS_AT = INDEX_AT + INDEX_BYTES;
/** Ends of joined events that one call gets. */
export const MAX_ENDS = 4096;
export const SUM_WEIGHTS_AT = ENDS_AT + 4 * MAX_ENDS;
export const SHAPES_AT = SUM_WEIGHTS_AT + WEIGHTS_BYTES;
/** assembly/shapes.ts: 16 bytes, and 256 nodes of 48. */
const SHAPES_BYTES = 16 + 256 * 48;
/** assembly/time/time.ts: 128 bytes; then four for each key of a time. */
export const TIME_AT = aligned(SHAPES_AT + SHAPES_BYTES);
export const ZONE_AT = TIME_AT + 256;
export const FORMS_AT = aligned(ZONE_AT + ZONE_TABLE_BYTES);
export const ABBREVIATIONS_AT = FORMS_AT + FORM_IMAGE_BYTES;
export const NAMED_ZONES_AT = ABBREVIATIONS_AT + ABBREVIATIONS_BYTES;
/** transform.ts lays it out. */
export const TRANSFORM_AT = aligned(NAMED_ZONES_AT + MAX_NAMED_ZONES * NAMED_ZONE_BYTES);
export const TRANSFORM_BYTES = 1024 * 1024;
export const REGIONS_AT = aligned(TRANSFORM_AT + TRANSFORM_BYTES);

/** Throws a `RangeError` for one outside its region: that is a bug, and would let the kernel write anywhere. */
export function checkRange(region: Region, from: number, to: number): void {
  if (!(from >= 0 && from <= to && to <= region.bytes.length)) {
    throw new RangeError(`kernel: range ${from}…${to} in a region of ${region.bytes.length} bytes`);
  }
}
