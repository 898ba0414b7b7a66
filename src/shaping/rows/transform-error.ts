/** Errors of a transform: in its text, when it is compiled, and in one of its steps, when it runs over an event. */
import { TailraceError } from '../../core/errors.ts';

/** A mistake in the text; line and column count from 1. */
export interface PipelineProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** Thrown with every mistake that was found in a text. */
export class TransformTextError extends TailraceError {
  override readonly name = 'TransformTextError';
  readonly problems: readonly PipelineProblem[];

  constructor(from: string, problems: readonly PipelineProblem[]) {
    const lines = problems.map(
      ({ line, column, message, fix }) => `${from}:${line}:${column}: ${message}${fix === undefined ? '' : `; ${fix}`}`,
    );
    super('E_TRANSFORM', lines.join('\n'));
    this.problems = problems;
  }
}

/** A step as messages show it. */
export interface StepInfo {
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** The operator's name. */
  readonly kind: string;
}

/** Thrown when a step fails on an event. The message never quotes a value. */
export class TransformError extends TailraceError {
  override readonly name = 'TransformError';
  readonly step: StepInfo;

  constructor(step: StepInfo, reason: string) {
    super('E_TRANSFORM_EVENT', `${step.kind} at ${step.line}:${step.column}: ${reason}`);
    this.step = step;
  }
}
