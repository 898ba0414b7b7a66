/** Help on the command line: for commands that exist, and a pointer to it for those that do not. Changes no command. */
import type { Command } from 'commander';

/** A mistake is answered with the help of the command that was meant. */
export function pointToHelp(command: Command, path = command.name()): void {
  const what = command.commands.length > 0 ? 'every command' : 'its arguments and options';
  command.showHelpAfterError(`(${path} --help shows ${what})`);
  for (const sub of command.commands) pointToHelp(sub, `${path} ${sub.name()}`);
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
