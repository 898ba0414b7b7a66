/** argv → command: runs it, says what went wrong, and sets the exit code. */
import { isSea } from 'node:sea';
import { Script } from 'node:vm';
import { CommanderError } from 'commander';
import { withoutVainHelp } from './cli/help.ts';
import { endAtFaults, sayFault } from './cli/output/fault.ts';
import { plural, say, sayError } from './cli/output/say.ts';
import { createProgram } from './cli/program.ts';
import { ConfigError, formatProblem } from './config/config-error.ts';
import { codeOf, messageOf, TailraceError, UsageError } from './core/errors.ts';

void main();

/**
 * A reader that went away (`… | head`) ends a command that only prints, without a word, as any Unix tool ends; a full disk ends it with a word.
 * A lasting one goes on.
 */
function outliveReader(isLasting: boolean): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (isLasting) return;
      if (codeOf(error) === 'EPIPE') process.exit();
      if (stream === process.stdout) say(`tailrace: cannot write to standard output: ${messageOf(error)}`);
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
  const isService = command === 'serve' || command === 'demo';
  if (command !== 'run') outliveReader(isService);
  if (process.stdout.isTTY) (await import('./cli/output/terminal.ts')).guardTerminal(process.stdout);
  if (isService) endAtFaults();
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
    const { length } = error.problems;
    say(
      ...error.problems.map(formatProblem),
      `tailrace: the configuration has ${plural(length, 'problem')}; nothing was started`,
    );
    return 2;
  }
  if (error instanceof TailraceError) {
    sayError('tailrace', error);
    return error instanceof UsageError ? 2 : 1;
  }
  sayFault(error);
  return 1;
}
