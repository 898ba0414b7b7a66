/**
 * `npm run build` (`--if-stale`: only when a source is newer): the program as plain JavaScript in dist/, for publishing, packages and
 * benchmarks (Node strips no types under node_modules, and a stripped tree costs 17 MB of memory). Imports that are lazy in the sources
 * stay lazy: each becomes a chunk of its own, in one flat folder, with the kernel's modules and the pages beside them. Beside the program
 * are the parts of the client that the package exports, and their types, which `--if-stale` leaves as they are: they take a second that a
 * start from a checkout does not need to wait. `--out DIR` puts it all elsewhere. program.ts makes the program itself.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundleAssets as assets, bundleOptions, readVersion } from './bundle.ts';
import { buildPages, pageFiles } from './pages.ts';
import { buildProgram } from './program.ts';

const root = join(import.meta.dirname, '..');
const elsewhere = process.argv.indexOf('--out') + 1;
const dist = elsewhere > 0 ? process.argv[elsewhere]! : join(root, 'dist');
/** What the package exports, by its name in dist/. */
const entries = {
  client: 'src/client/client.ts',
  'client-errors': 'src/client/client-error.ts',
  'client-ingest-stream': 'src/client/ingest/ingest-stream.ts',
  'client-pages': 'src/client/pages.ts',
  transform: 'src/shaping/script/transform.ts',
};
/** Their declarations. */
const types = 'types';
const isOnlyIfStale = process.argv.includes('--if-stale');
const startedAt = new Date();
if (isOnlyIfStale && isFresh()) process.exit();
const result = await build({
  ...bundleOptions(root),
  entryPoints: entries,
  outdir: dist,
  splitting: true,
  chunkNames: '[name]-[hash]',
  metafile: true,
});
await buildPages(root, dist);
for (const asset of assets) copyFileSync(join(root, asset), join(dist, basename(asset)));
// After the assets: `buildProgram` runs the program, which loads them.
const program = await buildProgram(root, dist);
removeOthers(result.metafile);
if (!isOnlyIfStale) writeTypes();
// A source saved from here on counts as newer, also while the bundle is being made.
utimesSync(join(dist, 'main.cjs'), startedAt, startedAt);
printSizes(result.metafile);
checkItStarts();

/** As bin/tailrace asks, and of the build's own scripts. */
function isFresh(): boolean {
  const sources = [
    'src',
    'package.json',
    'package-lock.json',
    ...['build', 'bundle', 'pages', 'program'].map((name) => `scripts/${name}.ts`),
  ];
  const asked = spawnSync('find', [...sources, '-newer', join(dist, 'main.cjs'), '-print', '-quit'], {
    cwd: root,
    encoding: 'utf8',
  });
  return asked.status === 0 && asked.stdout === '';
}

/** At the end, so that a program that starts meanwhile finds all its parts. */
function removeOthers({ outputs }: Metafile): void {
  // `npm run package` writes to packages/.
  const kept = new Set(
    [...Object.keys(outputs), ...program.keys(), ...assets, ...pageFiles, 'packages'].map((file) => basename(file)),
  );
  if (isOnlyIfStale) kept.add(types);
  for (const name of readdirSync(dist)) if (!kept.has(name)) rmSync(join(dist, name), { recursive: true, force: true });
}

function writeTypes(): void {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const wanted = ['--project', join(root, 'scripts', 'tsconfig.types.json'), '--outDir', join(dist, types)];
  const made = spawnSync(tsc, wanted, { cwd: root, encoding: 'utf8' });
  if (made.status === 0) return;
  process.stderr.write(`the types could not be written:\n${made.stdout}${made.stderr}\n`);
  process.exitCode = 1;
}

function printSizes({ outputs }: Metafile): void {
  const sizes = Object.entries(outputs).map(([file, output]) => [basename(file), output.bytes] as const);
  sizes.push(...program);
  for (const asset of [...assets, ...pageFiles])
    sizes.push([basename(asset), statSync(join(dist, basename(asset))).size]);
  sizes.sort((a, b) => b[1] - a[1]);
  for (const [name, bytes] of sizes) console.log(`${kibibytes(bytes)}  dist/${name}`);
  console.log(`${kibibytes(sizes.reduce((sum, [, bytes]) => sum + bytes, 0))}  in ${sizes.length} files`);
}

function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KiB`;
}

/** A bundle that does not start is no build. */
function checkItStarts(): void {
  const started = spawnSync(process.execPath, [join(dist, 'main.cjs'), '--version'], { encoding: 'utf8' });
  if (started.status === 0 && started.stdout.includes(readVersion(root))) return;
  process.stderr.write(`dist/main.cjs --version ended with ${started.status}:\n${started.stdout}${started.stderr}\n`);
  process.exitCode = 1;
}
