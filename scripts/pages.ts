/** Bundles the pages (src/pages) for browsers: for each a script, a style sheet and the HTML that names both. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

const folders = ['status', 'explorer'];
const kinds = ['html', 'js', 'css'];

/** Their names, beside the bundle as in the single executable. */
export const pageFiles = folders.flatMap((folder) => kinds.map((kind) => `${folder}-page.${kind}`));

/** Resolves with what went into them. */
export async function buildPages(root: string, out: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    entryPoints: folders.flatMap((folder) => [
      { in: `src/pages/${folder}/main.tsx`, out: `${folder}-page` },
      { in: `src/pages/${folder}/${folder}-page.css`, out: `${folder}-page` },
    ]),
    outdir: out,
    metafile: true,
  });
  for (const folder of folders)
    copyFileSync(join(root, 'src/pages', folder, `${folder}-page.html`), join(out, `${folder}-page.html`));
  return metafile;
}
