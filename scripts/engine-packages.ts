/** Makes src/service/engine/packages.ts of the lock file: what `tailrace engine install` fetches, and holds it against. */

interface Locked {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>;
}

export function renderEnginePackages(lock: string): string {
  const { packages } = JSON.parse(lock) as Locked;
  const entries = Object.entries(packages).flatMap(([path, { version, integrity }]) => {
    const name = path.replace(/^node_modules\//, '');
    return /^(?:chdb|@chdb\/lib-.*)$/.test(name) ? [{ name, version, integrity: integrity! }] : [];
  });
  const rows = entries.map(
    ({ name, version, integrity }) =>
      `  {\n    name: '${name}',\n    version: '${version}',\n    integrity: '${integrity}',\n  },\n`,
  );
  return `/** The embedded engine's packages in the npm registry, as package-lock.json has them. Made by scripts/generate.ts. */

export interface EnginePackage {
  readonly name: string;
  readonly version: string;
  /** \`sha512-\` and base64. */
  readonly integrity: string;
}

export const enginePackages: readonly EnginePackage[] = [
${rows.join('')}];
`;
}
