/** Reads a configuration given as text, from a real file in a folder of its own. */
import { join } from 'node:path';
import { ConfigError, formatProblem } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load/load.ts';
import type { Config } from '../../src/config/model.ts';
import type { SourceConfig } from '../../src/sources/registry.ts';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import type { IngestSinkConfig } from '../../src/sinks/ingest/ingest-config.ts';
import { makeTree } from '../support/temp-tree.ts';

type Env = Record<string, string | undefined>;

export function configOf(text: string, env: Env = {}): Config {
  return loadConfig(join(makeTree({ 'tailrace.yaml': text }), 'tailrace.yaml'), env);
}

/** `line:column: message; fix` of each problem; fails without any. */
export function problemsOf(text: string, env: Env = {}): string[] {
  return problemsOfFile(join(makeTree({ 'tailrace.yaml': text }), 'tailrace.yaml'), env);
}

export function problemsOfFile(file: string, env: Env = {}): string[] {
  try {
    loadConfig(file, env);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map((problem) => formatProblem(problem).replace(`${file}:`, ''));
    throw error;
  }
  throw new Error('the configuration is valid');
}

const SOURCE = 'type: file\ninclude: ["/var/log/*.log"]';
const SINK = 'type: ingest\nurl: http://127.0.0.1:4100\ndataset: logs';

/** A valid configuration of one file source `app` and one sink `store`, with more lines for each of its parts. */
export function configWith(parts: {
  agent?: string;
  source?: string;
  sources?: string;
  sink?: string;
  sinks?: string;
}): string {
  const lines = ['sources:', '  app:', ...indent(SOURCE), ...indent(parts.source), parts.sources ?? ''];
  return [parts.agent ?? '', ...lines, 'sinks:', '  store:', ...indent(SINK), ...indent(parts.sink), parts.sinks ?? '']
    .filter((line) => line !== '')
    .join('\n');
}

export function sourceOf(config: Config, id = 'app'): SourceConfig {
  return found(config.sources.find((source) => source.id === id));
}

export function fileSourceOf(config: Config): FileConfig {
  return found(config.sources.find((source) => source.type === 'file'));
}

export function sinkOf(config: Config): IngestSinkConfig {
  return found(config.sinks.find((sink): sink is IngestSinkConfig => sink.type === 'ingest'));
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not there');
  return value;
}

function indent(text = ''): string[] {
  return text === '' ? [] : text.split('\n').map((line) => `    ${line}`);
}
