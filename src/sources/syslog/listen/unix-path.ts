/**
 * Removes the unix socket that a killed agent left. Promises: never removes a file that is not a socket, or a socket that another process
 * listens on.
 */
import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import type { UnixAddress } from '../../../config/fields/kinds-listen.ts';
import { codeOf, TailraceError } from '../../../core/errors.ts';
import { formatListen } from './addresses.ts';

/** Removes the socket that nobody listens on any more; `isTaken` asks whether someone does. Throws `E_LISTEN`. */
export async function freePath(address: UnixAddress, isTaken: () => Promise<boolean>): Promise<void> {
  // libuv would call it a lack of permission.
  if (!existsSync(dirname(address.path)))
    throw refused(address, 'its folder does not exist', 'make the folder, or let systemd do it with RuntimeDirectory=');
  const stat = lstatSync(address.path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket())
    throw refused(address, 'a file that is no socket is there', 'remove it, or choose another path');
  if (await isTaken())
    throw refused(address, 'another program listens there', 'find it with "ss -lxp", or choose another path');
  unlinkSync(address.path);
}

/** Gives the socket its permissions; returns what removes it, unless another one has taken its place meanwhile. */
export function ownPath({ path }: UnixAddress, mode: number): () => void {
  chmodSync(path, mode);
  const { ino } = lstatSync(path);
  return () => {
    try {
      if (lstatSync(path).ino === ino) unlinkSync(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  };
}

function refused(address: UnixAddress, reason: string, fix: string): TailraceError {
  return new TailraceError('E_LISTEN', `cannot listen on ${formatListen(address)}: ${reason}`, { fix });
}
