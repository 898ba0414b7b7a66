/** `tailrace whoami`, `users` and `orgs`. Each resolves with the exit code. */
import type { Organization, User } from '../../client/api-types.ts';
import type { ConnectionArguments } from './connection.ts';
import { printList, printRecord } from './output/print.ts';
import { withClient } from './with-client.ts';

export function whoami(args: ConnectionArguments): Promise<number> {
  return withClient(args, undefined, async (client) => printRecord(await client.currentUser(), args.json));
}

export function listUsers(args: ConnectionArguments): Promise<number> {
  return withClient(args, undefined, async (client) => {
    const permissions = (user: User) => (user.permissions ?? []).join(' ');
    await printList(
      await client.users(),
      { id: 'id', name: 'name', email: 'email', role: 'role', permissions },
      args.json,
    );
  });
}

export function listOrgs(args: ConnectionArguments): Promise<number> {
  return withClient(args, undefined, async (client) => {
    const columns = {
      ...({ id: 'id', name: 'name', plan: 'plan', role: 'role' } as const),
      'max datasets': ({ license }: Organization) => license?.maxDatasets,
      'max fields': ({ license }: Organization) => license?.maxFields,
      'ingest GB a month': ({ license }: Organization) => license?.monthlyIngestGb,
    };
    await printList(await client.orgs(), columns, args.json);
  });
}
