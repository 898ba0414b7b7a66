/**
 * One file that is the whole agent: the program, injected into Node's own binary (a single executable application) as assets, of which it
 * loads what it needs. Reproducible: no code cache, no build time, no path of the machine goes into it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundleAssets } from '../bundle.ts';
import { buildPages, pageFiles } from '../pages.ts';
import { asFunction, bundleProgram } from '../program.ts';
import { run } from './run.ts';

export type Arch = 'x64' | 'arm64';

/** Programs that strip symbols of each architecture's binary, the first that is there is taken. */
const STRIPPERS: Readonly<Record<Arch, readonly string[]>> = {
  x64: process.arch === 'x64' ? ['strip'] : ['x86_64-linux-gnu-strip', 'llvm-strip'],
  arm64: process.arch === 'arm64' ? ['strip'] : ['aarch64-linux-gnu-strip', 'llvm-strip'],
};

/** Flags that Node starts with, as bin/tailrace gives them to the agent. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--disable-warning=ExperimentalWarning'];

export interface ExecutableOptions {
  readonly root: string;
  /** A folder for this build alone. */
  readonly work: string;
  readonly arch: Arch;
  /** The Node binary of that architecture, of the same version as the one that runs this. */
  readonly node: string;
}

/** Loads the program's files from assets, as dist/main.cjs loads them from disk. */
const LOADER = `'use strict';
const { getRawAsset } = require('node:sea');
const { Script } = require('node:vm');
const loaded = new Map();
function load(name) {
  if (loaded.has(name)) return loaded.get(name).exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const script = new Script(Buffer.from(getRawAsset(name)).latin1Slice(), { filename: name });
  script.runInThisContext()(module.exports, requireHere, module, __filename, __dirname);
  return module.exports;
}
const requireHere = (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id));
load('main.cjs');
`;

/** Builds it; resolves with its path, and with the files that went into the program and the pages (for the SBOM). Throws when a step fails. */
export async function buildExecutable({
  root,
  work,
  arch,
  node,
}: ExecutableOptions): Promise<{ path: string; sources: readonly string[] }> {
  mkdirSync(work, { recursive: true });
  const main = join(work, 'loader.cjs');
  writeFileSync(main, LOADER);
  const { start, lazy, sources } = await bundleProgram(root, ['chdb']);
  const program = new Map([['main.cjs', start], ...[...lazy].map(([name, code]) => [name, asFunction(code)] as const)]);
  for (const [name, code] of program) writeFileSync(join(work, name), code);
  const pages = await buildPages(root, work);
  const stripped = join(work, 'node');
  copyFileSync(node, stripped);
  chmodSync(stripped, 0o755);
  // Before the injection: a binary that is stripped afterwards does not start.
  stripSymbols(arch, stripped);
  const path = join(work, 'tailrace');
  const config = join(work, 'executable.json');
  writeFileSync(
    config,
    JSON.stringify({
      // Relative, because they get into the executable.
      main: basename(main),
      mainFormat: 'commonjs',
      executable: basename(stripped),
      output: basename(path),
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      execArgv: NODE_FLAGS,
      // `--node-options` limits the process of a transform script.
      execArgvExtension: 'cli',
      assets: Object.fromEntries([
        ...bundleAssets.map((asset) => [basename(asset), join(root, asset)]),
        ...[...pageFiles, ...program.keys()].map((name) => [name, join(work, name)]),
      ]),
    }),
  );
  run(process.execPath, ['--build-sea', config], { cwd: work });
  chmodSync(path, 0o755);
  return { path, sources: [...sources, ...Object.keys(pages.inputs)] };
}

function stripSymbols(arch: Arch, file: string): void {
  const program = STRIPPERS[arch].find((name) => spawnSync(name, ['--version']).status === 0);
  if (program === undefined) {
    throw new Error(
      `no program strips ${arch} binaries here; install binutils${arch === process.arch ? '' : ` for it: apt-get install -y binutils-${arch === 'arm64' ? 'aarch64' : 'x86-64'}-linux-gnu`}`,
    );
  }
  run(program, [file]);
}
