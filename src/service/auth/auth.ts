/**
 * Turns the headers of a request into a caller with rights, or a 403. The first start creates an owner and three tokens, or takes the tokens
 * from the environment. If it fails before it has printed them, the next start creates them.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../../config/yaml/expand.ts';
import { ApiError, forbidden } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';
import {
  capabilitiesOf,
  FIRST_TOKENS,
  mayAnyDataset,
  mayDataset,
  mayOrg,
  mayPart,
  maySee,
  type Capabilities,
  type Need,
} from './rights.ts';
import { hashOf, openTokens, type AccessToken, type TokenKind, type TokenStore } from './tokens.ts';
import { openUsers, type UserAccount, type Users } from './users.ts';

/** A token is set only when this start created it or got it from the environment. */
export interface Credentials {
  readonly orgId: string;
  readonly personalToken?: string;
  /** Queries, ingests, creates and trims datasets. */
  readonly apiToken?: string;
  /** Ingests and creates datasets: for agents. */
  readonly ingestToken?: string;
}

/** The variables that may give the tokens of a start. */
export const TOKEN_VARIABLES = {
  personalToken: 'TAILRACE_PERSONAL_TOKEN',
  apiToken: 'TAILRACE_API_TOKEN',
  ingestToken: 'TAILRACE_INGEST_TOKEN',
} as const;

export interface Caller {
  readonly kind: TokenKind;
  /** Id of the token. */
  readonly token: string;
  /** When the token ends, RFC 3339; null for never. */
  readonly expires: string | null;
  /** The owner of the personal token, or the creator of the API token. */
  readonly user: UserAccount;
  /** True when the caller may; `dataset` where the need is about one. */
  may(need: Need, dataset?: string): boolean;
  /** Throws an `ApiError` 403 that names the missing right. A query that names its datasets in its text calls it for each. */
  require(need: Need, dataset?: string): void;
}

export type Auth = ReturnType<typeof openAuth>;

/** Set while the first tokens have not been printed. */
const TOKENS_DUE = 'tokens_due';

/** `env` may give the `TOKEN_VARIABLES` and `TAILRACE_ORG_ID`; with `personalIngest` personal tokens may ingest. */
export function openAuth(metadata: Metadata, env: Environment, now: Date, personalIngest = false) {
  const fresh = metadata.fact('owner_id') === undefined || metadata.fact(TOKENS_DUE) === 'yes';
  const { users, tokens, credentials } = metadata.transaction(() => {
    if (fresh) metadata.setFact(TOKENS_DUE, 'yes');
    const opened = { users: openUsers(metadata, now), tokens: openTokens(metadata) };
    return { ...opened, credentials: settleCredentials(metadata, opened, env, fresh) };
  });
  const org = hashOf(credentials.orgId);

  return {
    credentials,
    users,
    tokens,
    /** The caller with the token of an `Authorization` header. Throws an `ApiError` 403. */
    authenticate(authorization: string | undefined): Caller {
      const given = tokenIn(authorization ?? '');
      if (given === undefined) throw unknownCaller('no token: send the header "Authorization: Bearer <token>"');
      const token = tokens.find(given);
      if (token === undefined) throw unknownCaller('the token is not known here, or has expired');
      // An API token outlives its creator under the owner's name; a personal token ends with its user.
      const user = users.find(token.user) ?? (token.kind === 'api' ? users.owner : undefined);
      if (user === undefined) throw unknownCaller('the user of the token has been removed');
      return callerOf(
        token,
        user,
        token.kind === 'personal' ? capabilitiesOf(user.role, personalIngest) : token.capabilities,
      );
    },
    /** True when the header names this organisation. */
    isOrg: (header: string | undefined): boolean => header !== undefined && timingSafeEqual(hashOf(header), org),
    /** Call it once the credentials are printed: later starts then create no others. */
    noteTold: (): void => metadata.setFact(TOKENS_DUE, 'no'),
  };
}

/** `Bearer TOKEN`, as shippers of other services send it `Splunk TOKEN`, or the password of `Basic` and `ApiKey`. */
function tokenIn(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(Bearer|Splunk|Basic|ApiKey) +(\S+) *$/i.exec(authorization) ?? [];
  if (!/^(?:basic|apikey)$/i.test(scheme)) return value || undefined;
  return /^[^:]*:(\S+)$/.exec(Buffer.from(value, 'base64').toString())?.[1];
}

/** As RFC 6750 has it: the header distinguishes an unknown token from one without this right. */
function unknownCaller(message: string): ApiError {
  return new ApiError(403, message, { 'WWW-Authenticate': 'Bearer error="invalid_token"' });
}

function callerOf({ kind, id, expires }: AccessToken, user: UserAccount, capabilities: Capabilities): Caller {
  const may = (need: Need, dataset = ''): boolean => {
    if (need.kind === 'org') return mayOrg(capabilities, need.area, need.action);
    if (need.kind === 'any-dataset') return mayAnyDataset(capabilities, need.right);
    if (need.kind === 'dataset-part') return mayPart(capabilities, need.area, need.action, dataset);
    return need.kind === 'dataset' ? mayDataset(capabilities, need.right, dataset) : maySee(capabilities, dataset);
  };
  return {
    kind,
    token: id,
    expires,
    user,
    may,
    require(need, dataset = '') {
      if (may(need, dataset)) return;
      const wanted =
        need.kind === 'org'
          ? `${need.action} ${need.area}`
          : need.kind === 'any-dataset'
            ? `${need.right} any dataset`
            : need.kind === 'dataset-part'
              ? `${need.action} ${need.area} of dataset ${dataset}`
              : need.kind === 'dataset'
                ? `${need.right} dataset ${dataset}`
                : `read dataset ${dataset}`;
      throw forbidden(`the token may not ${wanted}`);
    },
  };
}

function settleCredentials(
  metadata: Metadata,
  { users, tokens }: { readonly users: Users; readonly tokens: TokenStore },
  env: Environment,
  fresh: boolean,
): Credentials {
  const orgId = env['TAILRACE_ORG_ID'] || metadata.fact('org_id') || `local-${randomBytes(4).toString('hex')}`;
  metadata.setFact('org_id', orgId);
  const settle = (name: 'personal' | 'api' | 'ingest'): string | undefined => {
    const given = env[TOKEN_VARIABLES[`${name}Token`]];
    // A new value in the environment replaces the token that an earlier one made. A known text adds none: one that has ended stays dead.
    if (given) {
      if (!tokens.withText(given)) make(name, `environment-${name}`, given);
      return given;
    }
    return fresh ? make(name, name, undefined) : undefined;
  };
  const make = (name: 'personal' | 'api' | 'ingest', id: string, text: string | undefined): string => {
    const kind = name === 'personal' ? name : 'api';
    const capabilities = name === 'personal' ? { datasets: {}, org: {}, views: {} } : FIRST_TOKENS[name];
    return tokens.create(
      { kind, name: id, description: 'made at a start', user: users.owner.id, capabilities, expires: null },
      text,
      id,
    ).text;
  };
  const [personalToken, apiToken, ingestToken] = [settle('personal'), settle('api'), settle('ingest')];
  return {
    orgId,
    ...(personalToken && { personalToken }),
    ...(apiToken && { apiToken }),
    ...(ingestToken && { ingestToken }),
  };
}
