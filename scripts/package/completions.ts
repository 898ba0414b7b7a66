/** Completions of bash, zsh and fish, made from the command table: commands, subcommands, options, choices; files elsewhere. */
import type { CommandEntry, OptionEntry } from './command-table.ts';

/** Names of the commands directly below `words`. */
function namesBelow(commands: readonly CommandEntry[], words: readonly string[]): CommandEntry[] {
  return commands.filter(
    (each) => each.words.length === words.length + 1 && words.every((word, n) => each.words[n] === word),
  );
}

function flagsOf({ options }: CommandEntry): string[] {
  return [...options.flatMap(({ short, long }) => (short === undefined ? [long] : [short, long])), '--help'];
}

/** Options that take one of a few words. */
function choicesOf({ options }: CommandEntry): OptionEntry[] {
  return options.filter(({ choices }) => choices.length > 0);
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function bashCompletion(commands: readonly CommandEntry[]): string {
  const cases = commands.map((command) => {
    const path = command.words.join(' ');
    const words = [...namesBelow(commands, command.words).map((sub) => sub.words.at(-1)!), ...flagsOf(command)];
    return `    ${quoted(path)}) words=${quoted(words.join(' '))} ;;`;
  });
  const choices = commands.flatMap((command) =>
    choicesOf(command).map(
      (option) =>
        `    ${quoted(`${command.words.join(' ')} ${option.long}`)}) words=${quoted(option.choices.join(' '))} ;;`,
    ),
  );
  const known = commands.filter(({ words }) => words.length > 0).map(({ words }) => quoted(words.join(' ')));
  return `# bash completion of tailrace
_tailrace() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' n next
  for ((n = 1; n < COMP_CWORD; n += 1)); do
    next="\${path:+$path }\${COMP_WORDS[n]}"
    case "$next" in
      ${known.join('|')}) path=$next ;;
    esac
  done
  case "$path $prev" in
${choices.join('\n')}
    *) case "$path" in
${cases.join('\n')}
    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  [[ \${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -o filenames -F _tailrace tailrace
`;
}

export function zshCompletion(commands: readonly CommandEntry[]): string {
  const cases = commands.map((command) => {
    const subs = namesBelow(commands, command.words).map((sub) =>
      quoted(`${sub.words.at(-1)}:${sub.description.replaceAll(':', '\\:')}`),
    );
    const flags = command.options.map(({ long, description }) =>
      quoted(`${long}:${description.replaceAll(':', '\\:')}`),
    );
    return `    ${quoted(command.words.join(' '))}) subs=(${subs.join(' ')}) flags=(${[...flags, "'--help:shows help'"].join(' ')}) ;;`;
  });
  const known = commands.filter(({ words }) => words.length > 0).map(({ words }) => quoted(words.join(' ')));
  return `#compdef tailrace
local path='' next word
local -a subs flags
for word in \${words[2,$((CURRENT - 1))]}; do
  next="\${path:+$path }$word"
  case "$next" in
    ${known.join('|')}) path=$next ;;
  esac
done
case "$path" in
${cases.join('\n')}
esac
if [[ "$PREFIX" == -* ]]; then _describe option flags
elif (( \${#subs} )); then _describe command subs
else _files
fi
`;
}

export function fishCompletion(commands: readonly CommandEntry[]): string {
  const lines = commands.flatMap((command) => {
    const condition = conditionOf(commands, command);
    const subs = namesBelow(commands, command.words);
    return [
      ...subs.map(
        (sub) =>
          `complete -c tailrace -f -n ${quoted(condition)} -a ${quoted(sub.words.at(-1)!)} -d ${quoted(sub.description)}`,
      ),
      ...command.options.map(({ short, long, value, choices, description }) => {
        const names = `${short === undefined ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`;
        const takes = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : value === undefined ? '' : ' -r';
        return `complete -c tailrace -n ${quoted(condition)}${names}${takes} -d ${quoted(description)}`;
      }),
    ];
  });
  return `# fish completion of tailrace\n${lines.join('\n')}\n`;
}

/** True in fish where the words of the command, and none of its subcommands, were typed. */
function conditionOf(commands: readonly CommandEntry[], { words }: CommandEntry): string {
  const below = namesBelow(commands, words).map((sub) => sub.words.at(-1)!);
  const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
  const unseen = below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : [];
  return [...seen, ...unseen].join('; and ') || 'true';
}
