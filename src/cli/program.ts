/** The command line's table: every command with its arguments, options and help. Each command is loaded only when it is the one asked for. */
import { usageError } from './output/say.ts';
import { Command } from 'commander';
import { printableLines } from '../config/quote.ts';
import { version } from '../core/version.ts';
import { addOptions, type ArgumentsOf, type CommandName } from './options/command-options.ts';
import type { ConfigArguments } from './agent/config-arguments.ts';
import { pointToHelp } from './help.ts';
import type { MigrateArguments } from './migrate.ts';

/** Also the hints of lines of their own. */
const asOurs = (error: string): string => printableLines(error.replace(/^error: /, 'tailrace: '));

type Exit = (code: Promise<number>) => Promise<void>;

/** `exitWith` is given what the command resolves with: the exit code. `only` leaves out commands that cannot be meant, which saves loading them. */
export async function createProgram(exitWith: Exit, only?: 'run'): Promise<Command> {
  const program = new Command('tailrace')
    .description(
      'Ships logs to a Dataset Ingestion and Query Service, and loses nothing. `tailrace serve` is such a service.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(asOurs(text)) });
  const command = (name: CommandName, does: string, under = program): Command =>
    addOptions(under.command(name.split(' ').at(-1)!).description(does), name);

  command('run', 'the agent, in the foreground, until SIGTERM or SIGINT').action(async (options: ArgumentsOf<'run'>) =>
    exitWith((await import('./agent/run.ts')).run(options)),
  );
  command('check', 'validates the configuration: every problem at once, with its place and what to do')
    .allowExcessArguments()
    .action(async (options: ArgumentsOf<'check'>, command: Command) => {
      const [file] = command.args;
      if (file !== undefined) throw usageError('check takes no arguments', `write --config ${file}`);
      return exitWith((await import('./check/check.ts')).check(options));
    });
  command('init', 'looks at real logs and writes a commented configuration for them; never over an existing file')
    .argument(
      '[path...]',
      'log files, or folders that are searched (default: open files of running programs, /var/log, /opt, /srv)',
    )
    .action(async (paths: string[], options: ArgumentsOf<'init'>) =>
      exitWith((await import('./init/init.ts')).init(paths, options)),
    );
  command('preview', 'lines as the events they would become; sends nothing and moves no checkpoint')
    .argument('[file...]', 'log files; - or none is standard input')
    .action(async (files: string[], options: ArgumentsOf<'preview'>) =>
      exitWith((await import('./preview/preview.ts')).preview(files, options)),
    );
  command(
    'test',
    'runs the tests of the configuration: lines, and the events that they become; 1 when one fails',
  ).action(async (options: ConfigArguments) => exitWith((await import('./test.ts')).test(options)));
  withActions(
    command(
      'preset',
      'the presets: which there are, what one sets and its fields, and which fit a file, with the share of its lines',
    ),
    'list, show or try',
  )
    .argument('[name]', 'show: a preset; try: a log file')
    .action(async (action: string, name: string | undefined, options: ConfigArguments) =>
      exitWith((await import('./preset.ts')).preset(action, name, options)),
    );
  command('tap', 'a bounded sample of the events that a running agent takes, before and after their transforms')
    .argument('[source]', 'a source (default: every one)')
    .action(async (source: string | undefined, options: ArgumentsOf<'tap'>) =>
      exitWith((await import('./agent/tap.ts')).tap(source, options)),
    );
  command(
    'serve',
    'the local service: datasets, ingest and queries, on an embedded engine or a ClickHouse cluster',
  ).action(async (options: ArgumentsOf<'serve'>) => exitWith((await import('./serve/serve.ts')).serve(options)));

  const engine = program
    .command('engine')
    .description('the embedded engine of the service, for a program that came without it');
  command(
    'engine install',
    'fetches it from the npm registry, checks it, and puts it where `serve` finds it',
    engine,
  ).action(async (options: ArgumentsOf<'engine install'>) =>
    exitWith((await import('./engine/engine-install.ts')).engineInstall(options)),
  );
  command('migrate', 'moves a service’s events from the embedded engine to a ClickHouse server or cluster').action(
    async (options: MigrateArguments) => exitWith((await import('./migrate.ts')).migrate(options)),
  );
  command('demo', 'ships this machine’s logs, and a sample app’s, into a local service, and shows them arrive').action(
    async (options: ArgumentsOf<'demo'>) => exitWith((await import('./demo/demo.ts')).demo(options)),
  );
  withActions(
    command('dead-letters', 'what the service refused: list, show, replay or drop it'),
    'list, show, replay or drop',
  )
    .argument(
      '[id...]',
      'dead letters, as list shows them: list and replay take all without one, drop only with --all, show wants one',
    )
    .action(async (action: string, ids: string[], options: ArgumentsOf<'dead-letters'>) =>
      exitWith((await import('./dead-letters.ts')).deadLetters(action, ids, options)),
    );
  command(
    'audit',
    'proof of delivery: where every byte of every file is; 1 when not every one is accounted for',
  ).action(async (options: ArgumentsOf<'audit'>) => exitWith((await import('./audit/audit.ts')).audit(options)));
  withActions(
    command('buffer', 'the disk buffer: verify its files, export its events, or set broken files aside'),
    'verify, export or repair',
  ).action(async (action: string, options: ConfigArguments) =>
    exitWith(Promise.resolve((await import('./buffer.ts')).buffer(action, options))),
  );
  command(
    'explain',
    'why a file is or is not read, at which offset, how far behind: as the running agent says, or one that starts would do',
  )
    .argument('<path>', 'a log file')
    .action(async (path: string, options: ConfigArguments) =>
      exitWith((await import('./agent/explain.ts')).explain(path, options)),
    );
  command(
    'reload',
    'has the running agent take its changed configuration into force, waits, and says what changed; 2 when it has problems',
  ).action(async (options: ConfigArguments) => exitWith((await import('./agent/reload.ts')).reload(options)));
  command('status', 'the running agent on one screen; exit 1 while a sink does not deliver or no agent runs').action(
    async (options: ArgumentsOf<'status'>) => exitWith((await import('./agent/status.ts')).status(options)),
  );
  command('top', 'the running agent, live in a terminal; q or Ctrl-C ends it').action(
    async (options: ArgumentsOf<'top'>) => exitWith((await import('./top/top.ts')).top(options)),
  );

  // The agent need not load the client's commands.
  if (only !== 'run') (await import('./client/commands.ts')).addClientCommands(program, command, exitWith);
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
  return command
    .argument('<action>', actions)
    .configureOutput({ outputError: (text, write) => write(asOurs(named(text))) });
}
