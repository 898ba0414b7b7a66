/** Users, the current user and the one organisation, under /v1 and /v2. They take personal tokens only. */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { SERVICE_NAME_LENGTH } from '../limits.ts';
import { badRequest, notFound, quote } from '../http/api-error.ts';
import type { Endpoint } from '../http/openapi.ts';
import { readBody } from '../http/read-body.ts';
import type { Auth } from './auth.ts';
import { ORG, type Organisation } from './organisation.ts';
import { PERMISSIONS, ROLES, type Action, type Role } from './rights.ts';
import type { User } from './users.ts';

const CURRENT = z.object({ id: z.string(), name: z.string(), emails: z.array(z.string()) });
const USER = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(ROLES),
  permissions: z.array(z.string()),
});
const USER_V2 = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.object({ id: z.string(), name: z.string() }) });
const CREATE = z.strictObject({
  name: z.string().min(1).max(SERVICE_NAME_LENGTH),
  email: z
    .string()
    .min(3)
    .max(SERVICE_NAME_LENGTH)
    .regex(/^[^\s@]+@[^\s@]+$/, 'it is no e-mail address'),
  role: z.enum(ROLES),
});
const ROLE = z.strictObject({ role: z.enum(ROLES) });

const viewOf = ({ id, name, email, role }: User): z.infer<typeof USER> => ({ id, name, email, role, permissions: [...PERMISSIONS[role]] });
const viewOfV2 = ({ id, name, email, role }: User): z.infer<typeof USER_V2> => ({
  id,
  name,
  email,
  role: { id: role, name: `${role[0]!.toUpperCase()}${role.slice(1)}` },
});

const options = (doc: Omit<Endpoint, 'tag'>, org: boolean, action?: Action): RouteShorthandOptions => ({
  config: { tokens: 'personal', org, ...(action && { need: { kind: 'org', area: 'users', action } }), doc: { tag: 'account', ...doc } },
});

interface ById {
  Params: { user: string };
}

interface ByOrg {
  Params: { org: string };
}

export function accountRoutes(server: FastifyInstance, { users, tokens }: Auth, organisation: (role: Role) => Organisation): void {
  server.get('/v1/user', options({ summary: 'The user of the token', reply: CURRENT }, false), ({ caller: { user } }) => ({
    id: user.id,
    name: user.name,
    emails: [user.email],
  }));
  server.get('/v2/user', options({ summary: 'The user of the token', reply: USER_V2 }, false), ({ caller }) => viewOfV2(caller.user));
  for (const version of ['v1', 'v2']) {
    const one = options({ summary: 'An organisation', reply: ORG }, false);
    server.get<ByOrg>(`/${version}/orgs/:org`, one, ({ params, caller }) => {
      const found = organisation(caller.user.role);
      if (params.org !== found.id) throw notFound(`organisation ${quote(params.org)} not found`);
      return found;
    });
    server.get(`/${version}/orgs`, options({ summary: 'The organisations of the user', reply: z.array(ORG) }, false), ({ caller }) => [
      organisation(caller.user.role),
    ]);
  }

  server.get('/v1/users', options({ summary: 'The users', reply: z.array(USER) }, true, 'read'), () => users.list().map(viewOf));
  server.get('/v2/users', options({ summary: 'The users', reply: z.array(USER_V2) }, true, 'read'), () => users.list().map(viewOfV2));
  server.get<ById>('/v2/users/:user', options({ summary: 'A user', reply: USER_V2 }, true, 'read'), ({ params }) =>
    viewOfV2(users.get(params.user)),
  );
  server.post('/v2/users', options({ summary: 'Adds a user', body: CREATE, reply: USER_V2 }, true, 'create'), ({ body, caller }) => {
    const wanted = readBody(CREATE, body, `name, email and role (${ROLES.join(', ')})`);
    checkRole(caller.user.role, wanted.role);
    return viewOfV2(users.create(wanted));
  });
  const role = options({ summary: 'Gives a user another role', body: ROLE, reply: USER_V2 }, true, 'update');
  server.put<ById>('/v2/users/:user/role', role, ({ params, body, caller }) => {
    const wanted = readBody(ROLE, body, `role (${ROLES.join(', ')})`);
    checkRole(caller.user.role, users.get(params.user).role);
    checkRole(caller.user.role, wanted.role);
    return viewOfV2(users.setRole(params.user, wanted.role));
  });
  server.delete<ById>(
    '/v2/users/:user',
    options({ summary: 'Removes a user and its tokens' }, true, 'delete'),
    ({ params, caller }, reply) => {
      checkRole(caller.user.role, users.get(params.user).role);
      users.remove(params.user);
      tokens.reload();
      return reply.code(204).send();
    },
  );
}

/** An admin can create and remove everybody but owners. */
function checkRole(own: Role, other: Role): void {
  if (other === 'owner' && own !== 'owner') throw badRequest('only an owner can make or change an owner');
}
