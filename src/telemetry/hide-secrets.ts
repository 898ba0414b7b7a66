/** Takes secrets out of what the status page shows. */
import { HIDDEN } from '../core/text/hide-secrets.ts';

const SECRET_NAME = /token|secret|password|passwd|credential|authorization|api_?key|private/i;
const USER_IN_ADDRESS = /:\/\/[^\s/@"]+@/g;

/** The path of a secret's file, or a secret's variable, is not a secret. */
const NAMES_A_SECRET = /_file$/;
const VARIABLE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

/** A copy of plain data in which values under names of secrets, and users in addresses, are hidden. A path to a secret stays. */
export function hideSecrets(value: unknown, name = ''): unknown {
  const isSecret = SECRET_NAME.test(name) && !NAMES_A_SECRET.test(name);
  if (typeof value === 'string')
    return isSecret && !VARIABLE.test(value) ? HIDDEN : value.replaceAll(USER_IN_ADDRESS, `://${HIDDEN}@`);
  if (typeof value === 'number') return isSecret ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((each) => hideSecrets(each, name));
  if (typeof value !== 'object' || value === null) return value;
  if (isSecret) return HIDDEN;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hideSecrets(each, key)]));
}
