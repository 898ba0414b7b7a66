/**
 * The errors that Tailrace declares. Any other thrown error is a bug. Text names the attempt, quotes the value and says what to do; no
 * final full stop.
 */

/** A failure a user can act on: a stable `code`, a message that names the problem and its place, and `fix`, the remedy. */
export class TailraceError extends Error {
  override readonly name: string = 'TailraceError';
  readonly code: string;
  readonly fix: string | undefined;

  constructor(code: string, message: string, options: { fix?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
  }
}

/** Wrong usage or configuration: exit code 2. */
export class UsageError extends TailraceError {
  override readonly name = 'UsageError';
}

/** The agent stops: the last `remainingBytes` of the block are not accepted. */
export class StoppedError extends TailraceError {
  override readonly name = 'StoppedError';
  readonly remainingBytes: number;

  constructor(remainingBytes: number) {
    super('E_STOPPED', 'the agent is stopping and takes no more events');
    this.remainingBytes = remainingBytes;
  }
}

/** The text of any thrown value, for a log line. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}

/** The `code` of a system or undici error (`ENOENT`, `ECONNREFUSED`, `UND_ERR_…`), or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
