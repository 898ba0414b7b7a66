/**
 * A pipeline as a stage of shaping. Of each event only the values that the pipeline reads or writes are parsed, and only the members that
 * it changed are printed; the other bytes are copied.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Members } from '../../json/members.ts';
import { NameIndex } from '../events/name-index.ts';
import { RepeatedKeys } from '../events/repeated-keys.ts';
import type { FoundValue } from '../events/moved-json.ts';
import { type ResultMember, writeEvent } from '../events/write-event.ts';
import type { RowContext } from '../rows/call/context.ts';
import type { RowProgram } from '../rows/program.ts';
import { TransformError } from '../rows/transform-error.ts';
import type { EventRow, RowValue } from '../rows/values/value.ts';
import { createByteShaping } from '../bytes/byte-shaping.ts';
import { createMovedJson, FewFields, foundIn, valueOf } from './few-fields.ts';
import { StageOutput, type StageOutputOptions, TOO_LARGE } from '../stages/stage-output.ts';
import type { EventList, ShapingStage, StageContext } from '../stages/stage.ts';

export interface PipelineStageOptions extends StageOutputOptions {
  readonly program: RowProgram;
  /** As it was compiled. */
  readonly text: string;
  /** The environment that `env()` reads. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For tests: events are shaped by few values, or as whole objects, though there is a faster way to the same bytes. */
  readonly only?: 'values' | 'objects';
}

const CUT_OBJECT = 'the text is a cut line or invalid JSON, so that no field in it can be hidden';

export function createPipelineStage(options: PipelineStageOptions): ShapingStage {
  const { program, text, env, onError, only } = options;
  const { reads, writes } = program;
  const out = new StageOutput({ ...options, routes: program.datasetOf !== undefined });
  const members = new Members();
  const few =
    reads === 'all' || writes === 'all' || only === 'objects'
      ? undefined
      : new FewFields(members, program, reads, writes);
  const repeated = program.hidden.length > 0 ? new RepeatedKeys(program.hidden) : undefined;
  const isOutside = writes === 'all' ? undefined : (name: string): boolean => !writes.has(name);

  const needed = program.needs && only !== 'objects' ? new NameIndex(program.needs) : undefined;
  /** For the current event: members that the row lacks go. */
  let hasOthers = false;
  /** For the current event, by name: the member that counts, and its value. */
  const lastOf = new Map<string, number>();
  let before: ReadonlyMap<string, RowValue> = new Map();

  const rowOf = (): EventRow => {
    hasOthers = false;
    if (few) return few.read();
    const row: EventRow = new Map();
    lastOf.clear();
    for (let n = 0; n < members.count; n++) {
      if (needed && needed.slotOf(members, n) < 0) {
        hasOthers = true;
        continue;
      }
      const name = members.nameOf(n);
      lastOf.set(name, n);
      row.set(name, valueOf(members, n));
    }
    return row;
  };

  const find = (name: string): FoundValue | undefined => foundIn(members, lastOf.get(name), before.get(name));
  const moved = createMovedJson(program.moves, members, find);

  /** The members of a row that the pipeline may have changed; undefined where all of them are as they were. */
  const resultOf = (row: EventRow, sibling: number): ResultMember[] | undefined => {
    moved.begin(sibling);
    const result: ResultMember[] = [];
    let isChanged = false;
    let known = 0;
    for (const [name, value] of row) {
      if (isOutside?.(name) === true) continue;
      const isSame = before.has(name) && before.get(name) === value;
      if (isSame) known += 1;
      else isChanged = true;
      const json = isSame ? undefined : moved.json(name, value, find(name));
      if (isSame || json !== undefined) result.push([name, json]);
    }
    let expected = 0;
    for (const name of before.keys()) if (isOutside?.(name) !== true) expected += 1;
    return isChanged || hasOthers || known < expected ? result : undefined;
  };

  const shapeOne = (list: EventList, n: number, context: StageContext): void => {
    const from = n === 0 ? 0 : list.ends[n - 1]!;
    const origin = list.origins[n]!;
    members.scan(list.bytes, from);
    const single = repeated?.without(members);
    if (single) members.scan(single, 0);
    out.begin(list, n);
    const row = rowOf();
    if (!few) before = new Map(row);
    const asked = new EventContext(context, origin, list.subs[n]!, env);
    let rows: EventRow[];
    try {
      rows = program.run(row, asked);
    } catch (error) {
      // Only its own errors are known to quote nothing.
      const reason =
        error instanceof TransformError
          ? error.message
          : `the pipeline failed (${error instanceof Error ? error.name : typeof error})`;
      return out.fail(list, n, members, reason);
    }
    for (let sibling = 0; sibling < rows.length; sibling++) {
      const each = rows[sibling]!;
      const result = few ? undefined : resultOf(each, sibling);
      if (result) writeEvent(out.writer, members, result, isOutside);
      else if (!few || !few.write(each, sibling, out.writer))
        out.writer.copy(members.bytes, members.from, single ? single.length : list.ends[n]!);
      if (!out.note(origin, program.datasetOf?.(each, asked))) return out.fail(list, n, members, TOO_LARGE);
    }
  };

  /** The event's text holds a secret that a step would hide, where no step finds it. */
  const withhold = (list: EventList, n: number): void => {
    members.scan(list.bytes, n === 0 ? 0 : list.ends[n - 1]!);
    out.begin(list, n);
    out.fail(list, n, members, CUT_OBJECT);
  };

  const bytes = only ? undefined : createByteShaping(program, out);
  return {
    digest: createHash('sha256')
      .update(
        JSON.stringify([
          'pipeline',
          text,
          onError,
          [...program.environment].map((name) => env[name] ?? null),
          [...program.secretFiles].map(contentOf),
        ]),
      )
      .digest('hex'),
    isDeterministic: program.deterministic,
    hidesFields: program.hidesFields,
    run(list, context) {
      out.clear();
      const cut = program.hidesFields ? context.cutObjects : undefined;
      const one = (n: number): void =>
        cut?.has(list.origins[n]!) === true ? withhold(list, n) : shapeOne(list, n, context);
      const whole = bytes && !cut?.size ? bytes(list, one) : undefined;
      if (whole) return { list: whole, failures: [], errors: 0, isRepeatable: true };
      if (!bytes || cut?.size) for (let n = 0; n < list.count; n++) one(n);
      return out.result;
    },
  };
}

/** Another key makes other pseudonyms. A file that cannot be read fails the compilation, not this. */
function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'base64');
  } catch {
    return null;
  }
}

/** The context that a program may ask for. The offset is computed only when it is needed. */
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
