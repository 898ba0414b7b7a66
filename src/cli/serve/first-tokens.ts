/**
 * Tokens that a start makes unasked are printed on a terminal only: elsewhere they would stay in the logs of whatever started the program.
 * There they go to a file that only its owner reads.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Credentials, TOKEN_VARIABLES } from '../../service/auth/auth.ts';

export const FIRST_TOKENS_FILE = 'first-tokens.json';

type TokenName = keyof typeof TOKEN_VARIABLES;
export type MadeTokens = Partial<Record<TokenName, string>>;

/** As `serve --json` and the file name them. */
export const JSON_NAMES = {
  personalToken: 'personal_token',
  apiToken: 'api_token',
  ingestToken: 'ingest_token',
} as const;
const NAMES = Object.keys(JSON_NAMES) as TokenName[];

/** The tokens that the service made itself: whoever gave it the others knows them. */
export function madeTokens(credentials: Credentials, env: Readonly<Record<string, string | undefined>>): MadeTokens {
  const made = NAMES.filter(
    (name) => credentials[name] !== undefined && credentials[name] !== env[TOKEN_VARIABLES[name]],
  );
  return Object.fromEntries(made.map((name) => [name, credentials[name]]));
}

/** Writes the tokens to `first-tokens.json` in the data folder, mode 0600, and returns its path. */
export function writeFirstTokens(dataDir: string, url: string, orgId: string, tokens: MadeTokens): string {
  const path = join(dataDir, FIRST_TOKENS_FILE);
  const named = Object.fromEntries(
    NAMES.flatMap((name) => (tokens[name] === undefined ? [] : [[JSON_NAMES[name], tokens[name]]])),
  );
  writeFileSync(path, '', { mode: 0o600 });
  chmodSync(path, 0o600);
  writeFileSync(path, `${JSON.stringify({ url, org_id: orgId, ...named }, null, 2)}\n`);
  return path;
}

/** The page's address, signed in with the token. */
export const signedIn = (url: string, token: string): string => `${url}/#token=${encodeURIComponent(token)}`;
