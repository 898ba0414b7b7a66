/**
 * /v2/tokens manages API tokens and, with `kind: personal` and `user`, personal ones. A caller can give a token only rights that it has itself.
 * Only the reply to the creation holds the token's text.
 */
import { z } from 'zod';
import { SERVICE_DESCRIPTION_LENGTH, SERVICE_NAME_LENGTH } from '../limits.ts';
import { badRequest, forbidden, notFound } from '../http/api-error.ts';
import { CLIENT_TYPES, looser } from '../http/client-types.ts';
import { optionalTime } from '../http/read-request.ts';
import type { Auth, Caller } from '../auth/auth.ts';
import {
  ACTION,
  DATASET_CAPABILITIES,
  firstBeyond,
  ORG_CAPABILITIES,
  ROLE_CAPABILITIES,
  VIEW_CAPABILITIES,
  type AccessAction,
  type Capabilities,
  type UserRole,
} from '../auth/rights.ts';
import { earlierEnd, hasExpired, type AccessToken, type TokenKind, type TokenStore } from '../auth/tokens.ts';
import type { Users } from '../auth/users.ts';
import { group, underBoth } from './endpoint.ts';

const RIGHTS = {
  datasetCapabilities: DATASET_CAPABILITIES.nullish(),
  orgCapabilities: ORG_CAPABILITIES.nullish(),
  viewCapabilities: VIEW_CAPABILITIES.nullish(),
};
const name = z.string().min(1).max(SERVICE_NAME_LENGTH);
const description = z.string().max(SERVICE_DESCRIPTION_LENGTH).nullish();
export const CREATE = z.strictObject({
  name,
  description,
  expiresAt: optionalTime,
  ...RIGHTS,
  kind: z.enum(['api', 'personal']).nullish().describe('A personal token has the rights of its user; api when absent.'),
  user: z.string().nullish().describe("Id or e-mail address of a personal token's user; the caller when absent."),
});
/** Without `newToken`, the new token has the old one's name, description and rights. */
const REGENERATE = z
  .strictObject({
    existingTokenExpiresAt: optionalTime,
    newTokenExpiresAt: optionalTime,
    newToken: z.strictObject({ name: name.nullish(), description, expiresAt: optionalTime, ...RIGHTS }).nullish(),
  })
  .prefault({});
type Regenerate = z.infer<typeof REGENERATE>;

/** Only keys that clients of this API family know: some of them refuse unknown keys. Of views only where a right on one is set. */
const TOKEN = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().register(CLIENT_TYPES, looser),
  expiresAt: z.iso.datetime({ offset: true }).nullable().register(CLIENT_TYPES, looser),
  datasetCapabilities: DATASET_CAPABILITIES,
  orgCapabilities: ORG_CAPABILITIES,
  viewCapabilities: VIEW_CAPABILITIES.exactOptional(),
});
const IDENTIFY = z.strictObject({ token: z.string().max(SERVICE_NAME_LENGTH) });
const IDENTIFIED = z.object({
  name: z.string(),
  description: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
});
const CREATED = TOKEN.extend({ token: z.string() }).describe('The one reply that holds the token itself.');

/** A personal token shows the rights of its user's role. */
export function viewOf(
  { id, kind, name, description, user, expires, capabilities }: AccessToken,
  users: Users,
): z.infer<typeof TOKEN> {
  const { datasets, org, views } =
    kind === 'personal' ? ROLE_CAPABILITIES[users.find(user)?.role ?? 'user'] : capabilities;
  return {
    id,
    name,
    description,
    expiresAt: expires,
    datasetCapabilities: datasets as z.infer<typeof DATASET_CAPABILITIES>,
    orgCapabilities: org as z.infer<typeof ORG_CAPABILITIES>,
    ...(Object.keys(views).length > 0 && { viewCapabilities: views as z.infer<typeof VIEW_CAPABILITIES> }),
  };
}

const to = (action: AccessAction) => ({ need: { kind: 'org', area: 'apiTokens', action } }) as const;

const TYPES = { Action: ACTION, Token: TOKEN, NewToken: CREATE, CreatedToken: CREATED };

export const tokenEndpoints = group('tokens', TYPES, (add, { auth: { tokens, users } }: { readonly auth: Auth }) => {
  const endpoint = underBoth(add);
  endpoint('GET /v2/tokens', { ...to('read'), summary: 'The tokens', reply: z.array(TOKEN) }, () =>
    tokens.list().map((token) => viewOf(token, users)),
  );
  endpoint('GET /v2/tokens/:token', { ...to('read'), summary: 'A token', reply: TOKEN }, ({ params }) =>
    viewOf(tokens.get(params.token), users),
  );
  endpoint(
    'POST /v2/tokens',
    { ...to('create'), summary: 'Makes a token', body: CREATE, reply: CREATED },
    ({ caller, body }) => {
      const { token, text } = createToken(body(), caller, tokens, users);
      return { ...viewOf(token, users), token: text };
    },
  );
  const again = {
    ...to('update'),
    summary: 'Creates a token in place of another, which ends',
    body: REGENERATE,
    reply: CREATED,
  };
  endpoint('POST /v2/tokens/:token/regenerate', again, ({ params, caller, body }) => {
    const wanted = body();
    const old = tokens.get(params.token);
    checkReach(caller, old, users);
    checkWithin(old.capabilities, caller, tokens);
    const changes = changesOf(wanted, old);
    checkWithin(changes.capabilities, caller, tokens);
    const expires = endOf(changes.expires, caller);
    const { token, text } = tokens.regenerate(
      old.id,
      { ...changes, expires },
      wanted.existingTokenExpiresAt ?? new Date().toISOString(),
    );
    return { ...viewOf(token, users), token: text };
  });
  const named = { ...to('read'), summary: 'Whose token a text is', body: IDENTIFY, reply: IDENTIFIED };
  endpoint('POST /v2/tokens/identify', named, ({ body }) => {
    const token = tokens.withText(body().token);
    if (!token) throw notFound('token not found: no token has this text');
    const { name, description, created, user } = token;
    return { name, description, createdAt: created, createdBy: user };
  });
  endpoint('DELETE /v2/tokens/:token', { ...to('delete'), summary: 'Revokes a token' }, ({ params, caller }) => {
    const token = tokens.get(params.token);
    checkReach(caller, token, users);
    tokens.revoke(token.id);
  });
});

type Creator = Pick<Caller, 'kind' | 'token' | 'user' | 'expires'>;

/** A token ends no later than the one that creates it, whatever end was asked for. */
const endOf = (asked: string | null | undefined, { expires }: Creator): string | null =>
  earlierEnd(asked ?? null, expires);

/** Throws an `ApiError`: 403 for more than the creator may give. */
export function createToken(wanted: z.infer<typeof CREATE>, caller: Creator, tokens: TokenStore, users: Users) {
  const kind = wanted.kind ?? 'api';
  const capabilities = rightsOf(wanted);
  const common = { name: wanted.name, description: wanted.description ?? '', expires: endOf(wanted.expiresAt, caller) };
  if (kind === 'personal') {
    if (caller.kind !== 'personal') throw forbidden('an API token cannot make personal tokens');
    const user = typeof wanted.user === 'string' ? users.get(wanted.user) : caller.user;
    checkUser(caller, user.role);
    checkRights(kind, capabilities);
    return tokens.create({ ...common, kind, user: user.id, capabilities });
  }
  if (typeof wanted.user === 'string')
    throw badRequest('user is for personal tokens: an API token belongs to the organisation');
  checkRights(kind, capabilities);
  checkWithin(capabilities, caller, tokens);
  return tokens.create({ ...common, kind, user: caller.user.id, capabilities });
}

/** Throws an `ApiError` 400. */
function changesOf(
  { newToken, newTokenExpiresAt }: Regenerate,
  old: AccessToken,
): Parameters<TokenStore['regenerate']>[1] {
  if (
    newToken?.expiresAt !== undefined &&
    newTokenExpiresAt !== undefined &&
    Date.parse(newToken.expiresAt) !== Date.parse(newTokenExpiresAt)
  )
    throw badRequest(
      `newTokenExpiresAt ${newTokenExpiresAt} and newToken.expiresAt ${newToken.expiresAt} differ: send one of them`,
    );
  const asked = newToken?.expiresAt ?? newTokenExpiresAt;
  if (newToken) {
    const capabilities = rightsOf(newToken);
    checkRights(old.kind, capabilities);
    return {
      name: newToken.name ?? old.name,
      description: newToken.description ?? '',
      capabilities,
      expires: asked ?? null,
    };
  }
  if (asked === undefined && hasExpired(old))
    throw badRequest(
      `the token expired at ${old.expires}: send newTokenExpiresAt with the time until which the new one is valid`,
    );
  return {
    name: old.name,
    description: old.description,
    capabilities: old.capabilities,
    expires: asked ?? old.expires,
  };
}

const rightsOf = (wanted: z.infer<z.ZodObject<typeof RIGHTS>>): Capabilities => ({
  datasets: wanted.datasetCapabilities ?? {},
  org: wanted.orgCapabilities ?? {},
  views: wanted.viewCapabilities ?? {},
});

/** Go clients send every right, most of them null. Throws an `ApiError` 400. */
function checkRights(kind: TokenKind, { datasets, org, views }: Capabilities): void {
  const areas = [org, ...Object.values(datasets), ...Object.values(views)];
  const hasSome = areas.some((each) => Object.values(each).some((actions) => (actions ?? []).length > 0));
  if (kind === 'api' && !hasSome)
    throw badRequest('at least one capability must be set: a token without one may do nothing');
  if (kind === 'personal' && hasSome)
    throw badRequest('a personal token has the rights of its user: leave the capabilities out');
}

/** An API token that may make tokens cannot give away more than it has. */
function checkWithin(wanted: Capabilities, caller: Creator, tokens: TokenStore): void {
  const missing = caller.kind === 'api' ? firstBeyond(tokens.get(caller.token).capabilities, wanted) : undefined;
  if (missing !== undefined)
    throw forbidden(`the token cannot grant the capability ${missing}, which it does not have itself`);
}

/** Personal tokens of owners are for owners; those of others for personal tokens only. */
function checkReach(caller: Caller, token: AccessToken, users: Users): void {
  if (token.kind !== 'personal') return;
  if (caller.kind !== 'personal') throw forbidden('an API token cannot change personal tokens');
  checkUser(caller, users.find(token.user)?.role ?? 'user');
}

function checkUser(caller: Creator, role: UserRole): void {
  if (role === 'owner' && caller.user.role !== 'owner')
    throw forbidden('only an owner can make, change or revoke tokens of an owner');
}
