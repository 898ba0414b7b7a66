/**
 * API tokens (`xaat-…`) and personal tokens (`xapt-…`). Only SHA-256 hashes are stored (the tokens are random, 122 bits), and every comparison
 * takes the same time: a given token's hash is compared with every known one.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { SERVICE_TOKENS } from '../limits.ts';
import { badRequest, notFound, quote } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';
import type { Capabilities } from './rights.ts';

export type TokenKind = 'api' | 'personal';

/** A token without its text, which only the reply to its creation holds. */
export interface AccessToken {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly description: string;
  /** Id of its owner (personal token) or creator (API token). */
  readonly user: string;
  /** Of API tokens; a personal token has its user's. */
  readonly capabilities: Capabilities;
  readonly created: string;
  /** RFC 3339; null for never. */
  readonly expires: string | null;
}

export type TokenStore = ReturnType<typeof openTokens>;

const PREFIX = { api: 'xaat-', personal: 'xapt-' } as const;

export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

interface KnownToken {
  readonly token: AccessToken;
  readonly hash: Buffer;
}

export function openTokens(metadata: Metadata) {
  const { db } = metadata;
  const put = db.prepare('insert or replace into tokens values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  let known: KnownToken[] = [];

  const reload = (): void => {
    known = db
      .prepare('select * from tokens order by created, id')
      .all()
      .map((row) => ({ token: tokenOf(row), hash: Buffer.from(row['hash'] as string, 'hex') }));
  };
  reload();

  const get = (id: string): KnownToken => {
    const all = known.filter(({ token }) => token.name === id);
    const valid = all.filter(({ token }) => !hasExpired(token));
    const named = valid.length > 0 ? valid : all;
    const found = known.find(({ token }) => token.id === id) ?? (named.length === 1 ? named[0] : undefined);
    if (!found)
      throw notFound(
        `token ${quote(id)} not found${named.length > 1 ? `: ${named.length} have that name, use the id` : ''}`,
      );
    return found;
  };
  const save = (token: AccessToken, hash: Buffer): void => {
    const { id, kind, name, description, user, capabilities, created, expires } = token;
    const [datasets, org, views] = [capabilities.datasets, capabilities.org, capabilities.views].map((areas) =>
      JSON.stringify(areas),
    );
    put.run(id, kind, name, description, hash.toString('hex'), user, datasets!, org!, created, expires, views!);
  };
  const withText = (text: string): AccessToken | undefined => {
    const hash = hashOf(text);
    let found: AccessToken | undefined;
    for (const each of known) if (timingSafeEqual(each.hash, hash)) found = each.token;
    return found;
  };
  const checkRoom = (): void => {
    if (known.length >= SERVICE_TOKENS)
      throw badRequest(`there are ${SERVICE_TOKENS} tokens already, the most that this service keeps`);
  };

  return {
    list: (): AccessToken[] => known.map(({ token }) => token),
    /** By id, or by a name that only one valid token has. Throws an `ApiError` 404. */
    get: (id: string): AccessToken => get(id).token,
    /** Creates a token and returns its text, which is not stored. `text` replaces the generated one. */
    create(
      fields: Omit<AccessToken, 'id' | 'created'>,
      text: string = `${PREFIX[fields.kind]}${randomUUID()}`,
      id: string = randomUUID(),
    ): { readonly token: AccessToken; readonly text: string } {
      checkRoom();
      const token: AccessToken = { ...fields, id, created: new Date().toISOString() };
      save(token, hashOf(text));
      reload();
      return { token, text };
    },
    /** Creates a token with these changes. The old one stays listed and ends at `oldExpires`, or at its own end if that is earlier. */
    regenerate(
      id: string,
      changes: Pick<AccessToken, 'name' | 'description' | 'capabilities' | 'expires'>,
      oldExpires: string,
    ): { readonly token: AccessToken; readonly text: string } {
      const { hash, token: old } = get(id);
      checkRoom();
      const text = `${PREFIX[old.kind]}${randomUUID()}`;
      const token: AccessToken = { ...old, ...changes, id: randomUUID(), created: new Date().toISOString() };
      metadata.transaction(() => {
        save(token, hashOf(text));
        save({ ...old, expires: earlierEnd(old.expires, oldExpires) }, hash);
      });
      reload();
      return { token, text };
    },
    revoke(id: string): void {
      db.prepare('delete from tokens where id = ?').run(get(id).token.id);
      reload();
    },
    /** The token with this text; undefined when none has it or it has expired. */
    find(text: string): AccessToken | undefined {
      const found = withText(text);
      return found === undefined || hasExpired(found) ? undefined : found;
    },
    /** Like `find`, but also returns an expired token. */
    withText,
    /** Reads the tokens from the database again. */
    reload,
  };
}

function tokenOf(row: Record<string, unknown>): AccessToken {
  return {
    id: row['id'] as string,
    kind: row['kind'] as TokenKind,
    name: row['name'] as string,
    description: row['description'] as string,
    user: row['user'] as string,
    capabilities: {
      datasets: JSON.parse(row['datasets'] as string) as Capabilities['datasets'],
      org: JSON.parse(row['org'] as string) as Capabilities['org'],
      views: JSON.parse(row['views'] as string) as Capabilities['views'],
    },
    created: row['created'] as string,
    expires: row['expires'] as string | null,
  };
}

export const hasExpired = ({ expires }: Pick<AccessToken, 'expires'>): boolean =>
  expires !== null && Date.parse(expires) <= Date.now();

/** The earlier of two ends; null is never. */
export function earlierEnd(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return Date.parse(one) <= Date.parse(other) ? one : other;
}
