/** Functions that hide. A query refuses those by name that hide what is in the dataset already, or is the agent's. */
import type { HIDING } from '../../../language/functions/hiding.ts';
import { sql } from '../values/sql.ts';
import { one, type Value } from '../values/value.ts';
import type { Build, Builders, Call } from './call.ts';

const refused =
  (name: string, instead: string): Build =>
  (call) => {
    throw call.fail(0, `${name} works in transforms only${instead}`);
  };

function hash(call: Call): Value {
  if (call.types[1] === 'string') throw call.fail(1, 'hash with a key works in transforms only; in a query write hash(value) or hash_sha256');
  const text = call.string(0);
  const bits = sql`xxHash64(assumeNotNull(${text}))`;
  const number = call.count < 2 ? sql`reinterpretAsInt64(${bits})` : sql`toInt64(${bits} % toUInt64(${call.params.int(call.constant(1).value as bigint)}))`;
  return one('int', sql`if(isNull(${text}), null, ${number})`);
} // prettier-ignore

export const HIDING_SQL: Builders<typeof HIDING> = {
  redact: refused('redact', '; in a query write replace_regex or mask'),
  hash,
  env: refused('env', ''),
  secret_file: refused('secret_file', ''),
};
