/**
 * One file that is the whole agent: the program as a single module, injected into Node's own binary (a single executable
 * application). Reproducible: no code cache, no build time, no path of the machine goes into it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundleAssets, bundleOptions } from '../bundle.ts';
import { buildPages, pageFiles } from '../pages.ts';
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

/** Builds it; resolves with its path, and with what esbuild put into the module and the pages (for the SBOM). Throws when a step fails. */
export async function buildExecutable({ root, work, arch, node }: ExecutableOptions): Promise<{ path: string; metafile: Metafile }> {
  mkdirSync(work, { recursive: true });
  const main = join(work, 'main.mjs');
  const result = await build({ ...bundleOptions(root), entryPoints: [join(root, 'src/main.ts')], outfile: main, metafile: true });
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
      mainFormat: 'module',
      executable: basename(stripped),
      output: basename(path),
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      execArgv: NODE_FLAGS,
      // `--node-options` limits the process of a transform script.
      execArgvExtension: 'cli',
      assets: Object.fromEntries([
        ...bundleAssets.map((asset) => [basename(asset), join(root, asset)]),
        ...pageFiles.map((name) => [name, join(work, name)]),
      ]),
    }),
  );
  run(process.execPath, ['--build-sea', config], { cwd: work });
  chmodSync(path, 0o755);
  return { path, metafile: { ...result.metafile, inputs: { ...result.metafile.inputs, ...pages.inputs } } };
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
