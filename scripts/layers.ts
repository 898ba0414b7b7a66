/** The import rules of src as tables. A room is a folder under src; see ARCHITECTURE.md for what each is for. */

const base = ['core', 'config', 'kernel', 'telemetry', 'state'];

/** Which rooms a room may import, besides itself. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: ['core'],
  kernel: ['core'],
  // Serves the built pages; the pages themselves run in browsers and take types alone, but for `runsInBrowsers`.
  web: ['core'],
  pages: ['core', 'telemetry', 'language'],
  telemetry: ['core', 'config', 'web'],
  state: ['core'],
  language: ['core', 'config'],
  parsers: base,
  sources: [...base, 'parsers'],
  batcher: base,
  sinks: [...base, 'client'],
  client: base,
  agent: [...base, 'parsers', 'sources', 'shaping', 'batcher', 'sinks', 'client'],
  shaping: [...base, 'language'],
  // The service judges the agent, so it knows nothing of the agent's rooms.
  service: ['core', 'config', 'language', 'web'],
  cli: [...base, 'language', 'sources', 'batcher', 'agent', 'client', 'service'],
  main: ['core', 'config', 'cli', 'shaping'],
};

/** What the pages may import more of than types: pure code, which runs in a browser as it is. */
export const runsInBrowsers: readonly string[] = ['src/core/follow-window.ts', 'src/telemetry/rates.ts', 'src/language/'];

/** The files, or folders (with a slash), through which a third-party package enters src. */
export const packageDoors: Readonly<Record<string, readonly string[]>> = {
  '@clickhouse/client': ['src/service/engine/'],
  chdb: ['src/service/engine/'],
  commander: ['src/main.ts', 'src/cli/'],
  'csv-parse': ['src/service/', 'src/parsers/'],
  fastify: ['src/service/'],
  'iconv-lite': ['src/parsers/charset.ts'],
  'p-queue': ['src/batcher/', 'src/service/engine/'],
  picomatch: ['src/sources/file/'],
  pino: ['src/telemetry/log.ts'],
  'pino-pretty': ['src/telemetry/log.ts'],
  preact: ['src/pages/'],
  'prom-client': ['src/telemetry/', 'src/service/http/metrics.ts'],
  re2js: ['src/parsers/pattern.ts', 'src/shaping/rows/regex.ts'],
  undici: ['src/sinks/ingest/', 'src/client/', 'src/cli/engine/'],
  uplot: ['src/pages/parts/'],
  yaml: ['src/config/'],
  zod: ['src/config/', 'src/service/'],
};
