/** What is wrong with a configuration: every problem with its place and, where one is known, the fix. */
import { UsageError } from '../core/errors.ts';

/** `line` and `column` count from 1. `message` and `fix` have no final full stop and hold no secret. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix?: string;
}

/** `file:line:column: message; fix`, on one line. */
export function formatProblem(problem: Problem): string {
  const text = `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
  return problem.fix === undefined ? text : `${text}; ${problem.fix}`;
}

/** All problems of one configuration, sorted by position. Its message is one line for each. Exit code 2. */
export class ConfigError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('E_CONFIG', problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}
