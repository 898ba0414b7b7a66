/** Transforms of a configuration, compiled: from each comes a stage for every way of events that it is part of. */
import { dirname } from 'node:path';
import type { TransformConfig } from '../config/model.ts';
import { TailraceError } from '../core/errors.ts';
import type { Stage } from './stage.ts';
import type { StageOutputOptions } from './stage-output.ts';

export interface CompiledTransform {
  /** `sha256` of a script's content, for the log. */
  readonly facts: object;
  /** What happens to an event that it fails on, and who is told. */
  createStage(options: Pick<StageOutputOptions, 'failed'>): Stage;
  close(): Promise<void>;
}

/** Where a transform is wrong: an index of the pipeline's text, or a place in the script's file. */
export interface TransformProblem {
  readonly message: string;
  readonly fix?: string | undefined;
  readonly index?: number;
  readonly script?: { readonly file: string; readonly line: number; readonly column: number };
}

export class TransformProblems extends TailraceError {
  override readonly name = 'TransformProblems';
  readonly problems: readonly TransformProblem[];

  constructor(problems: readonly TransformProblem[]) {
    super('E_TRANSFORM', problems.map(({ message }) => message).join('; '));
    this.problems = problems;
  }
}

/** Compiles a pipeline, or starts the thread of a script. Throws `TransformProblems`. `replaced`: a script's thread was, and why. */
export async function compileTransform(config: TransformConfig, replaced?: (why: string) => void): Promise<CompiledTransform> {
  if (config.kind === 'script') return startScript(config.file, config.onError ?? 'keep', replaced);
  throw new Error(`not yet: ${dirname(config.text)}`);
}

async function startScript(
  file: string,
  onError: StageOutputOptions['onError'],
  replaced?: (why: string) => void,
): Promise<CompiledTransform> {
  const { readScript } = await import('./script/script-file.ts');
  const { ScriptError, ScriptWorker } = await import('./script/script-worker.ts');
  const { createScriptStage } = await import('./script/script-stage.ts');
  try {
    const script = readScript(file);
    const worker = await ScriptWorker.start({ script, ...(replaced ? { replaced } : {}) });
    const { sha256 } = script;
    return {
      facts: { script: file, sha256, deterministic: worker.isDeterministic },
      createStage: ({ failed }) => createScriptStage({ worker, sha256, onError, failed }),
      close: () => worker.close(),
    };
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const { message, fix } = error;
    const place = error instanceof ScriptError ? { script: { file, line: error.line, column: error.column } } : {};
    throw new TransformProblems([{ message, fix, ...place }]);
  }
}
