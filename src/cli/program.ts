/** The command line's table: every command with its arguments, options and help. Each command is loaded only when it is the one asked for. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { printableLines } from '../config/quote.ts';
import { UsageError } from '../core/errors.ts';
import { version } from '../core/version.ts';
import type { CheckArguments } from './check/check.ts';
import type { ConfigArguments } from './agent/config-arguments.ts';
import type { AuditArguments } from './audit/audit.ts';
import type { DeadLettersArguments } from './dead-letters.ts';
import type { DemoArguments } from './demo/demo.ts';
import type { EngineInstallArguments } from './engine/engine-install.ts';
import { pointToHelp } from './help.ts';
import type { InitArguments } from './init/init.ts';
import type { MigrateArgs } from './migrate.ts';
import type { PreviewArguments } from './preview/preview.ts';
import type { RunArguments } from './agent/run.ts';
import type { ServeArgs } from './serve/serve.ts';
import type { StatusArguments } from './agent/status.ts';
import type { TapArguments } from './agent/tap.ts';
import type { TopArguments } from './top/top.ts';

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
/** Also the hints of lines of their own. */
const asOurs = (error: string): string => printableLines(error.replace(/^error: /, 'tailrace: '));

type Exit = (code: Promise<number>) => Promise<void>;

/** `exitWith` is given what the command resolves with: the exit code. `only` leaves out commands that cannot be meant, which saves loading them. */
export async function createProgram(exitWith: Exit, only?: 'run'): Promise<Command> {
  const program = new Command('tailrace')
    .description('Ships logs to a Dataset Ingestion and Query Service, and loses nothing. `tailrace serve` is such a service.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(asOurs(text)) });

  program
    .command('run')
    .description('the agent, in the foreground, until SIGTERM or SIGINT')
    .addOption(configOption())
    .option('--once', 'read what exists now to its end, deliver it, exit; 1 if anything could not be delivered')
    .addOption(new Option('--log-level <level>', 'overrides telemetry.log_level').choices(['debug', 'info', 'warn', 'error']))
    .action(async (options: RunArguments) => exitWith((await import('./agent/run.ts')).run(options)));

  program
    .command('check')
    .description('validates the configuration: every problem at once, with its place and what to do')
    .addOption(configOption())
    .option('--json', 'problems as JSON')
    .option('--online', 'asks the services, too: address, token, datasets; stores nothing')
    .allowExcessArguments()
    .action(async (options: CheckArguments, command: Command) => {
      const [file] = command.args;
      if (file !== undefined) throw new UsageError('E_USAGE', 'check takes no arguments', { fix: `write --config ${file}` });
      return exitWith((await import('./check/check.ts')).check(options));
    });

  program
    .command('init')
    .description('looks at real logs and writes a commented configuration for them; never over an existing file')
    .argument('[path...]', 'log files, or folders that are searched (default: open files of running programs, /var/log, /opt, /srv)')
    .option('--out <file>', 'the configuration to write (default ./tailrace.yaml)')
    .option('--yes', 'takes every suggestion instead of asking')
    .option('--url <url>', 'the address of the service (default http://127.0.0.1:4100)')
    .option('--dataset <name>', 'the dataset (default logs)')
    .option('--token-file <file>', 'a file that holds the token (default: the variable TAILRACE_TOKEN)')
    .option('--json', 'what was found and written as one JSON object; wants --yes')
    .action(async (paths: string[], options: InitArguments) => exitWith((await import('./init/init.ts')).init(paths, options)));

  program
    .command('preview')
    .description('lines as the events they would become; sends nothing and moves no checkpoint')
    .argument('[file...]', 'log files; - or none is standard input')
    .addOption(configOption())
    .option('--source <id>', 'the source whose lines they are (default: the only one, or the one whose include has the files)')
    .option('--preset <name>', 'a preset in place of a configuration, such as nginx-access')
    .option('--sink <id>', 'the sink that they would go to (default: the first one that the source feeds)')
    .option('--diff', 'each event before and after its transforms')
    .option('--stats', 'counts alone: how many lines each format and time took, failed on or dropped')
    .option('--json', 'NDJSON of {"input", "events": […]}; with --stats one object')
    .action(async (files: string[], options: PreviewArguments) => exitWith((await import('./preview/preview.ts')).preview(files, options)));

  program
    .command('test')
    .description('runs the tests of the configuration: lines, and the events that they become; 1 when one fails')
    .addOption(configOption())
    .option('--json', 'the results as one JSON object')
    .action(async (options: ConfigArguments) => exitWith((await import('./test.ts')).test(options)));

  withActions(program.command('preset'), 'list, show or try')
    .description('the presets: which there are, what one sets and its fields, and which fit a file, with the share of its lines')
    .argument('[name]', 'show: a preset; try: a log file')
    .addOption(configOption())
    .option('--json', 'as one JSON object')
    .action(async (action: string, name: string | undefined, options: ConfigArguments) =>
      exitWith((await import('./preset.ts')).preset(action, name, options)),
    );

  program
    .command('tap')
    .description('a bounded sample of the events that a running agent takes, before and after their transforms')
    .argument('[source]', 'a source (default: every one)')
    .addOption(configOption())
    .addOption(new Option('--count <n>', 'ends after so many events (default 20)').argParser(positive))
    .addOption(new Option('--seconds <n>', 'ends after so many seconds (default 10)').argParser(positive))
    .option('--json', 'one JSON object an event: {"source", "before", "events": […]}')
    .action(async (source: string | undefined, options: TapArguments) => exitWith((await import('./agent/tap.ts')).tap(source, options)));

  program
    .command('serve')
    .description('the local service: datasets, ingest and queries, on an embedded engine or a ClickHouse cluster')
    .option('--listen <address>', 'host:port (default 127.0.0.1:4100)')
    .option('--data <dir>', 'where it keeps its data (default ./tailrace-service)')
    .option('--engine <engine>', 'embedded, or clickhouse://user@host:8123,…/database?cluster=name (default embedded)')
    .option('--memory <size>', 'what process and embedded engine may take together (default: half of the machine, at most 4GiB)')
    .option('--allow-host <name>', 'a name that a proxy or another machine calls it by; may be repeated', collect)
    .option('--cors <origin>', 'an origin whose pages may ask it, or *; may be repeated (default: none)', collect)
    .option('--header-prefix <prefix>', 'of the org-ID, event-labels, CSV-fields and trace headers (default X-Service-)')
    .option('--sync', 'fsync what is stored before it is answered: a power cut then loses nothing')
    .option('--rate-limit <count>', 'requests a second; over it 429 (default: no limit)')
    .option('--monthly-quota <size>', 'what may be ingested in a calendar month; over it 430 (default: no limit)')
    .option('--query-timeout <duration>', 'what one query may take (default 10s)')
    .option('--query-memory <size>', 'what one query may use, at most half of --memory (default 1GiB)')
    .option('--max-body <size>', 'of an ingest request after decompression (default 10MiB)')
    .option('--max-fields <count>', 'fields of one dataset (default 1024)')
    .option('--accept-personal-tokens-for-ingest', 'for programs that have one token: those of owners and admins may ingest, too')
    .option('--access-log', 'one line of JSON on stderr for each request, with the id of its token')
    .option('--json', 'address and tokens as one JSON line')
    .action(async (options: ServeArgs) => exitWith((await import('./serve/serve.ts')).serve(options)));

  program
    .command('engine')
    .description('the embedded engine of the service, for a program that came without it')
    .command('install')
    .description('fetches it from the npm registry, checks it, and puts it where `serve` finds it')
    .option('--folder <dir>', 'where engines are kept (default: TAILRACE_ENGINE_FOLDER, then /var/lib/tailrace/engine)')
    .option('--registry <address>', 'of the packages (default: npm_config_registry, then https://registry.npmjs.org/)')
    .option('--json', 'the result as one JSON line')
    .action(async (options: EngineInstallArguments) => exitWith((await import('./engine/engine-install.ts')).engineInstall(options)));

  program
    .command('migrate')
    .description('moves a service’s events from the embedded engine to a ClickHouse server or cluster')
    .option('--data <dir>', 'the service’s data folder (default ./tailrace-service)')
    .requiredOption('--to <engine>', 'clickhouse://user@host:8123,…/database?cluster=name')
    .option('--sync', 'fsync what is stored')
    .option('--json', 'the result as one JSON line')
    .action(async (options: MigrateArgs) => exitWith((await import('./migrate.ts')).migrate(options)));

  program
    .command('demo')
    .description('ships this machine’s logs, and a sample app’s, into a local service, and shows them arrive')
    .option('--keep', 'keeps data and configuration in ./tailrace-demo, and says how to go on with them')
    .option('--data <dir>', 'keeps them in this folder (default: a temporary one, removed at the end)')
    .option('--json', 'counts as JSON lines')
    .action(async (options: DemoArguments) => exitWith((await import('./demo/demo.ts')).demo(options)));

  withActions(program.command('dead-letters'), 'list, show, replay or drop')
    .description('what the service refused: list, show, replay or drop it')
    .argument('[id...]', 'dead letters, as list shows them: list and replay take all without one, drop only with --all, show wants one')
    .addOption(configOption())
    .option('--json', 'one JSON object a line')
    .option('--all', 'drop all of them')
    .option('--sink <id>', 'replay through this sink of the configuration (default: the one that each was for)')
    .action(async (action: string, ids: string[], options: DeadLettersArguments) =>
      exitWith((await import('./dead-letters.ts')).deadLetters(action, ids, options)),
    );

  program
    .command('audit')
    .description('proof of delivery: where every byte of every file is; 1 when not every one is accounted for')
    .addOption(configOption())
    .option('--json', 'as one JSON object')
    .option('--acknowledge', 'take the lost bytes that are shown for known: the next audit does not end with 1 for them')
    .action(async (options: AuditArguments) => exitWith((await import('./audit/audit.ts')).audit(options)));

  withActions(program.command('buffer'), 'verify, export or repair')
    .description('the disk buffer: verify its files, export its events, or set broken files aside')
    .addOption(configOption())
    .option('--json', 'one JSON object a file')
    .action(async (action: string, options: ConfigArguments) =>
      exitWith(Promise.resolve((await import('./buffer.ts')).buffer(action, options))),
    );

  program
    .command('explain')
    .description('why a file is or is not read, at which offset, how far behind: as the running agent says, or one that starts would do')
    .argument('<path>', 'a log file')
    .addOption(configOption())
    .option('--json', 'one JSON object a source')
    .action(async (path: string, options: ConfigArguments) => exitWith((await import('./agent/explain.ts')).explain(path, options)));

  program
    .command('reload')
    .description('has the running agent take its changed configuration into force, waits, and says what changed; 2 when it has problems')
    .addOption(configOption())
    .option('--json', 'as one JSON object')
    .action(async (options: ConfigArguments) => exitWith((await import('./agent/reload.ts')).reload(options)));

  program
    .command('status')
    .description('the running agent on one screen; exit 1 while a sink does not deliver or no agent runs')
    .addOption(configOption())
    .option('--json', 'as one JSON object')
    .option('--health', 'exit 1 only where the agent itself does not work: a service that is away is no reason to restart it')
    .action(async (options: StatusArguments) => exitWith((await import('./agent/status.ts')).status(options)));

  program
    .command('top')
    .description('the running agent, live in a terminal; q or Ctrl-C ends it')
    .addOption(configOption())
    .action(async (options: TopArguments) => exitWith((await import('./top/top.ts')).top(options)));

  // The agent need not load the client's commands.
  if (only !== 'run') (await import('./client/commands.ts')).addClientCommands(program, exitWith);
  program
    .command('version')
    .description('the version, as --version prints it')
    .action(() => void process.stdout.write(`${version}\n`));
  pointToHelp(program);
  return program;
}

/** Where the action is missing, the error names all of them. */
function withActions(command: Command, actions: string): Command {
  const named = (error: string): string => error.replace("'action'", `'action': ${actions}`);
  return command.argument('<action>', actions).configureOutput({ outputError: (text, write) => write(asOurs(named(text))) });
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('wanted a whole number from 1.');
  return Number(text);
}

/** One configuration is in force: a second one would silently take the place of the first. */
function configOption(): Option {
  return new Option(
    '-c, --config <file>',
    'configuration (default: TAILRACE_CONFIG, then tailrace.yaml here, then /etc/tailrace/tailrace.yaml)',
  ).argParser((file, before: string | undefined) => {
    if (before !== undefined) throw new InvalidArgumentError(`it was given before, as "${before}", and a command takes one configuration.`);
    return file;
  });
}
