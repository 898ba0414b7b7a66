/** Which folders to watch, and what for. */
import type { FileSystem } from '../scan/file-system.ts';
import { parentOf, type Visited } from '../scan/finder.ts';

export interface Role {
  /** Device and inode of a folder that is searched; undefined for one that is not. */
  key: string | undefined;
  /** By real path: the symbolic links that match and lead to a file in it. */
  readonly links: Map<string, string[]>;
  /** Paths in it that lead to a folder that is searched once it is there. */
  readonly awaits: Set<string>;
}

export function rolesOf({ folders, links, missing }: Visited, fileSystem: FileSystem): Map<string, Role> {
  const roles = new Map<string, Role>();
  const roleOf = (folder: string): Role => {
    let role = roles.get(folder);
    if (!role) roles.set(folder, (role = { key: undefined, links: new Map(), awaits: new Set() }));
    return role;
  };
  for (const [folder, key] of folders) roleOf(folder).key = key;
  for (const link of links) {
    const real = fileSystem.realPath(link);
    if (real === undefined || parentOf(real) === parentOf(link)) continue;
    const role = roleOf(parentOf(real));
    role.links.set(real, [...(role.links.get(real) ?? []), link]);
  }
  for (const folder of missing) {
    let awaited = folder;
    while (awaited !== '/' && fileSystem.realPath(parentOf(awaited)) === undefined) awaited = parentOf(awaited);
    if (awaited !== '/') roleOf(parentOf(awaited)).awaits.add(awaited);
  }
  return roles;
}
