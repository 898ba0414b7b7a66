/** What the bundles of dist/ (build.ts) and of the single executable (package/) have in common; program.ts bundles the program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

/** Files that the sources load at run time: beside the bundle, or as assets of the executable. */
export const bundleAssets = ['src/kernel/kernel.wasm', 'src/kernel/content-sum.wasm', 'src/kernel/transform.wasm'];

export function readVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** How the parts of the client are bundled. */
export function bundleOptions(root: string) {
  return {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Names stay, because errors, logs and profiles show them; the rest only saves bytes to parse at start.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // 550 MB; loaded where it is installed.
    external: ['chdb'],
    define: { TAILRACE_VERSION: JSON.stringify(readVersion(root)) },
    // CommonJS packages in the bundle call `require`, which a module does not have.
    banner: {
      js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`,
    },
    logLevel: 'warning',
  } as const satisfies BuildOptions;
}
