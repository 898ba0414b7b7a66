/**
 * A transform's text: the operators that one event goes through, without a dataset. Each step keeps its own text and place, for messages and
 * for what compiles steps one by one.
 */
import { SERVICE_QUERY_STAGES, SERVICE_QUERY_TEXT } from '../../core/limits.ts';
import { AplError } from '../syntax/apl-error.ts';
import { Parser } from '../syntax/parser.ts';
import { letNodes, readLets, readStep } from './query-text.ts';
import { EVENT_ON_ITS_WAY, type Scope } from './scope.ts';
import type { Stage } from './tree.ts';

export interface TransformStep {
  /** The operator's name. */
  readonly kind: string;
  readonly text: string;
  /** Offset in the whole text. */
  readonly at: number;
  readonly stages: readonly Stage[];
  /** The columns before it. */
  readonly scope: Scope;
}

export interface TransformText {
  readonly steps: readonly TransformStep[];
  /** Each step that makes no sense, and the first place that cannot be read at all. */
  readonly problems: readonly AplError[];
}

export function readTransform(text: string): TransformText {
  const steps: TransformStep[] = [];
  const problems: AplError[] = [];
  try {
    readSteps(text, steps, problems);
  } catch (error) {
    if (!(error instanceof AplError)) throw error;
    problems.push(error);
  }
  return { steps, problems };
}

function readSteps(text: string, steps: TransformStep[], problems: AplError[]): void {
  if (text.length > SERVICE_QUERY_TEXT) throw new AplError('syntax', 0, `the transform is longer than ${SERVICE_QUERY_TEXT} characters`);
  const parser = new Parser(text);
  const lets = letNodes(readLets(parser), new Map());
  // A pipe before the first operator is fine, as queries have one behind the dataset.
  parser.accept('|');
  let scope = EVENT_ON_ITS_WAY;
  do {
    const { at } = parser.token;
    if (steps.length === SERVICE_QUERY_STAGES)
      throw new AplError('syntax', at, `the transform has more than ${SERVICE_QUERY_STAGES} operators`);
    const { name, step } = readStep(parser, 'transforms');
    if (steps.at(-1)?.kind === 'to_dataset')
      throw new AplError('meaning', at, 'nothing can stand behind to_dataset, which is the last step');
    try {
      const { stages, scope: after } = step({ scope, lets });
      steps.push({ kind: name, text: text.slice(at, parser.end), at, stages, scope });
      scope = after;
    } catch (error) {
      if (!(error instanceof AplError)) throw error;
      problems.push(error);
    }
  } while (parser.accept('|'));
  while (parser.accept(';'));
  if (parser.token.kind !== 'end') throw parser.unexpected('| or the end of the transform');
}
