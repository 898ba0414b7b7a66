/** Every sample. */
import { malformed } from './malformed.ts';
import { rfc3164 } from './rfc3164.ts';
import { rfc5424 } from './rfc5424.ts';
import type { Sample } from './sample.ts';
import { withoutPriority } from './without-priority.ts';
import { vendors } from './vendors.ts';

export const corpus: readonly Sample[] = [...rfc5424, ...rfc3164, ...vendors, ...withoutPriority, ...malformed];
