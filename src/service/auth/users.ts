/** The users of the organisation: stored in the database and held in memory. The owner, created at the first start, cannot be removed. */
import { randomUUID } from 'node:crypto';
import { SERVICE_USERS } from '../limits.ts';
import { ApiError, badRequest, notFound, quote } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';
import type { UserRole } from './rights.ts';

export interface UserAccount {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: UserRole;
  readonly created: string;
}

export type Users = ReturnType<typeof openUsers>;

/** Reads the users; creates the owner on an empty folder. */
export function openUsers(metadata: Metadata, now: Date) {
  const { db } = metadata;
  const insert = db.prepare('insert into users values (?, ?, ?, ?, ?)');
  const users = new Map<string, UserAccount>();
  for (const row of db.prepare('select * from users').all())
    users.set(row['id'] as string, row as unknown as UserAccount);

  const add = (
    id: string,
    { name, email, role }: Pick<UserAccount, 'name' | 'email' | 'role'>,
    created: string,
  ): UserAccount => {
    insert.run(id, name, email, role, created);
    const user: UserAccount = { id, name, email, role, created };
    users.set(id, user);
    return user;
  };
  let ownerId = metadata.fact('owner_id');
  if (ownerId === undefined) {
    ownerId = randomUUID();
    metadata.setFact('owner_id', ownerId);
    add(ownerId, { name: 'owner', email: 'owner@localhost', role: 'owner' }, now.toISOString());
  }
  const owner = users.get(ownerId)!;
  const get = (id: string): UserAccount => {
    const user = users.get(id) ?? [...users.values()].find(({ email }) => email === id);
    if (!user) throw notFound(`user ${quote(id)} not found`);
    return user;
  };
  const checkChangeable = (user: UserAccount): void => {
    if (user.id === owner.id) throw badRequest('the first owner stays: it cannot be removed or given another role');
  };

  return {
    /** The owner, created at the first start. */
    owner,
    list: (): UserAccount[] => [...users.values()].sort((a, b) => (a.email < b.email ? -1 : 1)),
    find: (id: string): UserAccount | undefined => users.get(id),
    /** By id or e-mail address. Throws an `ApiError` 404. */
    get,
    /** Throws an `ApiError`: 409 when the address is taken. */
    create(user: Pick<UserAccount, 'name' | 'email' | 'role'>): UserAccount {
      const address = user.email.toLowerCase();
      if ([...users.values()].some(({ email }) => email.toLowerCase() === address))
        throw new ApiError(409, `user ${quote(user.email)} exists already`);
      if (users.size >= SERVICE_USERS)
        throw badRequest(`there are ${SERVICE_USERS} users already, the most that this service keeps`);
      return add(randomUUID(), user, new Date().toISOString());
    },
    /** Throws an `ApiError`: 400 for another role of the first owner. */
    update(id: string, changes: Partial<Pick<UserAccount, 'name' | 'role'>>): UserAccount {
      const user = get(id);
      const changed: UserAccount = { ...user, ...changes };
      if (changed.role !== user.role) checkChangeable(user);
      db.prepare('update users set name = ?, role = ? where id = ?').run(changed.name, changed.role, user.id);
      users.set(user.id, changed);
      return changed;
    },
    /** Removes the user and its tokens. Throws an `ApiError`: 400 for the first owner. */
    remove(id: string): void {
      const user = get(id);
      checkChangeable(user);
      metadata.transaction(() => {
        db.prepare("delete from tokens where user = ? and kind = 'personal'").run(user.id);
        db.prepare('delete from users where id = ?').run(user.id);
      });
      users.delete(user.id);
    },
  };
}
