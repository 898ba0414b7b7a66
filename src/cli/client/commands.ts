/** The client commands as the command line knows them: names, arguments, help. What a command does is loaded when it is asked for. */
import type { Command } from 'commander';
import type { ArgumentsOf, CommandName } from '../options/command-options.ts';

type Add = (name: CommandName, does: string, under?: Command) => Command;
/** Runs the loaded function with the command's arguments and options; its result is the exit code. */
type Does = (command: Command, load: () => Promise<(...given: never[]) => Promise<number>>) => void;

export function addClientCommands(
  program: Command,
  command: Add,
  exitWith: (code: Promise<number>) => Promise<void>,
): void {
  const does: Does = (added, load) =>
    added.action(async (...given: unknown[]) => exitWith(flushed((await load())(...(given as never[])))));
  addDatasets(
    program.command('datasets').description('the datasets of a service: list, get, create, update, delete, trim'),
    command,
    does,
  );
  does(
    command('ingest', 'stores events of files or stdin: NDJSON, JSON or CSV, also as .gz or .zst')
      .argument('[dataset]', 'where to; left out with --archive')
      .argument('[file...]', '- is stdin, which is the default'),
    async () => async (dataset: string | undefined, files: string[], options: ArgumentsOf<'ingest'>) =>
      options.archive === undefined
        ? (await import('./ingest.ts')).ingest(dataset, files, options)
        : (await import('./ingest-archive.ts')).ingestArchive(options.archive, dataset, options),
  );
  does(
    command('query', 'asks for events or summaries: in APL, or with --dataset in JSON')
      .argument('[text]', 'the query; - or none reads it from stdin')
      .allowExcessArguments(),
    async () => (await import('./query.ts')).query,
  );
  const account = () => import('./account.ts');
  does(command('whoami', 'the user of the token'), async () => (await account()).whoami);
  does(command('users', 'the users of the organisation'), async () => (await account()).listUsers);
  does(command('orgs', 'the organisations of the user, with plan and limits'), async () => (await account()).listOrgs);
  addTokens(program.command('tokens'), command, does);
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

function addDatasets(datasets: Command, command: Add, does: Does): void {
  const load = () => import('./datasets.ts');
  const ofDataset = (name: 'get' | 'create' | 'update' | 'delete' | 'trim', what: string) =>
    command(`datasets ${name}`, what, datasets).argument('<name>', 'of the dataset');
  does(
    command('datasets list', 'every dataset that the token may see', datasets),
    async () => (await load()).listDatasets,
  );
  does(ofDataset('get', 'one dataset'), async () => (await load()).getDataset);
  does(ofDataset('create', 'makes a dataset'), async () => (await load()).createDataset);
  does(ofDataset('update', 'changes the description'), async () => (await load()).updateDataset);
  does(ofDataset('delete', 'removes a dataset and all its events'), async () => (await load()).deleteDataset);
  does(
    ofDataset('trim', 'deletes the old events of a dataset').argument(
      '[age]',
      'over which events are deleted, such as 12h or 30d',
    ),
    async () => (await load()).trimDataset,
  );
}

function addTokens(tokens: Command, command: Add, does: Does): void {
  tokens
    .summary('the tokens of a service: create, list, revoke')
    .description(
      'the tokens of a service: create, list, revoke; each wants a personal token of an owner or admin, an API token that may manage tokens, or --data',
    );
  const load = () => import('./tokens.ts');
  does(command('tokens list', 'every token, without its text', tokens), async () => (await load()).listTokens);
  does(
    command(
      'tokens create',
      'makes a token and prints it, once; give it at least one right (--ingest, --query, --trim, --manage-datasets, --manage-tokens) or --personal, such as: tailrace tokens create web-1 --ingest web',
      tokens,
    )
      .summary('makes a token and prints it, once')
      .argument('<name>', 'what it is for'),
    async () => (await load()).createToken,
  );
  does(
    command('tokens revoke', 'makes a token unknown', tokens).argument('<id>', 'its id, or a name that only one has'),
    async () => (await load()).revokeToken,
  );
}
