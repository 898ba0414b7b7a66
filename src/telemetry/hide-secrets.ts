/** Takes secrets out of what the status page shows. */
import { HIDDEN } from '../core/text/hide-secrets.ts';

const SECRET_NAME = /token|secret|password|passwd|credential|authorization|api_?key|private/i;
const USER_IN_ADDRESS = /:\/\/[^\s/@"]+@/g;

/** A copy of plain data in which values under names of secrets, and users in addresses, are hidden. A path to a secret stays. */
export function hideSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return SECRET_NAME.test(name) ? HIDDEN : value.replaceAll(USER_IN_ADDRESS, `://${HIDDEN}@`);
  if (typeof value === 'number') return Number.isFinite(value) ? value : 'never';
  if (Array.isArray(value)) return value.map((each) => hideSecrets(each, name));
  if (typeof value !== 'object' || value === null) return value;
  const { kind, path } = value as { kind?: unknown; path?: unknown };
  if (SECRET_NAME.test(name) && kind === 'file' && typeof path === 'string') return { file: path };
  if (SECRET_NAME.test(name)) return HIDDEN;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hideSecrets(each, key)]));
}
