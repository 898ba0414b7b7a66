/** The options of every command: the command line, its help and the types of the commands' arguments come from these rows. */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Flags, what they do, and the values that they take or what reads one. */
type OptionRow = readonly [
  flags: string,
  does: string,
  takes?: readonly string[] | ((text: string, before: never) => unknown) | typeof REQUIRED,
  unasked?: string,
];

const REQUIRED = Symbol('required');

/** One configuration is in force: a second one would silently take the place of the first. */
function once(file: string, before: string | undefined): string {
  if (before !== undefined)
    throw new InvalidArgumentError(`it was given before, as "${before}", and a command takes one configuration.`);
  return file;
}

const CONFIG = [
  '-c, --config <file>',
  'configuration (default: TAILRACE_CONFIG, then tailrace.yaml here, then /etc/tailrace/tailrace.yaml)',
  once,
] as const;

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('wanted a whole number from 1.');
  return Number(text);
}

function rows(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('wanted a whole number from 1');
  return value;
}

/** Which service is meant, and as whom. */
const CONNECTION = [
  ['--url <address>', 'of the service (default TAILRACE_URL, then http://127.0.0.1:4100)'],
  ['--token <token>', 'API or personal token (default TAILRACE_TOKEN)'],
  ['--token-file <path>', 'a file with the token, which no process list shows'],
  [
    '--org-id <id>',
    'of the organisation, with a personal token (default TAILRACE_ORG_ID, then the only one that its user has)',
  ],
  ['--edge-domain <domain>', 'takes ingest and queries in place of the address (default TAILRACE_EDGE_DOMAIN)'],
  ['--header-prefix <prefix>', 'of the service’s headers (default TAILRACE_HEADER_PREFIX, then X-Service-)'],
  ['--timeout <duration>', 'of one request (default 60s)'],
  ['--ca <file>', 'certificate authority of the service, PEM'],
  ['--cert <file>', 'client certificate, PEM'],
  ['--key <file>', 'key of the client certificate, PEM'],
  ['--json', 'JSON instead of text: one object a line'],
] as const;
const DESCRIPTION = ['-d, --description <text>', 'what it is for'] as const;
const YES = ['-y, --yes', 'without asking, which is done on a terminal only'] as const;
const OFFLINE = [
  '--data <dir>',
  'the data folder of a local service that is stopped: no token is needed then',
] as const;

const OPTIONS = {
  run: [
    CONFIG,
    ['--once', 'read what exists now to its end, deliver it, exit; 1 if anything could not be delivered'],
    ['--watch-config', 'reload when a file of the configuration changed and passes check'],
    ['--log-level <level>', 'overrides telemetry.log_level', ['debug', 'info', 'warn', 'error']],
  ],
  check: [
    CONFIG,
    ['--json', 'problems as JSON'],
    ['--online', 'asks the services, too: address, token, datasets; stores nothing'],
  ],
  init: [
    ['--out <file>', 'the configuration to write (default ./tailrace.yaml)'],
    ['--yes', 'takes every suggestion instead of asking'],
    ['--url <url>', 'the address of the service (default http://127.0.0.1:4100)'],
    ['--dataset <name>', 'the dataset (default logs)'],
    ['--token-file <file>', 'a file that holds the token (default: the variable TAILRACE_TOKEN)'],
    ['--json', 'what was found and written as one JSON object; wants --yes'],
  ],
  preview: [
    CONFIG,
    [
      '--source <id>',
      'the source whose lines they are (default: the only one, or the one whose include has the files)',
    ],
    ['--preset <name>', 'a preset in place of a configuration, such as nginx-access'],
    ['--sink <id>', 'the sink that they would go to (default: the first one that the source feeds)'],
    ['--diff', 'each event before and after its transforms'],
    ['--stats', 'counts alone: how many lines each format and time took, failed on or dropped'],
    ['--json', 'NDJSON of {"input", "events": […]}; with --stats one object'],
  ],
  test: [CONFIG, ['--json', 'the results as one JSON object']],
  preset: [CONFIG, ['--json', 'as one JSON object']],
  tap: [
    CONFIG,
    ['--count <n>', 'ends after so many events (default 20)', positive],
    ['--seconds <n>', 'ends after so many seconds (default 10)', positive],
    ['--json', 'one JSON object an event: {"source", "before", "events": […]}'],
  ],
  serve: [
    ['--listen <address>', 'host:port (default 127.0.0.1:4100)'],
    ['--data <dir>', 'where it keeps its data (default ./tailrace-service)'],
    ['--engine <engine>', 'embedded, or clickhouse://user@host:8123,…/database?cluster=name (default embedded)'],
    [
      '--memory <size>',
      'what process and embedded engine may take together (default: half of the machine, at most 4GiB)',
    ],
    ['--allow-host <name>', 'a name that a proxy or another machine calls it by; may be repeated', collect],
    ['--cors <origin>', 'an origin whose pages may ask it, or *; may be repeated (default: none)', collect],
    ['--header-prefix <prefix>', 'of the org-ID, event-labels, CSV-fields and trace headers (default X-Service-)'],
    ['--sync', 'fsync what is stored before it is answered: a power cut then loses nothing'],
    ['--rate-limit <count>', 'requests a second; over it 429 (default: no limit)'],
    ['--monthly-quota <size>', 'what may be ingested in a calendar month; over it 430 (default: no limit)'],
    ['--query-timeout <duration>', 'what one query may take (default 10s)'],
    ['--query-memory <size>', 'what one query may use, at most half of --memory (default 1GiB)'],
    ['--max-body <size>', 'of an ingest request after decompression (default 10MiB)'],
    ['--max-fields <count>', 'fields of one dataset (default 1024)'],
    [
      '--accept-personal-tokens-for-ingest',
      'for programs that have one token: those of owners and admins may ingest, too',
    ],
    ['--access-log', 'one line of JSON on stderr for each request, with the id of its token'],
    ['--json', 'address and tokens as one JSON line'],
  ],
  'engine install': [
    ['--folder <dir>', 'where engines are kept (default: TAILRACE_ENGINE_FOLDER, then /var/lib/tailrace/engine)'],
    ['--registry <address>', 'of the packages (default: npm_config_registry, then https://registry.npmjs.org/)'],
    ['--json', 'the result as one JSON line'],
  ],
  migrate: [
    ['--data <dir>', 'the service’s data folder (default ./tailrace-service)'],
    ['--to <engine>', 'clickhouse://user@host:8123,…/database?cluster=name', REQUIRED],
    ['--sync', 'fsync what is stored'],
    ['--json', 'the result as one JSON line'],
  ],
  demo: [
    ['--keep', 'keeps data and configuration in ./tailrace-demo, and says how to go on with them'],
    ['--data <dir>', 'keeps them in this folder (default: a temporary one, removed at the end)'],
    ['--json', 'counts as JSON lines'],
  ],
  'dead-letters': [
    CONFIG,
    ['--json', 'one JSON object a line'],
    ['--all', 'drop all of them'],
    ['--sink <id>', 'replay through this sink of the configuration (default: the one that each was for)'],
  ],
  audit: [
    CONFIG,
    ['--json', 'as one JSON object'],
    ['--acknowledge', 'take the lost bytes that are shown for known: the next audit does not end with 1 for them'],
  ],
  buffer: [CONFIG, ['--json', 'one JSON object a file']],
  explain: [CONFIG, ['--json', 'one JSON object a source']],
  reload: [CONFIG, ['--json', 'as one JSON object']],
  status: [
    CONFIG,
    ['--json', 'as one JSON object'],
    ['--health', 'exit 1 only where the agent itself does not work: a service that is away is no reason to restart it'],
  ],
  top: [CONFIG],
  'datasets list': CONNECTION,
  'datasets get': CONNECTION,
  'datasets create': [...CONNECTION, DESCRIPTION],
  'datasets update': [...CONNECTION, DESCRIPTION],
  'datasets delete': [...CONNECTION, YES],
  'datasets trim': [...CONNECTION, ['--max-duration <age>', 'the same'], YES],
  ingest: [
    ...CONNECTION,
    ['-f, --format <format>', 'default: by the ending of the name, else by how it begins', ['ndjson', 'json', 'csv']],
    ['--timestamp-field <name>', 'the field with the time (default _time)'],
    [
      '--timestamp-format <layout>',
      'a Go layout such as "2/Jan/2006:15:04:05 -0700", or rfc3339, unix, unixms, unixus, unixnano',
    ],
    ['--labels <labels>', 'added to every event: team=core,env=prod or a JSON object'],
    ['--csv-delimiter <text>', 'between the values of CSV (default a comma; \\t for tabs)'],
    ['--csv-fields <names>', 'the columns of CSV whose first line is an event already'],
    ['--compression <encoding>', 'of the requests', ['gzip', 'zstd', 'none'], 'gzip'],
    ['--create-dataset', 'creates the dataset if it is missing'],
    ['--archive <dir>', 'stores the files of an archive sink, each in its dataset under the key of its batch'],
    [
      '--since <time>',
      'with --archive: from that hour on: 7d (ago), yesterday, 2026-11-25 03:12 or RFC 3339 (default: all)',
    ],
  ],
  query: [
    ...CONNECTION,
    ['-d, --dataset <name>', 'the text is a structured query of this dataset, as JSON'],
    ['--file <path>', 'holds the text'],
    [
      '-s, --start <time>',
      '1h (an hour ago), 03:12, yesterday, 2026-11-25 03:12 (in the zone of this machine), RFC 3339 or now-1h (default: the beginning)',
    ],
    ['-e, --end <time>', 'the same, 03:12 being the first one behind the start (default: now); it is not in the range'],
    [
      '-o, --output <form>',
      'json: the replies as they are, one a page (default: on a terminal lines for events, else table)',
      ['table', 'json', 'ndjson', 'csv', 'lines'],
    ],
    ['-n, --limit <rows>', 'follows pages up to so many rows', rows],
    ['-a, --all', 'follows pages to the end'],
    ['-f, --follow', 'goes on with events as they are stored, until Ctrl-C; --limit ends it after so many'],
    ['--series', 'with --dataset: the groups of each time, instead of the totals'],
    ['--no-cache', 'asks the service to compute the result anew'],
  ],
  whoami: CONNECTION,
  users: CONNECTION,
  orgs: CONNECTION,
  'tokens list': [...CONNECTION, OFFLINE],
  'tokens create': [
    ...CONNECTION,
    ['--ingest <dataset...>', 'may store events in these ("*": in all)'],
    ['--query <dataset...>', 'may query these'],
    ['--trim <dataset...>', 'may trim these'],
    ['--manage-datasets', 'may list, make, change and delete datasets'],
    ['--manage-tokens', 'may make and revoke API tokens'],
    ['--personal', 'a personal token, with the rights of its user'],
    ['--user <id>', 'with --personal: id or e-mail address of its user (default: your own)'],
    ['--expires <when>', 'after 90d, or at a time in RFC 3339 (default: never)'],
    ['-d, --description <text>', 'shown in the list'],
    OFFLINE,
  ],
  'tokens revoke': [...CONNECTION, YES, OFFLINE],
} as const satisfies Record<string, readonly OptionRow[]>;

/** `token-file` is the key `tokenFile`. */
type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;
type Long<Flags> = Flags extends `${string}--no-${infer Name}`
  ? Camel<Name>
  : Flags extends `${string}--${infer Name} ${string}`
    ? Camel<Name>
    : Flags extends `${string}--${infer Name}`
      ? Camel<Name>
      : never;
type Taken<Row extends OptionRow> = Row[0] extends `${string}...>`
  ? readonly string[]
  : Row[0] extends `${string}<${string}`
    ? Row[2] extends readonly (infer Choice)[]
      ? Choice
      : Row[2] extends (text: string, before: never) => infer Value
        ? Value
        : string
    : boolean;

export type CommandName = keyof typeof OPTIONS;

/** What a command is given of its options. */
export type ArgumentsOf<Name extends CommandName> = {
  readonly [Row in (typeof OPTIONS)[Name][number] as Long<Row[0]> & string]?: Taken<Row>;
};

/** Gives the command its options. */
export function addOptions(command: Command, name: CommandName): Command {
  const options: readonly OptionRow[] = OPTIONS[name];
  for (const [flags, does, takes, unasked] of options) {
    const option = new Option(flags, does);
    if (takes === REQUIRED) option.makeOptionMandatory();
    else if (typeof takes === 'function') option.argParser(takes as (text: string) => unknown);
    else if (takes !== undefined) option.choices(takes);
    command.addOption(unasked === undefined ? option : option.default(unasked));
  }
  return command;
}
