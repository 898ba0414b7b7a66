/** The version of this program: fixed by the build, read from package.json in a checkout. */
declare const TAILRACE_VERSION: string | undefined;

/** As in package.json, for example `0.1.0`. */
export const version: string = typeof TAILRACE_VERSION === 'string' ? TAILRACE_VERSION : readVersion();

function readVersion(): string {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const parsed = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return parsed.version;
}
