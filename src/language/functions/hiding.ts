/** Functions that keep secrets from leaving, in transforms only. */
import type { FunctionTable } from './spec.ts';

export const HIDING = {
  redact: { only: 'transforms', syntax: 'redact(text, "email", "/T-\\d+/", …)', doc: 'The text with `[REDACTED:kind]` in place of each match. Kinds: email, credit_card, iban, phone, ipv4, ipv6, bearer_token, basic_auth, jwt, private_key, aws_key, gcp_key, github_token, slack_token, stripe_key; all of them when none is named. A pattern of your own (RE2) stands between slashes, with a name before it if you like: `"ticket=/T-\\d+/"`.', args: ['string'], rest: 'constant string', returns: 'string', keepsName: true },
  hash: { only: 'transforms', syntax: 'hash(text, env("KEY"))', doc: 'A pseudonym: 32 hexadecimal digits of the HMAC-SHA-256 of the text. The key comes from `env("NAME")` or `secret_file("/path")`.', args: ['string', 'secret'], returns: 'string', keepsName: true },
  env: { only: 'transforms', syntax: 'env("NAME")', doc: 'The text of an environment variable of the agent, null where it is not set.', args: ['constant string'], returns: 'string' },
  secret_file: { only: 'transforms', syntax: 'secret_file("/path")', doc: 'The first line of a file, as the key of `hash` and for nothing else.', args: ['constant string'], returns: 'string' },
} satisfies FunctionTable; // prettier-ignore
