/** How to go on with a file whose content was changed: it is read on from the kept part, or from its beginning, but not over and over. */
import type { Clock } from '../../../core/time/clock.ts';
import type { Tail } from '../../../core/block.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import { findBom, LONGEST_BOM_BYTES } from '../../framing/byte-window.ts';
import type { LineShaping } from '../../framing/line-shaping.ts';
import { READ_AGAIN_MS, TURN_BYTES } from '../limits.ts';
import type { FileSystem } from '../scan/file-system.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import { findLineStart, readHead } from '../scan/peek.ts';
import { cutStretch, findKept, type KeptStretch } from './kept-content.ts';
import { tailBefore } from './nul-runs.ts';
import type { TrackedFile } from './tracked-file.ts';

export interface InPlaceOptions extends Losing {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly shaping: LineShaping;
}

/** `go on` from the kept part; `again` from its beginning, not before `readFromMs` (monotonic): its unread lines may be there still. */
export type InPlaceChange =
  | { readonly kind: 'go on'; readonly kept: KeptStretch; readonly tail: Tail }
  | { readonly kind: 'again'; readonly readFromMs: number; readonly isThere: boolean }
  | { readonly kind: 'later' };

export const READ_AGAIN = { kind: 'again', readFromMs: 0, isThere: false } as const satisfies InPlaceChange;

export class InPlaceChanges {
  readonly #options: InPlaceOptions;

  constructor(options: InPlaceOptions) {
    this.#options = options;
  }

  /** What to do with an open file whose known content changed. Throws system errors. */
  judge(file: TrackedFile, size: number): InPlaceChange {
    const { fileSystem, shaping, notices, clock } = this.#options;
    const { stream, disk } = file;
    const now = clock.monotonic();
    const seenSize = stream.endIn(file.sureSize);
    const isThere = size >= seenSize;
    // Nothing of it was read: it waits as before.
    if (stream.readFromMs > now && stream.offset === stream.startAt)
      return { kind: 'again', readFromMs: stream.readFromMs, isThere };
    const kept = findKept(fileSystem, disk.fd!, size, { ...stream.read, sum: stream.sum }, seenSize);
    if (kept === undefined) return READ_AGAIN;
    const text =
      'file is changed where it was read, as by a program that writes a footer, header or counter in place, or cuts its beginning out: ';
    if (kept.kind === 'in part') {
      const fix =
        'too little of it is as it was, so it is read from its beginning, once a minute at most; have the program append';
      notices.trouble('warn', `in part ${disk.path}`, { path: disk.path, offset: stream.offset, size }, text + fix);
      return {
        kind: 'again',
        readFromMs: stream.readFromMs === 0 ? now : Math.max(now, stream.readFromMs + READ_AGAIN_MS),
        isThere,
      };
    }
    const { by, isWhole } = kept;
    const encoding = findBom(readHead(fileSystem, disk.fd!, LONGEST_BOM_BYTES))?.encoding ?? shaping.encoding;
    const at = isWhole ? kept.to : findLineStart(fileSystem, disk.fd!, kept.to, TURN_BYTES, encoding, stream.startAt);
    // The lane takes some of it: the change is met again when that is over.
    if (file.isBusy) return { kind: 'later' };
    const lostBytes = Math.max(0, seenSize - by - Math.max(size, stream.offset - by));
    countLost(this.#options, stream, lostBytes, seenSize, 'truncated');
    const fields = { path: disk.path, offset: stream.offset, goesOnAt: at, ...(lostBytes > 0 && { lostBytes }) };
    const fix =
      'it is read on behind what is as it was, and what was written over may come again; have the program append';
    notices.trouble('warn', `in place ${disk.path}`, fields, `${text}${fix}${lostBytes > 0 ? LOWER_BOUND : ''}`);
    const tail = tailBefore(fileSystem, disk.fd!, at);
    return { kind: 'go on', kept: cutStretch(fileSystem, disk.fd!, kept, at), tail };
  }
}
