/** `tailrace run` as a child process with a pipe on its standard input, and a configuration written for it. */
import { parsePrometheus } from '../support/prometheus-text.ts';
import { addressOf, QUICK, type ShippingOptions, startShipping } from '../support/shipping.ts';

/** `sink`: entries beside the usual ones. */
interface RunOptions extends ShippingOptions {
  readonly url: string;
}

/** Starts the agent on `folder`: its data is in `agent` there, so that a second start goes on. */
export function startRun(folder: string, options: RunOptions) {
  const { url, sink = '', ...more } = options;
  const usual = `token: secret, batch: {max_events: 100, max_age: 50ms}, ${QUICK}`;
  const sources = { pipe: '{type: stdin}' };
  const program = startShipping(
    { folder, url },
    { sources, logLevel: 'debug', stdin: 'pipe', ...more, sink: `${usual}${sink && `, ${sink}`}` },
  );
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
