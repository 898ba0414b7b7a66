/** What a preview has to say beside its events: on stderr, with the reason. */
import type { Log } from '../../core/log.ts';
import { say } from '../client/output/print.ts';

/** `failed` gets each error. */
export function createPreviewLog(failed: () => void): Log {
  const tell = (fields: object, message: string): void => {
    const reason = 'reason' in fields && typeof fields.reason === 'string' ? `: ${fields.reason}` : '';
    say(`tailrace: ${message}${reason}`);
  };
  return {
    debug() {},
    info() {},
    warn: tell,
    error(fields, message) {
      failed();
      tell(fields, message);
    },
  };
}
