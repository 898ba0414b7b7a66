/** Help on the command line: for commands that exist, and a pointer to it for those that do not. Changes no command. */
import type { Command } from 'commander';
import { meantCommand } from './suggest.ts';

/** A mistake is answered with the help of the command that was meant. */
export function pointToHelp(command: Command, path = command.name()): void {
  const what = command.commands.length > 0 ? 'every command' : 'its arguments and options';
  command.showHelpAfterError(`(${path} --help shows ${what})`);
  if (command.commands.length > 0) command.on('command:*', ([word = '']: string[]) => refuseUnknown(command, word));
  for (const sub of command.commands) pointToHelp(sub, `${path} ${sub.name()}`);
}

/** commander guesses by letters alone: "logs" was "orgs" to it, and "login" was "engine". */
function refuseUnknown(command: Command, word: string): never {
  const group = command.parent === null ? '' : command.name();
  const meant = meantCommand(
    word,
    group,
    command.commands.map((sub) => sub.name()),
  );
  command.error(`error: unknown command '${word}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`);
}

/**
 * The arguments as commander wants them: `--help` is dropped where the command does not exist, so that the error shows. `help NAME` is
 * `NAME --help`.
 */
export function withoutVainHelp(program: Command, args: readonly string[]): readonly string[] {
  const words = args[0] === 'help' && args.length > 1 ? [...args.slice(1), '--help'] : args;
  let command = program;
  for (const word of words) {
    const next = command.commands.find((sub) => sub.name() === word);
    if (next === undefined) {
      const isUnknown = command.commands.length > 0 && word !== 'help' && !word.startsWith('-');
      return isUnknown ? words.filter((other) => other !== '--help' && other !== '-h') : words;
    }
    command = next;
  }
  return words;
}
