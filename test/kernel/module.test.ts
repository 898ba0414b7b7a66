/** The committed module is what its source builds to, and is found from a bundle as well. */
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect } from 'vitest';
import { test } from '../support/temp-tree.ts';

const root = join(import.meta.dirname, '../..');

test('kernel.wasm is rebuilt from its source to the same bytes', () => {
  execFileSync(process.execPath, [join(root, 'scripts/build-kernel.ts'), '--check'], { stdio: 'pipe' });
});

test('a bundle finds its modules beside itself', async ({ folder }) => {
  const source = `import { createKernel } from ${JSON.stringify(join(root, 'src/kernel/kernel.ts'))};
      const kernel = createKernel(65536);
      const region = kernel.reserve(100);
      region.bytes.fill(10);
      console.log(kernel.count(region, 0, 100));`;
  const outfile = join(folder, 'bundle.mjs');
  await build({
    stdin: { contents: source, resolveDir: root },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  for (const name of ['kernel.wasm', 'content-sum.wasm'])
    copyFileSync(join(root, 'src/kernel', name), join(folder, name));
  expect(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })).toBe('100\n');
});
