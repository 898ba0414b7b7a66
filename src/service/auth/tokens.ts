/**
 * Who may do what: one owner with a personal token and one API token, made on an empty data folder or given by the environment.
 * Only SHA-256 hashes are stored (the tokens are random, 122 bits), and every comparison takes the same time.
 */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { forbidden } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';

export type TokenKind = 'api' | 'personal';

export interface Owner {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** `apiToken` and `personalToken` only when they were made or given at this start. */
export interface Credentials {
  readonly orgId: string;
  readonly apiToken?: string;
  readonly personalToken?: string;
}

export interface Auth {
  readonly credentials: Credentials;
  readonly owner: Owner;
  /** The kind of the bearer token in an `Authorization` header. Throws an `ApiError` 403. */
  check(authorization: string | undefined): TokenKind;
  /** True when the header names this organisation. */
  isOrg(header: string | undefined): boolean;
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Reads or makes the tokens. `env` may give `TAILRACE_API_TOKEN`, `TAILRACE_PERSONAL_TOKEN` and `TAILRACE_ORG_ID`. */
export function openAuth(metadata: Metadata, env: Readonly<Record<string, string | undefined>>, now: Date): Auth {
  const credentials = metadata.transaction(() => settle(metadata, env, now));
  const owner: Owner = { id: metadata.fact('owner_id') ?? '', name: 'owner', email: 'owner@localhost' };
  const known = metadata.db
    .prepare('select kind, hash from tokens')
    .all()
    .map((row) => ({ kind: row['kind'] as TokenKind, hash: Buffer.from(row['hash'] as string, 'hex') }));
  const org = hashOf(credentials.orgId);

  return {
    credentials,
    owner,
    check(authorization) {
      const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
      if (given === undefined) throw forbidden('no token: send the header "Authorization: Bearer <token>"');
      const hash = hashOf(given);
      let kind: TokenKind | undefined;
      for (const token of known) if (timingSafeEqual(token.hash, hash)) kind = token.kind;
      if (kind === undefined) throw forbidden('the token is not known here');
      return kind;
    },
    isOrg: (header) => header !== undefined && timingSafeEqual(hashOf(header), org),
  };
}

function settle(metadata: Metadata, env: Readonly<Record<string, string | undefined>>, now: Date): Credentials {
  const put = metadata.db.prepare(
    'insert into tokens values (?, ?, ?, ?) on conflict do update set hash = excluded.hash where hash <> excluded.hash',
  );
  const save = (name: string, kind: TokenKind, token: string): string => {
    put.run(name, kind, hashOf(token).toString('hex'), now.toISOString());
    return token;
  };
  const token = (kind: TokenKind, given: string | undefined, make: () => string, fresh: boolean): string | undefined => {
    if (given) return save(`environment-${kind}`, kind, given);
    return fresh ? save(kind, kind, make()) : undefined;
  };

  const fresh = metadata.fact('owner_id') === undefined;
  if (fresh) metadata.setFact('owner_id', randomUUID());
  const orgId = env['TAILRACE_ORG_ID'] || metadata.fact('org_id') || `local-${randomBytes(4).toString('hex')}`;
  metadata.setFact('org_id', orgId);
  const apiToken = token('api', env['TAILRACE_API_TOKEN'], () => `xaat-${randomUUID()}`, fresh);
  const personalToken = token('personal', env['TAILRACE_PERSONAL_TOKEN'], () => `xapt-${randomUUID()}`, fresh);
  return { orgId, ...(apiToken && { apiToken }), ...(personalToken && { personalToken }) };
}
