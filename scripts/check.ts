/**
 * `npm run check`, the one gate: runs every check, says one line for each, and the failures' output at the end.
 * Exits 1 if any failed. With `--fix` (`npm run format`) it only rewrites the files' format.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (name: string, ...args: string[]) => [join(root, 'node_modules', '.bin', name), ...args];
const script = (name: string, ...args: string[]) => [process.execPath, join(root, 'scripts', `${name}.ts`), ...args];

/** Each check with the command that runs it; what the command prints is shown only when it fails. */
const checks: readonly (readonly [name: string, command: string[]])[] = [
  ['format', bin('oxfmt', '--check', '.')],
  ['lint', bin('oxlint', '--type-aware', '--deny-warnings')],
  ['types', bin('tsc', '--project', '.')],
  ['page types', bin('tsc', '--project', 'src/pages')],
  ['layering', script('check-layers')],
  ['classes', script('check-classes')],
  ['kernel module', script('build-kernel', '--check')],
  ['generated files', script('generate', '--check')],
  ['docs', script('check-docs')],
  ['patterns', script('check-patterns')],
  ['pins', script('check-pins')],
  ['words', script('words')],
  ['size', script('size')],
];

/** Runs one command; what it printed when it failed, else undefined. */
function run([program = '', ...args]: string[]): string | undefined {
  const result = spawnSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (result.status === 0) return undefined;
  const printed = `${result.stdout ?? ''}${result.stderr ?? ''}`.trim();
  return printed || `ended with ${result.error?.message ?? result.signal ?? result.status} and printed nothing`;
}

function checkAll(): boolean {
  const failures: string[] = [];
  for (const [name, command] of checks) {
    const startedAt = performance.now();
    const failure = run(command);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${failure === undefined ? '✓' : '✗'} ${name.padEnd(16)} ${seconds.padStart(5)} s`);
    if (failure !== undefined) failures.push(`── ${name}\n${failure}`);
  }
  if (failures.length === 0) return true;
  console.log(`\n${failures.join('\n\n')}\n\n${failures.length} of ${checks.length} checks failed`);
  return false;
}

function fixFormat(): boolean {
  const failure = run(bin('oxfmt', '.'));
  if (failure !== undefined) console.log(failure);
  return failure === undefined;
}

process.exitCode = (process.argv.includes('--fix') ? fixFormat() : checkAll()) ? 0 : 1;
