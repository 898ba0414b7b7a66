/** The snippets of docs/syslog.md, verbatim. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const page = readFileSync(join(import.meta.dirname, '../../../docs/syslog.md'), 'utf8');

/** The first block of code behind this text. */
export function snippetBehind(text: string): string {
  const at = page.indexOf(text);
  const code = at < 0 ? undefined : /```\w*\n(.*?)```\n/s.exec(page.slice(at))?.[1];
  if (code === undefined) throw new Error(`docs/syslog.md has no code behind "${text}"`);
  return code;
}

/** The text with each of these replaced; fails when one is not there. */
export function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`"${from}" does not stand in ${text}`);
    return changed.replaceAll(from, to);
  }, text);
}
