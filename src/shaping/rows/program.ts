/**
 * A transform as a program over one event: its text is compiled once, at start and at reload, and then runs over the fields of each event.
 * It keeps each step's typed tree for work that needs no parsed event.
 */
import { AplError, attempt, positionIn } from '../../language/syntax/apl-error.ts';
import { readTransform, type TransformStep } from '../../language/text/transform-text.ts';
import { callsIn, type NamePattern, type QueryStage } from '../../language/plan/tree.ts';
import { OPERATORS_BY_NAME } from '../../language/operators/table.ts';
import type { RowScope } from './call/call.ts';
import type { RowContext } from './call/context.ts';
import { asString } from './values/convert.ts';
import { compile } from './expressions.ts';
import { namesHiddenBy } from './hidden-names.ts';
import { Moves } from './moves.ts';
import { topLevelNames } from './values/paths.ts';
import { compileStage, infiniteIn, settleRow, type CompiledStage } from './steps.ts';
import { TextTooLong } from './values/text.ts';
import { TransformError, TransformTextError, type PipelineProblem, type StepInfo } from './transform-error.ts';
import type { EventRow } from './values/value.ts';
import { callsOf, expressionsOf, HIDING } from './walk.ts';

export interface ProgramStep extends StepInfo {
  /** The typed tree: names found, types checked. */
  readonly stages: readonly QueryStage[];
}

export interface RowProgram {
  /** Top-level names of the fields that it reads. A row needs no others. */
  readonly reads: ReadonlySet<string> | 'all';
  /** Top-level names that it may add, change or remove. */
  readonly writes: ReadonlySet<string> | 'all';
  /** Where `project` leaves no other field: the only top-level names that a row needs. */
  readonly needs: ReadonlySet<string> | undefined;
  /** False where the same event may give another result: rand, throttle, dedupe. */
  readonly deterministic: boolean;
  /** It hides or removes something: redact, mask, hash, project and its kin. An event on which it fails must not leave in clear. */
  readonly hides: boolean;
  /** It hides by the names of fields, and not only what it finds in the whole text. */
  readonly hidesFields: boolean;
  /** The names that it hides by, or keeps while others go. */
  readonly hidden: readonly NamePattern[];
  readonly steps: readonly ProgramStep[];
  /** Where values are put that steps move. */
  readonly moves: Moves;
  /** Names of environment variables that it reads: their values belong to what shapes an event. */
  readonly environment: ReadonlySet<string>;
  /** Paths of files that hold keys of hash; what they held was read when the program was compiled. */
  readonly secretFiles: ReadonlySet<string>;
  /** The dataset that to_dataset says for a row that came out of `run`; undefined for that of the sink. */
  readonly datasetOf: ((row: EventRow, context: RowContext) => string | undefined) | undefined;
  /**
   * Returns the rows of the event: none when it is left out, several after mv-expand. The given row may be changed, the objects in it are
   * not. Throws a `TransformError` that names the step.
   */
  run(row: EventRow, context: RowContext): EventRow[];
}

export interface CompileOptions {
  /** The text's name in messages, such as the path of the configuration. */
  readonly from: string;
  /** Where the text begins in there; line 1, column 1 unless given. Lines after the first begin at the same column. */
  readonly at?: { readonly line: number; readonly column: number };
}

/** Throws a `TransformTextError` with every mistake. */
export function compileRows(text: string, options: CompileOptions): RowProgram {
  const { steps, problems } = readTransform(text);
  const compiled = steps.map((step) => attempt(() => compileStep(step, text, options)));
  const found = [...problems, ...compiled.filter((step) => step instanceof AplError)];
  if (found.length > 0)
    throw new TransformTextError(
      options.from,
      found.sort((a, b) => a.at - b.at).map((error) => problemOf(error, text, options)),
    );
  return programOf(compiled.flatMap((step) => (step instanceof AplError ? [] : step)));
}

interface CompiledStep {
  readonly info: ProgramStep;
  readonly stages: readonly CompiledStage[];
}

function compileStep({ name, text, at, stages }: TransformStep, whole: string, options: CompileOptions): CompiledStep {
  return { info: { kind: name, text, ...placeIn(whole, at, options), stages }, stages: stages.map(compileStage) };
}

function problemOf({ at, what, fix }: AplError, text: string, options: CompileOptions): PipelineProblem {
  return { ...placeIn(text, at, options), message: what, ...(fix === undefined ? {} : { fix }) };
}

function placeIn(
  text: string,
  offset: number,
  { at = { line: 1, column: 1 } }: CompileOptions,
): { line: number; column: number } {
  const { line, column } = positionIn(text, offset);
  return { line: at.line + line - 1, column: at.column + column - 1 };
}

function programOf(compiled: readonly CompiledStep[]): RowProgram {
  const stages = compiled.flatMap((step) => step.stages);
  const trees = compiled.flatMap(({ info }) => info.stages);
  const writes = namesOf(stages.map((stage) => stage.writes));
  const written = writes === 'all' ? undefined : [...writes];
  const moves = new Moves(trees);
  const hiddenNames = trees.flatMap(namesHiddenBy);
  const removes = compiled.some(({ info }) => OPERATORS_BY_NAME.get(info.kind)?.hides === true);
  const hidden = trees.flatMap(expressionsOf).flatMap((node) => callsIn(node, (name) => HIDING.has(name)));
  return {
    steps: compiled.map(({ info }) => info),
    reads: namesOf(stages.map(({ reads }) => reads?.flatMap(topLevelNames))),
    writes,
    needs: neededBy(stages),
    deterministic: stages.every((stage) => stage.deterministic),
    moves,
    // A value is hidden where it came from, too; repeated keys are removed.
    hidden: hiddenNames.flatMap((name) => [name, ...moves.sourcesOfName(name)]),
    hides: removes || hidden.length > 0,
    hidesFields: removes || hidden.some(({ args: [text] }) => text?.kind !== 'column' || text.name !== 'message'),
    environment: argumentsOf(trees, 'env'),
    secretFiles: argumentsOf(trees, 'secret_file'),
    datasetOf: routeOf(trees),
    run(row, context) {
      const infinite = infiniteIn(row, written);
      let rows: EventRow[] = [row];
      for (const step of compiled) {
        try {
          for (const stage of step.stages) {
            const [only] = rows;
            const result = rows.length === 1 ? stage.run({ row: only!, context }) : advance(stage, rows, context);
            if (result === undefined) return [];
            if (!(result instanceof Map)) rows = [...result];
            else if (result !== only) rows = [result];
            if (rows.length === 0) return rows;
          }
        } catch (error) {
          throw failureOf(error, step.info);
        }
      }
      for (const each of rows) settleRow(each, written, infinite, moves.names);
      return rows;
    },
  };
}

/** The names that calls of a function of one literal were given. */
function argumentsOf(stages: readonly QueryStage[], name: string): ReadonlySet<string> {
  const found = stages.flatMap(expressionsOf).flatMap((node) => callsOf(node, name));
  return new Set(found.flatMap(([arg]) => (arg?.kind === 'constant' ? [String(arg.constant.value)] : [])));
}

function routeOf(stages: readonly QueryStage[]): RowProgram['datasetOf'] {
  const last = stages.at(-1);
  if (last?.kind !== 'route') return undefined;
  const name = compile(last.dataset);
  return (row, context) => asString(name({ row, context })) || undefined;
}

function advance(stage: CompiledStage, rows: EventRow[], context: RowContext): EventRow[] {
  const next: EventRow[] = [];
  for (const row of rows) {
    const scope: RowScope = { row, context };
    const result = stage.run(scope);
    if (result === undefined) continue;
    if (result instanceof Map) next.push(result);
    else for (const each of result) next.push(each);
  }
  return next;
}

/** Joins the names; an undefined list means every name. */
function namesOf(lists: readonly (readonly string[] | undefined)[]): ReadonlySet<string> | 'all' {
  return lists.includes(undefined) ? 'all' : new Set(lists.flatMap((names) => names ?? []));
}

/** Fields read and written up to the first `project`, and written from there on, if known: a written field may be unchanged. */
function neededBy(stages: readonly CompiledStage[]): ReadonlySet<string> | undefined {
  const replacing = stages.findIndex(({ replaces }) => replaces !== undefined);
  if (replacing < 0) return undefined;
  const before = stages.slice(0, replacing);
  const reads = [...before, stages[replacing]!].map((stage) => stage.reads?.flatMap(topLevelNames));
  const names = namesOf([...reads, ...stages.map(({ replaces, writes }) => replaces ?? writes)]);
  return names === 'all' ? undefined : names;
}

function failureOf(error: unknown, step: StepInfo): unknown {
  if (error instanceof TransformError) return error;
  return error instanceof TextTooLong || error instanceof RangeError ? new TransformError(step, error.message) : error;
}
