/**
 * Builds the modules of src/kernel from src/kernel/assembly. They are committed; `--check` builds them elsewhere and
 * fails when the bytes differ. The compiler's version is exact in package.json, so the same source gives the same bytes.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The part of the compiler that is used. Its own types declare globals that hide Node's, so they are kept out. */
interface Compiler {
  readonly main: (
    args: readonly string[],
    output: { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream },
  ) => Promise<{ error: Error | null }>;
}

const compiler: string = 'assemblyscript/asc';
const { main } = (await import(compiler)) as Compiler;

const root = join(import.meta.dirname, '..');
const MODULES = ['kernel', 'content-sum', 'transform'];

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
for (const name of MODULES) {
  if (values.check) await check(name);
  else await build(name, join(root, targetOf(name)));
}

function targetOf(name: string): string {
  return `src/kernel/${name}.wasm`;
}

async function build(name: string, file: string): Promise<void> {
  const files = [`src/kernel/assembly/${name}.ts`, '--baseDir', root, '--outFile', file];
  // 112 warns that functions take vectors, which matters only to exported ones.
  const module = [
    '--runtime',
    'stub',
    '--importMemory',
    '--noExportMemory',
    '--use',
    'abort=',
    '--disableWarning',
    '112',
  ];
  const output = { stdout: process.stderr, stderr: process.stderr };
  const { error } = await main([...files, ...module, '-O3', '--converge', '--enable', 'simd'], output);
  if (error) throw error;
}

async function check(name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tailrace-kernel-'));
  try {
    const file = join(folder, 'module.wasm');
    await build(name, file);
    if (readFileSync(file).equals(readFileSync(join(root, targetOf(name))))) return;
    process.stderr.write(
      `${targetOf(name)} is not what its source builds to; run: scripts/node scripts/build-kernel.ts\n`,
    );
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
