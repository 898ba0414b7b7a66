/** `tailrace run` as a child process with a pipe on its standard input, and a configuration written for it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Family, parsePrometheus } from '../support/prometheus-text.ts';
import { until } from '../support/until.ts';

const BINARY = join(import.meta.dirname, '..', '..', 'bin', 'tailrace');

export interface RunChild {
  readonly child: ChildProcess;
  /** Everything that was logged so far. */
  log(): string;
  /** The exit code, or the signal's name. */
  readonly exited: Promise<number | string>;
  /** Writes lines to its standard input, waiting where the pipe is full. */
  write(lines: readonly string[]): Promise<void>;
  /** Ends its standard input. */
  end(): void;
  /** Waits until the log contains the text. */
  says(text: string): Promise<void>;
  /** The fields of the log line with this text. */
  fieldsOf(text: string): Record<string, unknown>;
  /** Waits for the telemetry address, then asks a page. */
  get(page: string): Promise<{ status: number; text: string }>;
  scrape(): Promise<Map<string, Family>>;
}

export interface RunOptions {
  readonly url: string;
  /** The data folder; `data` beside the configuration by default. */
  readonly data?: string;
  /** Lines of YAML for the sink. */
  readonly sink?: string;
  /** Lines of YAML for the top level. */
  readonly top?: string;
  readonly telemetry?: string;
  readonly args?: readonly string[];
}

/** Starts the agent on `folder`: its data is in `data` there, so that a second start goes on. */
export function startRun(folder: string, options: RunOptions): RunChild {
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${options.data ?? join(folder, 'data')}
telemetry: {listen: "${options.telemetry ?? '127.0.0.1:0'}", log_level: debug}
${options.top ?? ''}
sources:
  pipe: {type: stdin}
sinks:
  store:
    type: ingest
    url: ${options.url}
    token: secret
    dataset: logs
    batch: {max_events: 100, max_age: 50ms}
    retry: {initial_backoff: 5ms, max_backoff: 50ms}
${options.sink ?? ''}
`,
  );
  const child = spawn(BINARY, ['run', '--config', config, ...(options.args ?? [])], { stdio: ['pipe', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  child.stdin.on('error', () => {});
  const exited = new Promise<number | string>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal ?? '')));
  const address = async (): Promise<string> => {
    await until('the telemetry address', () => /"telemetry":"http/.test(log) || child.exitCode !== null);
    const found = /"telemetry":"(http[^"]+)"/.exec(log);
    if (!found) throw new Error(`it did not start:\n${log}`);
    return found[1]!;
  };
  const get = async (page: string): Promise<{ status: number; text: string }> => {
    const reply = await fetch((await address()) + page);
    return { status: reply.status, text: await reply.text() };
  };
  return {
    child,
    log: () => log,
    exited,
    get,
    write: (lines) =>
      new Promise((resolve, reject) =>
        child.stdin.write(lines.map((line) => `${line}\n`).join(''), (error) => (error ? reject(error) : resolve())),
      ),
    end: () => void child.stdin.end(),
    says: async (text) => {
      await until(`"${text}" in the log`, () => log.includes(text) || child.exitCode !== null);
      if (!log.includes(text)) throw new Error(`it never said "${text}":\n${log}`);
    },
    fieldsOf(text) {
      const line = log.split('\n').find((each) => each.includes(text));
      if (line === undefined) throw new Error(`it never said "${text}":\n${log}`);
      return JSON.parse(line) as Record<string, unknown>;
    },
    scrape: async () => parsePrometheus((await get('/metrics')).text),
  };
}
