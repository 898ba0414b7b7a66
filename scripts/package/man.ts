/** The manual pages in roff: `tailrace(1)` with every command, made from the command table. */
import type { CommandEntry, OptionEntry } from './command-table.ts';

/** Text as roff shows it: no leading dot, no backslash or hyphen that it would change. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

export interface ManualOptions {
  readonly version: string;
  /** Of the release, as `YYYY-MM-DD`. */
  readonly date: string;
}

export function manualPage(commands: readonly CommandEntry[], { version, date }: ManualOptions): string {
  const [program, ...rest] = commands;
  const lines = [
    `.TH TAILRACE 1 "${date}" "Tailrace ${version}" "User Commands"`,
    '.SH NAME',
    'tailrace \\- log\\-shipping agent that loses nothing, and a local service to ship to',
    '.SH SYNOPSIS',
    '.B tailrace',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    escape(program?.description ?? ''),
    '.PP',
    escape(
      'The agent reads /etc/tailrace/tailrace.yaml where no other configuration is named. Its service is tailrace.service.',
    ),
    '.SH COMMANDS',
    ...rest.flatMap(commandLines),
    '.SH "EXIT STATUS"',
    '.TP',
    '.B 0',
    'done',
    '.TP',
    '.B 1',
    'failed at run time',
    '.TP',
    '.B 2',
    'wrong usage or configuration',
    '.SH FILES',
    '.TP',
    '.I /etc/tailrace/tailrace.yaml',
    'configuration; every key with its default is in /usr/share/doc/tailrace/config.example.yaml',
    '.TP',
    '.I /etc/tailrace/token',
    escape("the service's token, which tailrace.service hands to the agent"),
    '.TP',
    '.I /var/lib/tailrace',
    'checkpoints, disk buffer and dead letters',
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines({ words, description, arguments: wanted, options }: CommandEntry): string[] {
  const synopsis = ['tailrace', ...words, ...wanted.map(({ term }) => term)].join(' ');
  return [
    `.SS "${escape(synopsis)}"`,
    escape(sentence(description)),
    ...wanted
      .filter((each) => each.description !== '')
      .flatMap((each) => ['.TP', `.I ${escape(each.term)}`, escape(each.description)]),
    ...options.flatMap(optionLines),
  ];
}

function optionLines({ short, long, value, choices, description }: OptionEntry): string[] {
  const names = [short, long].filter((name) => name !== undefined).map((name) => `\\fB${escape(name)}\\fR`);
  const all = choices.length > 0 ? `${description} (${choices.join(', ')})` : description;
  return ['.TP', `${names.join(', ')}${value === undefined ? '' : ` \\fI${escape(value)}\\fR`}`, escape(all)];
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
