/** Functions that keep secrets from leaving. All but hash work in transforms only. */
import type { Type } from '../../types.ts';
import type { FunctionTable } from '../../function-spec.ts';

const hashed = ([value, key]: readonly Type[]): Type | undefined => {
  if (key !== 'string') return 'int';
  return value === 'string' || value === 'dynamic' ? 'string' : undefined;
};

export const HIDING = {
  redact: { only: 'transforms', syntax: 'redact(text, "email", "/T-\\d+/", …)', doc: 'The text with `[REDACTED:kind]` in place of each match. Kinds: email, credit_card, iban, phone, ipv4, ipv6, bearer_token, basic_auth, jwt, private_key, aws_key, gcp_key, github_token, slack_token, stripe_key; all of them when none is named. A pattern of your own (RE2) stands between slashes, with a name before it if you like: `"ticket=/T-\\d+/"`.', args: ['string'], rest: 'constant string', returns: 'string', keepsName: true, hides: true },
  hash: { syntax: 'hash(value, 100); in transforms hash(text, env("KEY"))', doc: 'In queries the value as a number of 64 bits (xxHash64 of its text), or one from 0 up to the second argument. In transforms, which need a key, a pseudonym: 32 hexadecimal digits of the HMAC-SHA-256 of the text. The key comes from `env("NAME")` or `secret_file("/path")`.', args: ['any', 'secret or count'], optional: 1, returns: hashed, keepsName: true, hides: true },
  env: { only: 'transforms', syntax: 'env("NAME")', doc: 'The text of an environment variable of the agent, null where it is not set.', args: ['constant string'], returns: 'string' },
  secret_file: { only: 'transforms', syntax: 'secret_file("/path")', doc: 'The first line of a file, as the key of `hash` and for nothing else.', args: ['constant string'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore
