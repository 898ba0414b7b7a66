/**
 * Users, the current user and the one organisation, under /v1 and /v2. The specification's own, under /v1, take personal tokens only; under /v2 an
 * API token may read of its creator and organisation, and manage users where it has that right, but no owners.
 */
import { z } from 'zod';
import { SERVICE_NAME_LENGTH } from '../limits.ts';
import { badRequest, forbidden, notFound, quote } from '../http/api-error.ts';
import { CLIENT_TYPES, looser } from '../http/client-types.ts';
import type { Auth, Caller } from '../auth/auth.ts';
import { PERMISSIONS, ROLES, type AccessAction, type UserRole } from '../auth/rights.ts';
import { HERE } from '../datasets/schemas.ts';
import type { UserAccount } from '../auth/users.ts';
import type { Metadata } from '../metadata.ts';
import { group, underBoth } from './endpoint.ts';
import { ORG, ORG_V2, organisationOf, type OrganisationFacts } from '../auth/organisation.ts';

const CURRENT = z.object({ id: z.string(), name: z.string(), emails: z.array(z.string()) });
const USER = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(ROLES).register(CLIENT_TYPES, looser),
  permissions: z.array(z.string()),
});
const USER_V2 = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.object({ id: z.string(), name: z.string() }),
});
const CREATE = z.strictObject({
  name: z.string().trim().min(1).max(SERVICE_NAME_LENGTH),
  email: z
    .string()
    .min(3)
    .max(SERVICE_NAME_LENGTH)
    .regex(/^[^\s@]+@[^\s@]+$/, 'it is no e-mail address'),
  role: z.enum(ROLES),
});
const ROLE = z.strictObject({ role: z.enum(ROLES) });
const NAME = CREATE.pick({ name: true });

const viewOf = ({ id, name, email, role }: UserAccount): z.infer<typeof USER> => ({
  id,
  name,
  email,
  role,
  permissions: [...PERMISSIONS[role]],
});
const viewOfV2 = ({ id, name, email, role }: UserAccount): z.infer<typeof USER_V2> => ({
  id,
  name,
  email,
  role: { id: role, name: `${role[0]!.toUpperCase()}${role.slice(1)}` },
});

interface AccountParts {
  readonly auth: Auth;
  readonly organisation: Omit<OrganisationFacts, 'name'>;
  readonly metadata: Metadata;
}

/** For personal tokens; `/orgs` and `/user` need no org header, so that a user can learn its id. */
const any = { org: false } as const;
const mine = { tokens: 'personal', org: false } as const;
const users = (action: AccessAction) => ({ need: { kind: 'org', area: 'users', action } }) as const;

const TYPES = {
  CurrentUser: CURRENT,
  User: USER,
  Organization: ORG_V2.partial({ defaultEdgeDeployment: true }),
  License: ORG.shape.license,
};

export const account = group(
  'account',
  TYPES,
  (endpoint, { auth: { users: all, tokens }, organisation, metadata }: AccountParts) => {
    const both = underBoth(endpoint);
    endpoint('GET /v1/user', { ...mine, summary: 'The user of the token', reply: CURRENT }, ({ caller: { user } }) => ({
      id: user.id,
      name: user.name,
      emails: [user.email],
    }));
    endpoint(
      'GET /v2/user',
      { ...any, summary: 'The user of the token, or its creator', reply: USER_V2 },
      ({ caller }) => viewOfV2(caller.user),
    );
    const renamed = {
      tokens: 'personal',
      summary: 'Gives the user of the token another name',
      body: NAME,
      reply: USER_V2,
    } as const;
    both('PUT /v2/user', renamed, ({ caller, body }) => viewOfV2(all.update(caller.user.id, body())));
    const own = (role: UserRole) =>
      organisationOf({ ...organisation, name: metadata.fact('org_name') ?? organisation.id }, role);
    const ownV2 = (role: UserRole) => ({ ...own(role), defaultEdgeDeployment: HERE });
    for (const [version, access, reply, view] of [
      ['v1', mine, ORG, own],
      ['v2', any, ORG_V2, ownV2],
    ] as const) {
      endpoint(`GET /${version}/orgs/:org`, { ...access, summary: 'An organisation', reply }, ({ params, caller }) => {
        if (params.org !== organisation.id) throw notFound(`organisation ${quote(params.org)} not found`);
        return view(caller.user.role);
      });
      endpoint(
        `GET /${version}/orgs`,
        { ...access, summary: 'The organisations of the user', reply: z.array(reply) },
        ({ caller }) => [view(caller.user.role)],
      );
    }
    const orgName = {
      tokens: 'personal',
      summary: 'Gives the organisation another name',
      body: NAME,
      reply: ORG_V2,
    } as const;
    both('PUT /v2/orgs/:org', orgName, ({ params, caller, body }) => {
      if (params.org !== organisation.id) throw notFound(`organisation ${quote(params.org)} not found`);
      if (caller.user.role === 'user') throw forbidden('only owners and admins can rename the organisation');
      metadata.setFact('org_name', body().name);
      return ownV2(caller.user.role);
    });

    endpoint(
      'GET /v1/users',
      { ...users('read'), tokens: 'personal', summary: 'The users', reply: z.array(USER) },
      () => all.list().map(viewOf),
    );
    endpoint('GET /v2/users', { ...users('read'), summary: 'The users', reply: z.array(USER_V2) }, () =>
      all.list().map(viewOfV2),
    );
    both('GET /v2/users/:user', { ...users('read'), summary: 'A user', reply: USER_V2 }, ({ params }) =>
      viewOfV2(all.get(params.user)),
    );
    both(
      'POST /v2/users',
      { ...users('create'), summary: 'Adds a user', body: CREATE, reply: USER_V2 },
      ({ caller, body }) => {
        const wanted = body();
        checkRole(caller, wanted.role);
        return viewOfV2(all.create(wanted));
      },
    );
    const role = { ...users('update'), summary: 'Gives a user another role', body: ROLE, reply: USER_V2 };
    both('PUT /v2/users/:user/role', role, ({ params, caller, body }) => {
      const wanted = body();
      checkRole(caller, all.get(params.user).role);
      checkRole(caller, wanted.role);
      return viewOfV2(all.update(params.user, wanted));
    });
    const name = { ...users('update'), summary: 'Gives a user another name', body: NAME, reply: USER_V2 };
    both('PUT /v2/users/:user', name, ({ params, caller, body }) => {
      checkRole(caller, all.get(params.user).role);
      return viewOfV2(all.update(params.user, body()));
    });
    both(
      'DELETE /v2/users/:user',
      { ...users('delete'), summary: 'Removes a user and its tokens' },
      ({ params, caller }) => {
        checkRole(caller, all.get(params.user).role);
        all.remove(params.user);
        tokens.reload();
      },
    );
  },
);

/** An admin can create and remove everybody but owners, and so can an API token, whoever made it. */
function checkRole({ kind, user }: Caller, other: UserRole): void {
  if (other === 'owner' && (kind === 'api' || user.role !== 'owner'))
    throw badRequest('only an owner can make or change an owner');
}
