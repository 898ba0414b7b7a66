/** What became of a reload, for whoever asked for it. */
import type { ConfigChanges } from '../config/compare.ts';
import type { Problem } from '../config/config-error.ts';

export type ReloadReport =
  | { readonly ok: true; readonly changes: ConfigChanges }
  /** The configuration is wrong. */
  | { readonly ok: false; readonly problems: readonly Problem[] }
  /** It is right, but cannot be taken into force. */
  | { readonly ok: false; readonly error: string; readonly fix?: string };
