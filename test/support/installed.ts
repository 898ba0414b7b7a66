/** Programs that suites drive and that a machine may lack. A suite without its program is skipped, with the apt line in its name. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program, also of those that only root's PATH has; undefined where it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
