/** `tailrace run` as a child process with a pipe on its standard input, and a configuration written for it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgram } from '../support/program.ts';
import { parsePrometheus } from '../support/prometheus-text.ts';
import { addressOf } from '../support/shipping.ts';

interface RunOptions {
  readonly url: string;
  /** The data folder; `data` beside the configuration by default. */
  readonly data?: string;
  /** Lines of YAML for the sink. */
  readonly sink?: string;
  /** Lines of YAML for the top level. */
  readonly top?: string;
  readonly args?: readonly string[];
}

/** Starts the agent on `folder`: its data is in `data` there, so that a second start goes on. */
export function startRun(folder: string, options: RunOptions) {
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${options.data ?? join(folder, 'data')}
telemetry: {listen: "127.0.0.1:0", log_level: debug}
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
  const program = startProgram(['run', '--config', config, ...(options.args ?? [])], {}, 'pipe');
  const stdin = program.process.stdin!.on('error', () => {});
  /** Waits for the telemetry address, then asks a page. */
  const get = async (page: string): Promise<{ status: number; text: string }> => {
    const reply = await fetch((await addressOf(program)) + page);
    return { status: reply.status, text: await reply.text() };
  };
  return {
    ...program,
    get,
    scrape: async () => parsePrometheus((await get('/metrics')).text),
    /** Writes lines to its standard input, waiting where the pipe is full. */
    write: (lines: readonly string[]) =>
      new Promise<void>((resolve, reject) =>
        stdin.write(lines.map((line) => `${line}\n`).join(''), (error) => (error ? reject(error) : resolve())),
      ),
    /** Ends its standard input. */
    close: () => void stdin.end(),
    /** The fields of the log line with this text. */
    fieldsOf: async (text: string) => JSON.parse(await program.says(text)) as Record<string, unknown>,
  };
}
