/** The import rules of src as tables. A room is a folder under src; see ARCHITECTURE.md for what each is for. */

const base = ['core', 'json', 'config', 'kernel', 'telemetry', 'state'];

/** From a file to a checked configuration, by the tables that the registries bring; what these tables are made of is `config` itself. */
const loading = ['config/load', 'config/tables', 'config/rules'];
const mayLoad = ['core', 'config', 'sinks', 'sources', ...loading];

/** Which rooms a room may import, besides itself. A folder that is named here is a room of its own. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  json: ['core'],
  // The model has the sources of the registry.
  config: ['core', 'sources'],
  ...Object.fromEntries(loading.map((folder) => [folder, mayLoad])),
  kernel: ['core'],
  // Serves the built pages; the pages themselves run in browsers and take types alone, but for `runsInBrowsers`.
  web: ['core'],
  pages: ['core', 'telemetry', 'language', 'client'],
  telemetry: ['core', 'config', 'web'],
  state: ['core'],
  language: ['core', 'config'],
  parsers: base,
  sources: [...base, 'parsers'],
  batcher: base,
  sinks: [...base, 'client'],
  client: base,
  agent: [...base, ...loading, 'parsers', 'sources', 'shaping', 'batcher', 'sinks', 'client'],
  shaping: [...base, 'language'],
  // The service judges the agent, so it knows nothing of the agent's rooms.
  service: ['core', 'json', 'config', 'language', 'web'],
  cli: [...base, ...loading, 'language', 'sources', 'batcher', 'sinks', 'agent', 'client', 'service'],
  main: ['core', 'config', 'cli', 'shaping'],
};

/** Files of the functions' folders that count to a room other than `language`: as if they lay there. */
const BACK_ENDS: readonly (readonly [file: RegExp, room: string])[] = [
  [/^src\/language\/functions\/([^/]+\/(?:[\w-]+-)?sql\.ts)$/, 'src/service/functions/$1'],
  [/^src\/language\/functions\/([^/]+\/rows\.ts)$/, 'src/shaping/functions/$1'],
];

/** The path by which a file's imports, packages and clocks are judged. */
export const homeOf = (file: string): string =>
  BACK_ENDS.reduce((path, [wanted, home]) => path.replace(wanted, home), file);

/** What the pages may import more of than types: pure code, which runs in a browser as it is. */
export const runsInBrowsers: readonly string[] = [
  'src/core/follow-window.ts',
  'src/core/time/time-text.ts',
  'src/core/text/event-line.ts',
  'src/telemetry/rates.ts',
  'src/telemetry/stats.ts',
  'src/language/',
];

/** The files, or folders (with a slash), through which a third-party package enters src. */
export const packageDoors: Readonly<Record<string, readonly string[]>> = {
  '@clickhouse/client': ['src/service/engine/'],
  chdb: ['src/service/engine/'],
  chokidar: ['src/cli/agent/watch-config.ts'],
  commander: ['src/main.ts', 'src/cli/'],
  'csv-parse': ['src/service/', 'src/parsers/'],
  fastify: ['src/service/'],
  'iconv-lite': ['src/parsers/text/charset.ts'],
  'p-queue': ['src/service/engine/'],
  picomatch: ['src/sources/file/'],
  'pino-pretty': ['src/telemetry/log.ts'],
  preact: ['src/pages/'],
  'prom-client': ['src/telemetry/', 'src/service/http/metrics.ts'],
  re2js: ['src/parsers/text/pattern.ts', 'src/shaping/rows/call/regex.ts'],
  undici: ['src/sinks/ingest/', 'src/client/', 'src/cli/engine/'],
  uplot: ['src/pages/parts/'],
  yaml: ['src/config/'],
  zod: ['src/config/', 'src/service/'],
};

/** Folders that only decide on plain data, and the files from which they may import more than types: none that reaches a file system. */
export const deciders: Readonly<Record<string, readonly string[]>> = {
  'src/sources/file/decide/': ['src/sources/file/known/tracked-file.ts'],
};

/** The one file that imports the limits of every room, to assert how they relate. */
export const relatesLimits = 'src/cli/limit-relations.ts';

/** Under src, a folder holds at most this many files. */
export const maxFilesInFolder = 15;
/** Under src, a file has at most this many lines: the text of 300 lines when they had 140 characters. */
export const maxLinesInFile = 350;
/** A class or interface with more fields that change is several things. */
export const maxMutableFields = 15;

/**
 * Who asks the system for the time, waits by it or draws numbers at random, and why. Everything else takes a Clock or a `random`, so that
 * tests step instead of sleeping. A folder ends with a slash.
 */
export const clockUsers: Readonly<Record<string, string>> = {
  'src/core/time/clock.ts': 'the clock itself',
  'src/main.ts': 'ends a process whose command has ended',
  'src/cli/': 'commands run in front of a person and in real time',
  'src/pages/': 'pages run in browsers',
  'src/client/': 'retry.ts has its own seam, Timing; a stream is flushed when its writer pauses',
  'src/service/': 'serves other processes in real time; its tests ask over HTTP',
  'src/agent/control/': 'deadlines of sockets to other processes',
  'src/agent/service-manager/report.ts': 'the watchdog of systemd wants signs of life in real time',
  'src/agent/running-agent.ts': 'saves once a second in real time',
  'src/shaping/script/': 'deadlines of another process, which has its own time',
  'src/shaping/pipeline/pipeline-stage.ts': 'the function rand() of pipelines',
  'src/sinks/ingest/': 'deadlines and ages of sockets',
  'src/sources/syslog/receive/': 'deadlines of sockets',
  'src/sources/syslog/intake/collector.ts': 'hands over few events after 5 ms, which no test waits for',
  'src/sources/native/inotify.ts': 'spaces reads of the system by real time',
  'src/sources/file/scan/file-system.ts': 'reads of a slow disk go to the thread pool',
  'src/sources/file/polling.ts': 'lets others run after some milliseconds of work',
  'src/state/database/': 'dates in rows and file names, which nothing depends on',
  'src/telemetry/': 'samples and cached replies in real time; tests give server.ts a `now`',
  'src/kernel/times/zone-table.ts': 'how far into the future a table of offsets reaches',
};

/** Files whose rows are data, one a line: only these may keep the formatter off them with `prettier-ignore`. `*` is one folder. */
export const dataTables: readonly string[] = [
  'src/language/functions/*/spec.ts',
  'test/language/functions/*.ts',
  'src/config/presets/rows.ts',
  'src/core/time/abbreviations.ts',
  'src/core/time/forms.ts',
  'src/sources/file/decide/table.ts',
  'src/sources/syslog/message/header-forms.ts',
  'test/cli/init-kinds.test.ts',
  'test/hostile/texts.ts',
  'test/kernel/lines.ts',
  'test/kernel/times.ts',
  'test/pages/explorer-completion.test.ts',
  'test/service/conformance/query-answers.ts',
  'test/service/conformance/query-results.ts',
  'test/service/conformance/query-tables.ts',
  'test/service/differential/functions.ts',
  'test/service/apl-queries.ts',
  'test/service/hostile/query-texts.ts',
  'test/service/memory-queries.test.ts',
  'test/service/query-hostile.test.ts',
  'test/shaping/cut/cut-objects.test.ts',
];
