/**
 * The program in dist/, so that it starts with little: `main.cjs` loads `start-….cjs`, one file of all that an agent needs to run, with
 * the code that V8 made of it at the build (`start-….cache`); imports that are lazy in the sources are files of their own beside it.
 *
 * CommonJS, because loading ES modules takes 1 MB and some milliseconds more, and V8 takes cached code only with a script. ASCII, because
 * one wider character makes V8 keep two bytes for each. The cache is of one version of Node: another compiles what it runs, as without it.
 */
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { transform } from 'esbuild';
import { rolldown } from 'rolldown';
import { readVersion } from './bundle.ts';

/** What every agent of files loads, with all that these import. */
const STARTED =
  /\/src\/(?:main|cli\/program|cli\/agent\/run|sources\/file\/source|sources\/framing\/line-shaping)\.ts$/;

/** V8 checks only the length of the source, so both file names carry the hash of the source. */
const loader = (name: string): string => `'use strict';
const { Script, constants } = require('node:vm');
const { readFileSync } = require('node:fs');
const filename = __dirname + '/${name}.cjs';
let cachedData;
try {
  cachedData = readFileSync(__dirname + '/${name}.cache');
} catch {}
const options = { filename, cachedData, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
new Script(readFileSync(filename, 'latin1'), options).runInThisContext()(exports, require, module, filename, __dirname);
`;

export interface Program {
  /** A script whose value is a CommonJS module function. Lazy files require it as `./main.cjs`. */
  readonly start: string;
  /** The CommonJS text of each file that is loaded when needed, by name. */
  readonly lazy: ReadonlyMap<string, string>;
  /** The files that it is made of, from `root`. */
  readonly sources: readonly string[];
}

/** `external`: packages that are loaded where they are installed. */
export async function bundleProgram(root: string, external: readonly string[]): Promise<Program> {
  const bundle = await rolldown({
    cwd: root,
    input: { main: 'src/main.ts' },
    platform: 'node',
    external: [...external],
    transform: { define: { TAILRACE_VERSION: JSON.stringify(readVersion(root)) } },
    // A lazy import of what the start has anyway costs nothing.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    entryFileNames: 'main.cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: { groups: [{ name: 'start', test: STARTED }] },
  });
  await bundle.close();
  const chunks = output.filter((each) => each.type === 'chunk');
  const codes = new Map<string, string>();
  for (const { fileName, code } of chunks) {
    // Names stay, because errors, logs and profiles show them.
    const options = {
      charset: 'ascii',
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: 'none',
      target: 'node24',
    } as const;
    // Strict, as the modules were that it is made of.
    codes.set(fileName, `'use strict';${(await transform(code, options)).code}`);
  }
  const { 'main.cjs': main = '', ...lazy } = Object.fromEntries(codes);
  const sources = chunks.flatMap(({ moduleIds }) => moduleIds).map((id) => relative(root, id));
  return { start: asFunction(main), lazy: new Map(Object.entries(lazy)), sources };
}

export function asFunction(code: string): string {
  return `(function(exports,require,module,__filename,__dirname){${code}})`;
}

/** Writes the program and resolves with its files' names and sizes. */
export async function buildProgram(root: string, out: string): Promise<Map<string, number>> {
  const { start, lazy } = await bundleProgram(root, ['chdb', '@clickhouse/client']);
  const name = `start-${hash('sha256', start).slice(0, 8)}`;
  const files = new Map<string, string | Buffer>([...lazy, [`${name}.cjs`, start], ['main.cjs', loader(name)]]);
  for (const [file, content] of files) writeFileSync(join(out, file), content);
  files.set(`${name}.cache`, await cachedCode(out));
  writeFileSync(join(out, `${name}.cache`), files.get(`${name}.cache`)!);
  return new Map([...files].map(([file, { length }]) => [file, length]));
}

/** Writes on SIGTERM, before the agent stops: what it ran until then is all that a start needs. */
const WRITE_CACHE = `
const vm = require('node:vm');
let script;
vm.Script = class extends vm.Script { constructor(...given) { super(...given); script ??= this; } };
process.once('SIGTERM', () => require('node:fs').writeFileSync(process.env.CACHE, script.createCachedData()));
`;

const READY = '"tailrace runs"';
/** From its start to its end. */
const AGENT_MS = 60_000;

/** Runs an agent of the program until it is ready, and resolves with the code that V8 made for it. */
async function cachedCode(out: string): Promise<Buffer> {
  const work = mkdtempSync(join(tmpdir(), 'tailrace-build-'));
  try {
    writeFileSync(join(work, 'write-cache.cjs'), WRITE_CACHE);
    writeFileSync(join(work, 'a.log'), '');
    writeFileSync(
      join(work, 'tailrace.yaml'),
      `data_dir: ${work}/data\nsources: {a: {type: file, include: ["${work}/*.log"]}}
sinks: {s: {type: ingest, url: "http://127.0.0.1:9", token: none, dataset: logs}}\ntelemetry: {listen: "127.0.0.1:0"}\n`,
    );
    const args = [
      '--require',
      join(work, 'write-cache.cjs'),
      join(out, 'main.cjs'),
      'run',
      '--config',
      join(work, 'tailrace.yaml'),
    ];
    // V8 refuses a cache that was made under other flags than the reader's.
    const env = { ...process.env, NODE_OPTIONS: '', CACHE: join(work, 'cache') };
    const limit = { timeout: AGENT_MS, killSignal: 'SIGKILL' } as const;
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env, ...limit });
    let log = '';
    agent.stderr.setEncoding('utf8').on('data', (text: string) => {
      const wasReady = log.includes(READY);
      log += text;
      // A second one would end it at once.
      if (!wasReady && log.includes(READY)) agent.kill('SIGTERM');
    });
    const [status, signal] = (await once(agent, 'close')) as [number | null, string | null];
    if (status !== 0)
      throw new Error(
        `the built agent ended with ${status ?? signal}; it is killed after ${AGENT_MS / 1000} s:\n${log}`,
      );
    return readFileSync(join(work, 'cache'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
