/** argv → command: runs it, says what went wrong, and sets the exit code. */
import { isSea } from 'node:sea';
import { Script } from 'node:vm';
import { CommanderError } from 'commander';
import { withoutVainHelp } from './cli/help.ts';
import { createProgram } from './cli/program.ts';
import { ConfigError, formatProblem } from './config/config-error.ts';
import { codeOf, messageOf, TailraceError, UsageError } from './core/errors.ts';

await main();

/**
 * A reader that went away (`… | head`) ends a command that only prints, without a word, as any Unix tool ends; a full disk ends it with a word.
 * A lasting one goes on.
 */
function outliveReader(isLasting: boolean): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (isLasting) return;
      if (codeOf(error) === 'EPIPE') process.exit();
      if (stream === process.stdout) process.stderr.write(`tailrace: cannot write to standard output: ${messageOf(error)}\n`);
      process.exit(1);
    });
  }
}

async function exitWith(code: Promise<number>): Promise<void> {
  process.exitCode = await code;
}

async function main(): Promise<void> {
  const command = process.argv[2] ?? '';
  // Only the single executable has no other way to run it.
  if (command === 'script-host' && isSea()) {
    const { HOST_SOURCE } = await import('./shaping/script/host-source.ts');
    new Script(HOST_SOURCE).runInThisContext();
    return;
  }
  // `run` prints only its log, which takes care of itself.
  if (command !== 'run') outliveReader(command === 'serve' || command === 'demo');
  try {
    // The agent starts lean: it loads no limits but its own.
    if (command !== 'run') (await import('./cli/limit-relations.ts')).assertLimits();
    const program = await createProgram(exitWith, command === 'run' ? 'run' : undefined);
    await program.parseAsync(withoutVainHelp(program, process.argv.slice(2)), { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
  // Whatever still holds the loop must not keep a finished command alive.
  setTimeout(() => process.exit(), 2000).unref();
}

/** Says what went wrong, where, and what to do; returns the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) {
    process.stderr.write(
      `${error.problems.map((problem) => `${formatProblem(problem)}\n`).join('')}tailrace: the configuration has ${error.problems.length} problem${error.problems.length === 1 ? '' : 's'}; nothing was started\n`,
    );
    return 2;
  }
  if (error instanceof TailraceError) {
    process.stderr.write(`tailrace: ${error.message}\n${error.fix === undefined ? '' : `  fix: ${error.fix}\n`}`);
    return error instanceof UsageError ? 2 : 1;
  }
  process.stderr.write(
    `tailrace: this is a fault of Tailrace itself, please report it: ${messageOf(error)}\n${error instanceof Error ? (error.stack ?? '') : ''}\n`,
  );
  return 1;
}
