/** Functions that keep secrets from leaving. All but hash work in transforms only. */
import type { Type } from '../../types.ts';
import type { FunctionTable } from '../../function-spec.ts';

const hashed = ([value, key]: readonly Type[]): Type | undefined => {
  if (key !== 'string') return 'int';
  return value === 'string' || value === 'dynamic' ? 'string' : undefined;
};

export const HIDING = {
  redact: { only: 'transforms', syntax: 'redact(text, "email", "/T-\\d+/", …)', doc: 'Replaces each match by `[REDACTED:kind]`. Kinds: email, credit_card, iban, phone, ipv4, ipv6, bearer_token, basic_auth, jwt, private_key, aws_key, gcp_key, github_token, slack_token, stripe_key; all of them if none is named. Write a pattern of your own (RE2) between slashes, with or without a name before it: `"ticket=/T-\\d+/"`.', args: ['string'], rest: 'constant string', returns: 'string', keepsName: true, hides: true },
  hash: { syntax: 'hash(value, 100); in transforms hash(text, env("KEY"))', doc: 'Hashes the value. In queries to a 64-bit number (xxHash64 of its text), or to one from 0 up to the second argument. In transforms to a pseudonym: 32 hexadecimal digits of the HMAC-SHA-256 of the text under a key. The key comes from `env("NAME")` or `secret_file("/path")`.', args: ['any', 'secret or count'], optional: 1, returns: hashed, keepsName: true, hides: true },
  env: { only: 'transforms', syntax: 'env("NAME")', doc: 'Returns an environment variable of the agent; null if it is not set.', args: ['constant string'], returns: 'string' },
  secret_file: { only: 'transforms', syntax: 'secret_file("/path")', doc: 'Reads the first line of a file as the key of `hash`; it can stand nowhere else.', args: ['constant string'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore
