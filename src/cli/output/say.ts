/** Lines for people on stderr. `main` loads it for every command. */
import { printable } from '../../config/quote.ts';
import { UsageError } from '../../core/errors.ts';

/** Remarks for people, on stderr, where no script reads them: one line each, whatever its text. */
export function say(...lines: readonly string[]): void {
  process.stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
}

/** A command that was given something it does not take: exit code 2. */
export const usageError = (message: string, fix?: string, cause?: unknown): UsageError =>
  new UsageError('E_USAGE', message, { fix, cause });

/** What went wrong, and what to do. `who`: the program, as it names itself. */
export function sayError(
  who: string,
  { message, fix }: { readonly message: string; readonly fix?: string | undefined },
): void {
  say(`${who}: ${message}`, ...(fix === undefined ? [] : [`  fix: ${fix}`]));
}

export function plural(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function groupDigits(count: number): string {
  return count.toLocaleString('en');
}
