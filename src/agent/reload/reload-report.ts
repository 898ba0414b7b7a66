/** What became of a reload, for whoever asked for it. */
import type { ConfigChanges } from '../../config/compare.ts';
import type { ConfigProblem } from '../../config/config-error.ts';

export type ReloadReport =
  /** `restarted`: why everything was stopped and started again. */
  | { readonly ok: true; readonly changes: ConfigChanges; readonly restarted?: string }
  /** The configuration is wrong. */
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] }
  /** It is right, but cannot be taken into force. */
  | { readonly ok: false; readonly error: string; readonly fix?: string | undefined };
