/** `tailrace whoami`, `users` and `orgs`. Each resolves with the exit code. */
import type { Organization, User } from '../../client/api-types.ts';
import type { ConnectionArguments } from './connection.ts';
import { printList, printRecord } from './output/print.ts';
import { withClient } from './with-client.ts';

export function whoami(args: ConnectionArguments): Promise<number> {
  return withClient(args, undefined, async (client) => {
    await printRecord(await client.currentUser(), args.json);
    return 0;
  });
}

export function listUsers(args: ConnectionArguments): Promise<number> {
  return withClient(args, undefined, async (client) => {
    const columns = {
      id: ({ id }: User) => id,
      name: ({ name }: User) => name,
      email: ({ email }: User) => email,
      role: ({ role }: User) => role,
      permissions: ({ permissions }: User) => (permissions ?? []).join(' '),
    };
    await printList(await client.users(), columns, args.json);
    return 0;
  });
}

export function listOrgs(args: ConnectionArguments): Promise<number> {
  return withClient(args, undefined, async (client) => {
    const columns = {
      id: ({ id }: Organization) => id,
      name: ({ name }: Organization) => name,
      plan: ({ plan }: Organization) => plan,
      role: ({ role }: Organization) => role,
      'max datasets': ({ license }: Organization) => license?.maxDatasets,
      'max fields': ({ license }: Organization) => license?.maxFields,
      'ingest GB a month': ({ license }: Organization) => license?.monthlyIngestGb,
    };
    await printList(await client.orgs(), columns, args.json);
    return 0;
  });
}
