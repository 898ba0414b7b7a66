/** The problems of a configuration: each with its place and, where one is known, the fix. */
import { UsageError } from '../core/errors.ts';
import { MAX_CONFIG_PROBLEMS } from './limits.ts';

/** `line` and `column` count from 1. `message` and `fix` have no final full stop and hold no secret. */
export interface ConfigProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** Why a single value is refused, and how to write it. */
export interface Wrong {
  readonly message: string;
  readonly fix: string;
}

/** `file:line:column: message; fix`, on one line. */
export function formatProblem(problem: ConfigProblem): string {
  const text = `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
  return problem.fix === undefined ? text : `${text}; ${problem.fix}`;
}

/** By file, whose `ranks` are given (others come last), and by place; not more than a person reads. */
export function orderProblems(problems: readonly ConfigProblem[], ranks: ReadonlyMap<string, number>): ConfigProblem[] {
  const rank = ({ file }: ConfigProblem): number => ranks.get(file) ?? ranks.size;
  const sorted = problems.toSorted((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column);
  const rest = sorted.splice(MAX_CONFIG_PROBLEMS);
  const [next] = rest;
  if (next)
    sorted.push({ file: next.file, line: next.line, column: next.column, message: `${rest.length} more problems` });
  return sorted;
}

/** All problems of one configuration, sorted by position. Its message is one line for each. Exit code 2. */
export class ConfigError extends UsageError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super('E_CONFIG', problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}
