/**
 * Manages the tokens of a data folder while no service runs on it, under the folder's lock. Whoever may write the folder has the rights of the
 * first owner here, so that a lost token does not lock anybody out.
 */
import { readBody } from '../http/read-request.ts';
import { openExisting } from '../metadata.ts';
import { CREATE, createToken, viewOf } from '../api/tokens.ts';
import { openTokens } from '../auth/tokens.ts';
import { openUsers } from '../auth/users.ts';

type View = ReturnType<typeof viewOf>;
export type OfflineTokens = ReturnType<typeof openOfflineTokens>;

/** Throws a `TailraceError`: no service has started on the folder, or one is running on it. */
export function openOfflineTokens(dataDir: string) {
  const metadata = openExisting(dataDir, true);
  const users = openUsers(metadata, new Date());
  const tokens = openTokens(metadata);
  return {
    list: (): View[] => tokens.list().map((token) => viewOf(token, users)),
    /** `wanted` as the body of a request. Throws an `ApiError`. */
    create(wanted: object): View & { readonly token: string } {
      const caller = { kind: 'personal', token: '', user: users.owner, expires: null } as const;
      const { token, text } = createToken(readBody(CREATE, wanted), caller, tokens, users);
      return { ...viewOf(token, users), token: text };
    },
    /** By id or by a name that only one has. Throws an `ApiError`. */
    revoke: (id: string): void => tokens.revoke(id),
    close: (): void => metadata.close(),
  };
}
