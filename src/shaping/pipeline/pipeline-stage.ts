/**
 * A pipeline as a stage of shaping. Of each event only the values that the pipeline reads or writes are parsed, and only the members that
 * it changed are printed; the other bytes are copied.
 */
import { createHash } from 'node:crypto';
import { Members, readString } from '../events/members.ts';
import { type ResultMember, writeEvent } from '../events/write-event.ts';
import type { RowContext } from '../rows/context.ts';
import { parseJson, writeJson } from '../rows/json.ts';
import type { RowProgram } from '../rows/program.ts';
import { TransformError } from '../rows/transform-error.ts';
import type { Row, Value } from '../rows/value.ts';
import { StageOutput, type StageOutputOptions, TOO_LARGE } from '../stage-output.ts';
import type { EventList, Stage, StageContext } from '../stage.ts';

export interface PipelineStageOptions extends StageOutputOptions {
  readonly program: RowProgram;
  /** As it was compiled. */
  readonly text: string;
  /** The environment that `env()` reads. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const QUOTE = 0x22;

export function createPipelineStage(options: PipelineStageOptions): Stage {
  const { program, text, env, onError } = options;
  const { reads, writes } = program;
  const out = new StageOutput(options);
  const members = new Members();
  const needed = reads === 'all' || writes === 'all' ? undefined : new Set([...reads, ...writes]);
  const isOutside = writes === 'all' ? undefined : (name: string): boolean => !writes.has(name);

  const rowOf = (): Row => {
    const row: Row = new Map();
    for (let n = 0; n < members.count; n++) {
      const name = members.nameOf(n);
      if (!needed || needed.has(name)) row.set(name, valueOf(members, n));
    }
    return row;
  };

  /** The members of a row that the pipeline may have changed; undefined where all of them are as they were. */
  const resultOf = (row: Row, before: ReadonlyMap<string, Value>): ResultMember[] | undefined => {
    const result: ResultMember[] = [];
    let isChanged = false;
    let known = 0;
    for (const [name, value] of row) {
      if (isOutside?.(name) === true) continue;
      const isSame = before.has(name) && before.get(name) === value;
      if (isSame) known += 1;
      else isChanged = true;
      result.push([name, isSame ? undefined : writeJson(value)]);
    }
    let expected = 0;
    for (const name of before.keys()) if (isOutside?.(name) !== true) expected += 1;
    return isChanged || known < expected ? result : undefined;
  };

  const shapeOne = (list: EventList, n: number, context: StageContext): void => {
    const from = n === 0 ? 0 : list.ends[n - 1]!;
    const origin = list.origins[n]!;
    members.scan(list.bytes, from);
    out.begin();
    const row = rowOf();
    const before = new Map(row);
    let rows: Row[];
    try {
      rows = program.run(row, new EventContext(context, origin, list.subs[n]!, env));
    } catch (error) {
      // Only its own errors are known to quote nothing.
      const reason =
        error instanceof TransformError ? error.message : `the pipeline failed (${error instanceof Error ? error.name : typeof error})`;
      return out.fail(list, n, members, reason);
    }
    for (const each of rows) {
      const result = resultOf(each, before);
      if (result) writeEvent(out.writer, members, result, isOutside);
      else out.writer.copy(list.bytes, from, list.ends[n]!);
      if (!out.note(origin)) return out.fail(list, n, members, TOO_LARGE);
    }
  };

  return {
    digest: createHash('sha256')
      .update(JSON.stringify(['pipeline', text, onError, namedVariables(text).map((name) => env[name] ?? null)]))
      .digest('hex'),
    isDeterministic: program.deterministic,
    run(list, context) {
      out.clear();
      for (let n = 0; n < list.ends.length; n++) shapeOne(list, n, context);
      return out.result;
    },
  };
}

function valueOf(members: Members, member: number): Value {
  const { bytes, valueFrom, valueTo } = members;
  const [from, to] = [valueFrom[member]!, valueTo[member]!];
  if (bytes[from] === QUOTE) return readString(bytes, from, to);
  return parseJson(bytes.toString('utf8', from, to)) ?? null;
}

/** Variables whose values shape events: they are part of the digest. */
function namedVariables(text: string): string[] {
  return [...text.matchAll(/\benv\s*\(\s*@?["']([^"']*)["']/g)].map(([, name = '']) => name);
}

/** What a program may ask. The offset is looked for only when it is asked. */
class EventContext implements RowContext {
  readonly readAtMs: number;
  readonly stream: string;
  readonly sub: number;
  readonly #context: StageContext;
  readonly #origin: number;
  readonly #env: PipelineStageOptions['env'];

  constructor(context: StageContext, origin: number, sub: number, env: PipelineStageOptions['env']) {
    this.readAtMs = context.readAtMs;
    this.stream = context.stream;
    this.sub = sub;
    this.#context = context;
    this.#origin = origin;
    this.#env = env;
  }

  get offset(): number {
    return this.#context.offsetOf(this.#origin);
  }

  random(): number {
    return Math.random();
  }

  env(name: string): string | undefined {
    return this.#env[name];
  }
}
