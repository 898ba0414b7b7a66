/** Help on the command line: for commands that exist, and a pointer to it for those that do not. Changes no command. */
import type { Command } from 'commander';
import { nearest } from '../config/nearest.ts';

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

/** `commands: words`. The words are those of other agents, of systemd, docker, kubectl and databases. */
const wordsOf = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([command, words]) => words.split(' ').map((word) => [word, command])));

const TOP = wordsOf({
  query: 'logs log search find grep select sql apl cat ask get',
  'query --follow': 'tail follow live stream',
  run: 'start agent daemon up ship forward',
  reload: 'restart',
  check: 'validate verify lint configtest syntax',
  init: 'setup configure config generate new',
  serve: 'server service listen backend',
  ingest: 'send upload push import put load write post',
  status: 'ps info health state show',
  top: 'stats metrics monitor watch',
  tokens: 'login logout auth signin token key keys apikey',
  whoami: 'me user account profile',
  orgs: 'org organisation organisations organization organizations',
  'datasets list': 'ls list tables',
  'dead-letters': 'dlq failed rejected errors letters',
  preview: 'try dry-run dryrun simulate parse',
  explain: 'why',
  audit: 'prove proof',
  'engine install': 'install',
});

const OF_A_GROUP: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  datasets: wordsOf({
    list: 'ls all',
    get: 'show info describe',
    create: 'add new make',
    update: 'edit set change',
    delete: 'rm remove drop',
    trim: 'prune purge clean',
  }),
  tokens: wordsOf({ list: 'ls all show get', create: 'add new make generate', revoke: 'rm remove delete drop' }),
};

/** `group`: the command whose subcommand the word should be; empty at the top. */
function meantCommand(word: string, group: string, known: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const meant = (group === '' ? TOP : OF_A_GROUP[group])?.get(lower);
  if (meant !== undefined && known.includes(meant.split(' ')[0]!)) return meant;
  // Few mistype the first letter: "stop" is not "top".
  const alike = known.filter((name) => name.slice(0, 2).includes(lower.slice(0, 1)));
  return nearest(lower, alike);
}
