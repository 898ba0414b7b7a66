/**
 * `npm run build` (`--if-stale`: only when a source is newer): the program as plain JavaScript in dist/, which is what is published,
 * packaged and benchmarked (Node strips no types under node_modules, and a stripped tree costs 17 MB of memory). Imports that are lazy
 * in the sources stay lazy: each becomes a chunk of its own, in one flat folder, with the kernel's modules beside them. Beside the
 * program stand the parts of the client that the package exports, and their types, which `--if-stale` leaves as they are: they take a
 * second that a start from a checkout does not need to wait. `--out DIR` puts it all elsewhere.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');
const elsewhere = process.argv.indexOf('--out') + 1;
const dist = elsewhere > 0 ? process.argv[elsewhere]! : join(root, 'dist');
/** What can be started or imported, by its name in dist/. */
const entries = {
  main: 'src/main.ts',
  client: 'src/client/client.ts',
  'client-errors': 'src/client/client-error.ts',
  'client-ingest-stream': 'src/client/ingest/ingest-stream.ts',
  'client-pages': 'src/client/pages.ts',
};
/** Their declarations. */
const types = 'types';
const isOnlyIfStale = process.argv.includes('--if-stale');
/** Files that the sources load at run time as `new URL('./name', import.meta.url)`. */
const assets = ['src/kernel/kernel.wasm', 'src/kernel/content-sum.wasm', 'src/kernel/deflate.wasm'];
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const startedAt = new Date();
if (isOnlyIfStale && isFresh()) process.exit();
const result = await build({
  absWorkingDir: root,
  entryPoints: entries,
  outdir: dist,
  bundle: true,
  splitting: true,
  chunkNames: '[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Names stay, because errors, logs and profiles show them; the rest only saves bytes to parse at start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  external: ['chdb', '@clickhouse/client'],
  define: { TAILRACE_VERSION: JSON.stringify(version) },
  // CommonJS packages in the bundle call `require`, which a module does not have.
  banner: { js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);` },
  metafile: true,
  logLevel: 'warning',
});
for (const asset of assets) copyFileSync(join(root, asset), join(dist, basename(asset)));
removeOthers(result.metafile);
if (!isOnlyIfStale) writeTypes();
// What is saved from here on counts as newer, also while the bundle was being made.
utimesSync(join(dist, 'main.js'), startedAt, startedAt);
printSizes(result.metafile);
checkItStarts();

/** The question that bin/tailrace asks, too. */
function isFresh(): boolean {
  const sources = ['src', 'package.json', 'package-lock.json', 'scripts/build.ts'];
  const asked = spawnSync('find', [...sources, '-newer', join(dist, 'main.js'), '-print', '-quit'], { cwd: root, encoding: 'utf8' });
  return asked.status === 0 && asked.stdout === '';
}

/** At the end, so that a program that starts meanwhile finds all its parts. */
function removeOthers({ outputs }: Metafile): void {
  const kept = new Set([...Object.keys(outputs), ...assets].map((file) => basename(file)));
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
  for (const asset of assets) sizes.push([basename(asset), statSync(join(dist, basename(asset))).size]);
  sizes.sort((a, b) => b[1] - a[1]);
  for (const [name, bytes] of sizes) console.log(`${kibibytes(bytes)}  dist/${name}`);
  console.log(`${kibibytes(sizes.reduce((sum, [, bytes]) => sum + bytes, 0))}  in ${sizes.length} files`);
}

function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KiB`;
}

/** A bundle that does not start is no build. */
function checkItStarts(): void {
  const started = spawnSync(process.execPath, [join(dist, 'main.js'), '--version'], { encoding: 'utf8' });
  if (started.status === 0 && started.stdout.includes(version)) return;
  process.stderr.write(`dist/main.js --version ended with ${started.status}:\n${started.stdout}${started.stderr}\n`);
  process.exitCode = 1;
}
