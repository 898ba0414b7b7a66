/** The client commands as the command line knows them: names, options, help. What a command does is loaded when it is asked for. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { ConnectionArguments } from './connection.ts';
import type { DatasetArguments } from './datasets.ts';
import type { IngestArguments } from './ingest.ts';
import type { QueryArguments } from './query.ts';
import type { TokenArguments } from './tokens.ts';

type Exit = (code: Promise<number>) => Promise<void>;

export function addClientCommands(program: Command, exitWith: Exit): void {
  const exit: Exit = (code) => exitWith(flushed(code));
  addDatasets(program, exit);
  addIngest(program, exit);
  addQuery(program, exit);
  addAccount(program, exit);
  addTokens(program, exit);
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

function addDatasets(program: Command, exit: Exit): void {
  const datasets = program.command('datasets').description('the datasets of a service: list, get, create, update, delete, trim');
  const load = () => import('./datasets.ts');
  const ofDataset = (name: string, does: string) =>
    connected(datasets.command(name).description(does).argument('<name>', 'of the dataset'));
  connected(datasets.command('list').description('every dataset that the token may see')).action(async (options: DatasetArguments) =>
    exit((await load()).listDatasets(options)),
  );
  ofDataset('get', 'one dataset').action(async (name: string, options: DatasetArguments) => exit((await load()).getDataset(name, options)));
  ofDataset('create', 'makes a dataset')
    .option('-d, --description <text>', 'what it is for')
    .action(async (name: string, options: DatasetArguments) => exit((await load()).createDataset(name, options)));
  ofDataset('update', 'changes the description')
    .option('-d, --description <text>', 'what it is for')
    .action(async (name: string, options: DatasetArguments) => exit((await load()).updateDataset(name, options)));
  ofDataset('delete', 'removes a dataset and all its events')
    .option('-y, --yes', 'without asking, which is done on a terminal only')
    .action(async (name: string, options: DatasetArguments) => exit((await load()).deleteDataset(name, options)));
  ofDataset('trim', 'deletes the old events of a dataset')
    .argument('[age]', 'over which events are deleted, such as 12h or 30d')
    .option('--max-duration <age>', 'the same')
    .option('-y, --yes', 'without asking, which is done on a terminal only')
    .action(async (name: string, age: string | undefined, options: DatasetArguments) =>
      exit((await load()).trimDataset(name, age, options)),
    );
}

function addIngest(program: Command, exit: Exit): void {
  connected(program.command('ingest').description('stores events of files or stdin: NDJSON, JSON or CSV, also as .gz or .zst'))
    .argument('<dataset>', 'where to')
    .argument('[file...]', '- is stdin, which is the default')
    .addOption(
      new Option('-f, --format <format>', 'default: by the ending of the name, else by how it begins').choices(['ndjson', 'json', 'csv']),
    )
    .option('--timestamp-field <name>', 'the field with the time (default _time)')
    .option('--timestamp-format <layout>', 'a Go layout such as "2/Jan/2006:15:04:05 -0700", or rfc3339, unix, unixms, unixus, unixnano')
    .option('--labels <labels>', 'added to every event: team=core,env=prod or a JSON object')
    .option('--csv-delimiter <text>', 'between the values of CSV (default a comma; \\t for tabs)')
    .option('--csv-fields <names>', 'the columns of CSV whose first line is an event already')
    .addOption(new Option('--compression <encoding>', 'of the requests').choices(['gzip', 'zstd', 'none']).default('gzip'))
    .option('--create-dataset', 'creates the dataset if it is missing')
    .action(async (dataset: string, files: string[], options: IngestArguments) =>
      exit((await import('./ingest.ts')).ingest(dataset, files, options)),
    );
}

function addQuery(program: Command, exit: Exit): void {
  connected(program.command('query').description('asks for events or summaries: in APL, or with --dataset in JSON'))
    .addArgument(new Argument('[text]', 'the query; - or none reads it from stdin'))
    .option('-d, --dataset <name>', 'the text is a structured query of this dataset, as JSON')
    .option('--file <path>', 'holds the text')
    .option(
      '-s, --start <time>',
      '1h (an hour ago), 03:12, yesterday, 2026-11-25 03:12 (in the zone of this machine), RFC 3339 or now-1h (default: the beginning)',
    )
    .option('-e, --end <time>', 'the same, 03:12 being the first one behind the start (default: now); it is not in the range')
    .addOption(
      new Option(
        '-o, --output <form>',
        'json: the replies as they are, one a page (default: on a terminal lines for events, else table)',
      ).choices(['table', 'json', 'ndjson', 'csv', 'lines']),
    )
    .option('-n, --limit <rows>', 'follows pages up to so many rows', positive)
    .option('-a, --all', 'follows pages to the end')
    .option('-f, --follow', 'goes on with events as they are stored, until Ctrl-C; --limit ends it after so many')
    .option('--series', 'with --dataset: the groups of each time, instead of the totals')
    .option('--no-cache', 'asks the service to compute the result anew')
    .allowExcessArguments()
    .action(async (text: string | undefined, options: QueryArguments, { args }: Command) =>
      exit((await import('./query.ts')).query(text, options, args.length)),
    );
}

function addAccount(program: Command, exit: Exit): void {
  const load = () => import('./account.ts');
  const whoami = connected(program.command('whoami').description('the user of the token'));
  whoami.action(async (options: ConnectionArguments) => exit((await load()).whoami(options)));
  const users = connected(program.command('users').description('the users of the organisation'));
  users.action(async (options: ConnectionArguments) => exit((await load()).listUsers(options)));
  const orgs = connected(program.command('orgs').description('the organisations of the user, with plan and limits'));
  orgs.action(async (options: ConnectionArguments) => exit((await load()).listOrgs(options)));
}

function addTokens(program: Command, exit: Exit): void {
  const tokens = program
    .command('tokens')
    .summary('the tokens of a service: create, list, revoke')
    .description(
      'the tokens of a service: create, list, revoke; each wants a personal token of an owner or admin, an API token that may manage tokens, or --data',
    );
  const load = () => import('./tokens.ts');
  const offline = ['--data <dir>', 'the data folder of a local service that is stopped: no token is needed then'] as const;
  connected(tokens.command('list').description('every token, without its text'))
    .option(...offline)
    .action(async (options: TokenArguments) => exit((await load()).listTokens(options)));
  connected(
    tokens
      .command('create')
      .summary('makes a token and prints it, once')
      .description(
        'makes a token and prints it, once; give it at least one right (--ingest, --query, --trim, --manage-datasets, --manage-tokens) or --personal, such as: tailrace tokens create web-1 --ingest web',
      )
      .argument('<name>', 'what it is for'),
  )
    .option('--ingest <dataset...>', 'may store events in these ("*": in all)')
    .option('--query <dataset...>', 'may query these')
    .option('--trim <dataset...>', 'may trim these')
    .option('--manage-datasets', 'may list, make, change and delete datasets')
    .option('--manage-tokens', 'may make and revoke API tokens')
    .option('--personal', 'a personal token, with the rights of its user')
    .option('--user <id>', 'with --personal: id or e-mail address of its user (default: your own)')
    .option('--expires <when>', 'after 90d, or at a time in RFC 3339 (default: never)')
    .option('-d, --description <text>', 'shown in the list')
    .option(...offline)
    .action(async (name: string, options: TokenArguments) => exit((await load()).createToken(name, options)));
  connected(tokens.command('revoke').description('makes a token unknown').argument('<id>', 'its id, or a name that only one has'))
    .option('-y, --yes', 'without asking, which is done on a terminal only')
    .option(...offline)
    .action(async (id: string, options: TokenArguments) => exit((await load()).revokeToken(id, options)));
}

/** The options that say which service is meant, and as whom. */
function connected(command: Command): Command {
  return command
    .option('--url <address>', 'of the service (default TAILRACE_URL, then http://127.0.0.1:4100)')
    .option('--token <token>', 'API or personal token (default TAILRACE_TOKEN)')
    .option('--token-file <path>', 'a file with the token, which no process list shows')
    .option('--org-id <id>', 'of the organisation, with a personal token (default TAILRACE_ORG_ID, then the only one that its user has)')
    .option('--edge-domain <domain>', 'takes ingest and queries in place of the address (default TAILRACE_EDGE_DOMAIN)')
    .option('--header-prefix <prefix>', 'of the service’s headers (default TAILRACE_HEADER_PREFIX, then X-Service-)')
    .option('--timeout <duration>', 'of one request (default 60s)')
    .option('--ca <file>', 'certificate authority of the service, PEM')
    .option('--cert <file>', 'client certificate, PEM')
    .option('--key <file>', 'key of the client certificate, PEM')
    .option('--json', 'JSON instead of text: one object a line');
}

function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('wanted a whole number from 1');
  return value;
}
