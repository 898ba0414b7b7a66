/**
 * Builds src/kernel/kernel.wasm from src/kernel/assembly. The module is committed; `--check` builds it elsewhere and
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
const target = 'src/kernel/kernel.wasm';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
if (values.check) await check();
else await build(join(root, target));

async function build(file: string): Promise<void> {
  const files = ['src/kernel/assembly/kernel.ts', '--baseDir', root, '--outFile', file];
  // 112 warns that functions take vectors, which matters only to exported ones.
  const module = ['--runtime', 'stub', '--importMemory', '--noExportMemory', '--use', 'abort=', '--disableWarning', '112'];
  const output = { stdout: process.stderr, stderr: process.stderr };
  const { error } = await main([...files, ...module, '-O3', '--converge', '--enable', 'simd'], output);
  if (error) throw error;
}

async function check(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tailrace-kernel-'));
  try {
    const file = join(folder, 'kernel.wasm');
    await build(file);
    if (readFileSync(file).equals(readFileSync(join(root, target)))) return;
    process.stderr.write(`${target} is not what its source builds to; run: scripts/node scripts/build-kernel.ts\n`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
