/**
 * The console sink: writes one batch to standard output. A batch counts as delivered once the system has taken its last byte; a reader that is
 * slow holds up the next one, and one that went away leaves everything to be sent again.
 */
import { write } from 'node:fs';
import { promisify } from 'node:util';
import { isatty } from 'node:tty';
import type { SinkConfig } from '../../config/model.ts';
import type { Clock } from '../../core/time/clock.ts';
import { printable, printableJson } from '../../config/quote.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import type { Outcome, SendResult, Sink } from '../../core/sink.ts';

const STDOUT = 1;
/** A reader that shares the pipe may have made it one that does not wait. */
const FULL_PIPE_MS = 20;
// In the thread pool: a pipe that nobody reads would hold up the whole agent in process.stdout.
const writeAsync = promisify(write);

export function createConsoleSink(
  { id, style }: Pick<SinkConfig, 'id'> & { readonly style: 'json' | 'pretty' },
  clock: Clock,
  fd: number = STDOUT,
): Sink {
  const isTerminal = isatty(fd);
  const hasColour = isTerminal && !process.env['NO_COLOR'];
  const written = (body: Uint8Array): Uint8Array => {
    if (style === 'pretty') return Buffer.from(prettyLines(body, hasColour));
    return isTerminal ? Buffer.from(printableJson(Buffer.from(body).toString())) : body;
  };
  return {
    id,
    async send({ body, events }, signal): Promise<SendResult> {
      const startedAt = clock.monotonic();
      const bytes = written(body);
      const result = (outcome: Outcome): SendResult => ({ outcome, elapsedMs: clock.monotonic() - startedAt });
      try {
        await writeAll(fd, bytes, clock, signal);
      } catch (error) {
        signal.throwIfAborted();
        const fix = 'start the agent again with a reader: what was not written is sent then';
        const detail = `cannot write to standard output: ${messageOf(error)}`;
        const isFinal = codeOf(error) === 'EPIPE';
        return { ...result({ kind: 'pause', reason: 'unwritable', detail, fix, isFinal }), unsent: 'unconnected' };
      }
      return result({ kind: 'delivered', stored: events });
    },
    close: () => Promise.resolve(),
  };
}

async function writeAll(fd: number, bytes: Uint8Array, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    signal.throwIfAborted();
    try {
      at += (await writeAsync(fd, bytes, at)).bytesWritten;
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      await clock.sleep(FULL_PIPE_MS, signal);
    }
  }
}

const DIM = '\u001b[2m';
const BOLD = '\u001b[1m';
const PLAIN = '\u001b[0m';
/** The first of these that an event has is shown as its message. */
const MESSAGES = ['message', 'msg', 'body'];

/** Line breaks and tabs stay: a stack trace is read as it was written. */
const visible = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n    ');

/** A batch of NDJSON as lines; with `hasColour` dim times and names. */
function prettyLines(body: Uint8Array, hasColour: boolean): string {
  const paint = (code: string, text: string): string => (hasColour ? `${code}${text}${PLAIN}` : text);
  const lines = Buffer.from(body).toString().split('\n');
  return lines.flatMap((line) => (line === '' ? [] : `${prettyLine(line, paint)}\n`)).join('');
}

function prettyLine(line: string, paint: (code: string, text: string) => string): string {
  const event = JSON.parse(line) as Record<string, unknown>;
  const key = MESSAGES.find((name) => typeof event[name] === 'string');
  const time = typeof event['_time'] === 'string' ? `${paint(DIM, visible(event['_time']))} ` : '';
  const message = key === undefined ? '' : paint(BOLD, visible(event[key] as string));
  const fields = Object.entries(event).filter(([name]) => name !== '_time' && name !== key);
  const written = fields.map(
    ([name, value]) =>
      `${paint(DIM, `${visible(name)}=`)}${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  return `${time}${[message, ...written].filter((part) => part !== '').join('  ')}`;
}
