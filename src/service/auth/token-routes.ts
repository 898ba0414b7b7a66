/**
 * /v2/tokens: API tokens as clients of this API family manage them and, by `kind: personal` and `user`, personal ones. A caller can give a
 * token no more than its own rights allow; its text is in the reply of its creation only.
 */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { SERVICE_DESCRIPTION_LENGTH, SERVICE_NAME_LENGTH } from '../../core/limits.ts';
import { badRequest, forbidden } from '../http/api-error.ts';
import type { Endpoint } from '../http/openapi.ts';
import { readBody } from '../http/read-body.ts';
import type { Auth, Caller } from './auth.ts';
import { DATASET_CAPABILITIES, firstBeyond, ORG_CAPABILITIES, type Action, type Capabilities, type Role } from './rights.ts';
import type { Token, Tokens } from './tokens.ts';
import type { Users } from './users.ts';

const time = z.iso.datetime({ offset: true });
export const CREATE = z.object({
  name: z.string().min(1).max(SERVICE_NAME_LENGTH),
  description: z.string().max(SERVICE_DESCRIPTION_LENGTH).nullish(),
  expiresAt: time.nullish(),
  datasetCapabilities: DATASET_CAPABILITIES.nullish(),
  orgCapabilities: ORG_CAPABILITIES.nullish(),
  kind: z.enum(['api', 'personal']).nullish(),
  /** Id or e-mail address, of a personal token. */
  user: z.string().nullish(),
});
const REGENERATE = z.object({ existingTokenExpiresAt: time.nullish(), newTokenExpiresAt: time.nullish() });

const TOKEN = z.object({
  id: z.string(),
  kind: z.enum(['api', 'personal']),
  name: z.string(),
  description: z.string(),
  user: z.string(),
  created: time,
  expiresAt: time.nullable(),
  datasetCapabilities: DATASET_CAPABILITIES,
  orgCapabilities: ORG_CAPABILITIES,
});
const CREATED = TOKEN.extend({ token: z.string() });

export const viewOf = ({ id, kind, name, description, user, created, expires, capabilities }: Token, users: Users) => ({
  id,
  kind,
  name,
  description,
  user: users.find(user)?.email ?? '',
  created,
  expiresAt: expires,
  datasetCapabilities: capabilities.datasets,
  orgCapabilities: capabilities.org,
});

const options = (action: Action, doc: Omit<Endpoint, 'tag'>): RouteShorthandOptions => ({
  config: { need: { kind: 'org', area: 'apiTokens', action }, doc: { tag: 'tokens', ...doc } },
});

interface ById {
  Params: { token: string };
}

export function tokenRoutes(server: FastifyInstance, { tokens, users }: Auth): void {
  server.get('/v2/tokens', options('read', { summary: 'The tokens', reply: z.array(TOKEN) }), () =>
    tokens.list().map((token) => viewOf(token, users)),
  );
  server.get<ById>('/v2/tokens/:token', options('read', { summary: 'A token', reply: TOKEN }), ({ params }) =>
    viewOf(tokens.get(params.token), users),
  );
  server.post('/v2/tokens', options('create', { summary: 'Makes a token', body: CREATE, reply: CREATED }), ({ body, caller }) => {
    const wanted = readBody(CREATE, body, 'name (string), datasetCapabilities and orgCapabilities (objects)');
    const { token, text } = createToken(wanted, caller, tokens, users);
    return { ...viewOf(token, users), token: text };
  });
  const again = options('update', { summary: 'Gives a token a new text', body: REGENERATE, reply: CREATED });
  server.post<ById>('/v2/tokens/:token/regenerate', again, ({ params, body, caller }) => {
    const { newTokenExpiresAt, existingTokenExpiresAt } = readBody(REGENERATE, body ?? {}, 'newTokenExpiresAt, existingTokenExpiresAt');
    const old = tokens.get(params.token);
    checkReach(caller, old, users);
    checkWithin(old.capabilities, caller, tokens);
    const { token, text } = tokens.regenerate(params.token, newTokenExpiresAt ?? null, existingTokenExpiresAt ?? null);
    return { ...viewOf(token, users), token: text };
  });
  server.delete<ById>('/v2/tokens/:token', options('delete', { summary: 'Revokes a token' }), ({ params, caller }, reply) => {
    const token = tokens.get(params.token);
    checkReach(caller, token, users);
    tokens.revoke(token.id);
    return reply.code(204).send();
  });
}

type Creator = Pick<Caller, 'kind' | 'token' | 'user'>;

/** Throws an `ApiError`: 403 for more than the creator may give. */
export function createToken(wanted: z.infer<typeof CREATE>, caller: Creator, tokens: Tokens, users: Users) {
  const kind = wanted.kind ?? 'api';
  const capabilities: Capabilities = { datasets: wanted.datasetCapabilities ?? {}, org: wanted.orgCapabilities ?? {} };
  const common = { name: wanted.name, description: wanted.description ?? '', expires: wanted.expiresAt ?? null };
  if (kind === 'personal') {
    if (caller.kind !== 'personal') throw forbidden('an API token cannot make personal tokens');
    const user = typeof wanted.user === 'string' ? users.get(wanted.user) : caller.user;
    checkUser(caller, user.role);
    if (Object.keys(capabilities.datasets).length + Object.keys(capabilities.org).length > 0)
      throw badRequest('a personal token has the rights of its user: leave datasetCapabilities and orgCapabilities out');
    return tokens.create({ ...common, kind, user: user.id, capabilities });
  }
  if (typeof wanted.user === 'string') throw badRequest('user is for personal tokens: an API token belongs to the organisation');
  checkWithin(capabilities, caller, tokens);
  return tokens.create({ ...common, kind, user: caller.user.id, capabilities });
}

/** An API token that may make tokens cannot give away more than it has. */
function checkWithin(wanted: Capabilities, caller: Creator, tokens: Tokens): void {
  const missing = caller.kind === 'api' ? firstBeyond(tokens.get(caller.token).capabilities, wanted) : undefined;
  if (missing !== undefined) throw forbidden(`the token may not give the capability ${missing}, which it has not itself`);
}

/** Personal tokens of owners are for owners; those of others for personal tokens only. */
function checkReach(caller: Caller, token: Token, users: Users): void {
  if (token.kind !== 'personal') return;
  if (caller.kind !== 'personal') throw forbidden('an API token cannot change personal tokens');
  checkUser(caller, users.find(token.user)?.role ?? 'user');
}

function checkUser(caller: Creator, role: Role): void {
  if (role === 'owner' && caller.user.role !== 'owner') throw forbidden('only an owner can make, change or revoke tokens of an owner');
}
