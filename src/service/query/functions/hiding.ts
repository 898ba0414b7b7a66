/** Functions that a query refuses by name: what they hide is in the dataset already, or is the agent's. */
import type { HIDING } from '../../../language/functions/hiding.ts';
import type { Build, Builders } from './call.ts';

const refused =
  (name: string, instead: string): Build =>
  (call) => {
    throw call.fail(0, `${name} works in transforms only${instead}`);
  };

export const HIDING_SQL: Builders<typeof HIDING> = {
  redact: refused('redact', '; in a query write replace_regex or mask'),
  hash: refused('hash', '; in a query write hash_sha256'),
  env: refused('env', ''),
  secret_file: refused('secret_file', ''),
};
