/** Transforms of a configuration, compiled: from each comes a stage for every way of events that it is part of. */
import type { TransformConfig } from '../config/values.ts';
import { TailraceError } from '../core/errors.ts';
import type { OnError, ShapingStage } from './stages/stage.ts';
import type { StageOutputOptions } from './stages/stage-output.ts';
import type { RowProgram } from './rows/program.ts';
import { callsOf, expressionsOf } from './rows/walk.ts';

export interface CompiledTransform {
  /** For the log: a script's checksum, the steps of a pipeline. */
  readonly facts: object;
  /** For a pipeline: without them it fails on each event. */
  readonly hashKeys: readonly HashKey[];
  /** For a script: its file and checksum when it was read. */
  readonly script?: { readonly file: string; readonly sha256: string };
  /** `failed` is called for each event that it fails on. */
  createStage(options: Pick<StageOutputOptions, 'failed'>): ShapingStage;
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

/** Compiles a pipeline, or starts the process of a script. Throws `TransformProblems`. `replaced`: a script's process was, and why. */
export async function compileTransform(
  config: TransformConfig,
  replaced?: (why: string) => void,
): Promise<CompiledTransform> {
  return config.kind === 'script'
    ? startScript(config.file, config.onError ?? 'keep', replaced)
    : compilePipeline(config.text, config.onError, config.path);
}

/** A pipeline that hides something must not let an event that it fails on leave unchanged. */
async function compilePipeline(text: string, onError: OnError | undefined, path: string): Promise<CompiledTransform> {
  const { compileRows } = await import('./rows/program.ts');
  const { TransformTextError } = await import('./rows/transform-error.ts');
  const { createPipelineStage } = await import('./pipeline/pipeline-stage.ts');
  try {
    const program = compileRows(text, { from: path });
    const route = program.steps.find(({ kind }) => kind === 'to_dataset');
    if (route && path.startsWith('sinks.'))
      throw new TransformProblems([
        {
          message: 'to_dataset cannot stand in the transform of a sink',
          fix: 'move it to the source, or to the top of the configuration',
          index: indexOf(text, route.line, route.column),
        },
      ]);
    const failing = onError ?? (program.hides ? 'dead_letter' : 'keep');
    return {
      facts: { steps: program.steps.map(({ kind }) => kind), deterministic: program.deterministic, onError: failing },
      hashKeys: hashKeysOf(program),
      createStage: ({ failed }) => createPipelineStage({ program, text, env: process.env, onError: failing, failed }),
      close: () => Promise.resolve(),
    };
  } catch (error) {
    if (!(error instanceof TransformTextError)) throw error;
    throw new TransformProblems(
      error.problems.map(({ line, column, ...problem }) => ({ ...problem, index: indexOf(text, line, column) })),
    );
  }
}

/** Line and column count from 1. */
function indexOf(text: string, line: number, column: number): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
}

async function startScript(
  file: string,
  onError: StageOutputOptions['onError'],
  replaced?: (why: string) => void,
): Promise<CompiledTransform> {
  const { readScript } = await import('./script/script-file.ts');
  const { ScriptError, ScriptRunner } = await import('./script/script-runner.ts');
  const { createScriptStage } = await import('./script/script-stage.ts');
  try {
    const script = readScript(file);
    const runner = await ScriptRunner.start(script, replaced);
    const { sha256 } = script;
    return {
      script: { file, sha256 },
      facts: { script: file, sha256, deterministic: runner.isDeterministic },
      hashKeys: [],
      createStage: ({ failed }) => createScriptStage({ runner, sha256, onError, failed }),
      close: () => runner.close(),
    };
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const { message, fix } = error;
    const place = error instanceof ScriptError ? { script: { file, line: error.line, column: error.column } } : {};
    throw new TransformProblems([{ message, fix, ...place }]);
  }
}

/** The environment variables that hold the keys of `hash` in a pipeline, with the places where they are named. */
interface HashKey {
  readonly variable: string;
  /** In the pipeline's text. */
  readonly index: number;
}

function hashKeysOf({ steps }: RowProgram): HashKey[] {
  const calls = steps.flatMap(({ stages }) => stages.flatMap(expressionsOf)).flatMap((node) => callsOf(node, 'hash'));
  return calls.flatMap(([, key]) => {
    const [name] = key?.kind === 'apply' && key.spec.name === 'env' ? key.args : [];
    return key?.kind === 'apply' && name?.kind === 'constant'
      ? [{ variable: String(name.constant.value), index: key.at }]
      : [];
  });
}
