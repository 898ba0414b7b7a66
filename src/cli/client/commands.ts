/** The client commands as the command line knows them: names, arguments, help. What a command does is loaded when it is asked for. */
import type { Command } from 'commander';
import type { ArgumentsOf, CommandName } from '../options/command-options.ts';

type Exit = (code: Promise<number>) => Promise<void>;
type Add = (name: CommandName, does: string, under?: Command) => Command;

export function addClientCommands(program: Command, command: Add, exitWith: Exit): void {
  const exit: Exit = (code) => exitWith(flushed(code));
  addDatasets(program.command('datasets').description('the datasets of a service: list, get, create, update, delete, trim'), command, exit);
  command('ingest', 'stores events of files or stdin: NDJSON, JSON or CSV, also as .gz or .zst')
    .argument('[dataset]', 'where to; left out with --archive')
    .argument('[file...]', '- is stdin, which is the default')
    .action(async (dataset: string | undefined, files: string[], options: ArgumentsOf<'ingest'>) =>
      exit(
        options.archive === undefined
          ? (await import('./ingest.ts')).ingest(dataset, files, options)
          : (await import('./ingest-archive.ts')).ingestArchive(options.archive, dataset, options),
      ),
    );
  command('query', 'asks for events or summaries: in APL, or with --dataset in JSON')
    .argument('[text]', 'the query; - or none reads it from stdin')
    .allowExcessArguments()
    .action(async (text: string | undefined, options: ArgumentsOf<'query'>, { args }: Command) =>
      exit((await import('./query.ts')).query(text, options, args.length)),
    );
  const account = () => import('./account.ts');
  command('whoami', 'the user of the token').action(async (options: ArgumentsOf<'whoami'>) => exit((await account()).whoami(options)));
  command('users', 'the users of the organisation').action(async (options: ArgumentsOf<'users'>) =>
    exit((await account()).listUsers(options)),
  );
  command('orgs', 'the organisations of the user, with plan and limits').action(async (options: ArgumentsOf<'orgs'>) =>
    exit((await account()).listOrgs(options)),
  );
  addTokens(program.command('tokens'), command, exit);
}

/** Output of a process that exits may stay unread. */
async function flushed(code: Promise<number>): Promise<number> {
  const { flush } = await import('./output/print.ts');
  try {
    return await code;
  } finally {
    await flush();
  }
}

function addDatasets(datasets: Command, command: Add, exit: Exit): void {
  const load = () => import('./datasets.ts');
  const ofDataset = (name: 'get' | 'create' | 'update' | 'delete' | 'trim', does: string) =>
    command(`datasets ${name}`, does, datasets).argument('<name>', 'of the dataset');
  command('datasets list', 'every dataset that the token may see', datasets).action(async (options: ArgumentsOf<'datasets list'>) =>
    exit((await load()).listDatasets(options)),
  );
  ofDataset('get', 'one dataset').action(async (name: string, options: ArgumentsOf<'datasets get'>) =>
    exit((await load()).getDataset(name, options)),
  );
  ofDataset('create', 'makes a dataset').action(async (name: string, options: ArgumentsOf<'datasets create'>) =>
    exit((await load()).createDataset(name, options)),
  );
  ofDataset('update', 'changes the description').action(async (name: string, options: ArgumentsOf<'datasets update'>) =>
    exit((await load()).updateDataset(name, options)),
  );
  ofDataset('delete', 'removes a dataset and all its events').action(async (name: string, options: ArgumentsOf<'datasets delete'>) =>
    exit((await load()).deleteDataset(name, options)),
  );
  ofDataset('trim', 'deletes the old events of a dataset')
    .argument('[age]', 'over which events are deleted, such as 12h or 30d')
    .action(async (name: string, age: string | undefined, options: ArgumentsOf<'datasets trim'>) =>
      exit((await load()).trimDataset(name, age, options)),
    );
}

function addTokens(tokens: Command, command: Add, exit: Exit): void {
  tokens
    .summary('the tokens of a service: create, list, revoke')
    .description(
      'the tokens of a service: create, list, revoke; each wants a personal token of an owner or admin, an API token that may manage tokens, or --data',
    );
  const load = () => import('./tokens.ts');
  command('tokens list', 'every token, without its text', tokens).action(async (options: ArgumentsOf<'tokens list'>) =>
    exit((await load()).listTokens(options)),
  );
  command(
    'tokens create',
    'makes a token and prints it, once; give it at least one right (--ingest, --query, --trim, --manage-datasets, --manage-tokens) or --personal, such as: tailrace tokens create web-1 --ingest web',
    tokens,
  )
    .summary('makes a token and prints it, once')
    .argument('<name>', 'what it is for')
    .action(async (name: string, options: ArgumentsOf<'tokens create'>) => exit((await load()).createToken(name, options)));
  command('tokens revoke', 'makes a token unknown', tokens)
    .argument('<id>', 'its id, or a name that only one has')
    .action(async (id: string, options: ArgumentsOf<'tokens revoke'>) => exit((await load()).revokeToken(id, options)));
}
