/** The command line as data, read from the table that the program itself uses. */
import type { Command, Option } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

export interface CommandEntry {
  /** Words behind `tailrace`, such as `['datasets', 'list']`; none for the program itself. */
  readonly words: readonly string[];
  readonly description: string;
  readonly arguments: readonly { readonly term: string; readonly description: string }[];
  readonly options: readonly OptionEntry[];
}

export interface OptionEntry {
  readonly short: string | undefined;
  readonly long: string;
  /** `<file>`, or undefined where it takes no value. */
  readonly value: string | undefined;
  readonly choices: readonly string[];
  readonly description: string;
}

/** Every command, the program itself first, each before its subcommands. */
export async function readCommandTable(): Promise<CommandEntry[]> {
  return describe(await createProgram(async () => {}), []);
}

function describe(command: Command, words: readonly string[]): CommandEntry[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => sub.name() !== 'help');
  const entry: CommandEntry = {
    words,
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      term: `${argument.required ? '<' : '['}${argument.name()}${argument.variadic ? '...' : ''}${argument.required ? '>' : ']'}`,
      description: argument.description,
    })),
    options: command.options.filter((option) => !option.hidden).map(optionEntry),
  };
  return [entry, ...visible.flatMap((sub) => describe(sub, [...words, sub.name()]))];
}

function optionEntry(option: Option): OptionEntry {
  return {
    short: option.short,
    long: option.long ?? option.flags,
    value: /[<[].*[>\]]/.exec(option.flags)?.[0],
    choices: option.argChoices ?? [],
    description: option.description,
  };
}
