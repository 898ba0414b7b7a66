/** The effect of each stage of a transform on a row, and the fields that it reads and writes. */
import { callsIn, type NamePattern, type Node, type QueryStage, type Renamed } from '../../language/plan/tree.ts';
import type { Of, RowScope } from './call/call.ts';
import { expand } from './expand.ts';
import { compile, compileCondition } from './expressions.ts';
import { dedupe, sample, throttle } from './flow.ts';
import { EACH } from '../../language/syntax/tree.ts';
import {
  changeReached,
  fieldReader,
  fieldWriter,
  keepFields,
  reachedNames,
  removeFields,
  topLevelNames,
} from './values/paths.ts';
import { settledValue, type EventRow, type RowValue } from './values/value.ts';
import { fieldsRead, HIDING, usesFunction } from './walk.ts';

export interface CompiledStage {
  /** Changes the row, or returns its replacement; undefined leaves it out. */
  readonly run: (scope: RowScope) => EventRow | readonly EventRow[] | undefined;
  /** Names with dots; undefined for all. */
  readonly reads: readonly string[] | undefined;
  /** Top-level names; undefined for all. */
  readonly writes: readonly string[] | undefined;
  /** Top-level names of the only fields that it leaves. */
  readonly replaces?: readonly string[];
  readonly deterministic: boolean;
}

const RANDOM: ReadonlySet<string> = new Set(['rand']);

/** For expressions: the fields that they read, and the properties of the functions they use. */
function propertiesOf(nodes: readonly Node[]): Pick<CompiledStage, 'reads' | 'deterministic'> {
  const all = nodes.map(fieldsRead);
  return {
    reads: all.includes(undefined) ? undefined : all.flatMap((names) => names ?? []),
    deterministic: !nodes.some((node) => usesFunction(node, RANDOM)),
  };
}

export function compileStage(stage: QueryStage): CompiledStage {
  switch (stage.kind) {
    case 'where': {
      const test = compileCondition(stage.condition);
      return { ...propertiesOf([stage.condition]), writes: [], run: (scope) => (test(scope) ? scope.row : undefined) };
    }
    case 'extend':
      return extend(stage.columns);
    case 'project':
      return project(stage.columns);
    case 'remove':
      return narrowed(stage.names, reachedBy(stage.names), removeFields);
    case 'keep':
      return narrowed(stage.names, undefined, keepFields);
    case 'rename':
      return rename(stage.pairs);
    case 'expand':
      return {
        ...propertiesOf(stage.columns.map(({ node }) => node)),
        writes: [...stage.columns.map(({ name }) => name), ...(stage.index === undefined ? [] : [stage.index])].flatMap(
          topLevelNames,
        ),
        run: expand(stage),
      };
    case 'sample':
      return passing(stage.by, sample(stage.fraction, stage.by), true);
    case 'throttle':
      return passing(stage.by, throttle(stage.count, stage.window, stage.by), false);
    case 'dedupe':
      return passing(stage.by, dedupe(stage.window, stage.by), false);
    case 'route':
      return { ...propertiesOf([stage.dataset]), writes: [], run: ({ row }) => row };
    case 'summarize':
    case 'fold':
    case 'sort':
    case 'limit':
    case 'join':
    case 'series':
    case 'nested':
    case 'union':
    case 'redact':
    case 'reorder':
    case 'schema':
    case 'label':
    case 'render':
      throw new RangeError(`the stage ${stage.kind} needs several rows`);
  }
}

/** A stage that lets rows through or not. */
function passing(nodes: readonly Node[], test: Of<boolean>, deterministic: boolean): CompiledStage {
  const properties = propertiesOf(nodes);
  return {
    ...properties,
    deterministic: deterministic && properties.deterministic,
    writes: [],
    run: (scope) => (test(scope) ? scope.row : undefined),
  };
}

/** A stage that takes fields away. */
function narrowed(
  names: readonly NamePattern[],
  writes: readonly string[] | undefined,
  narrow: (row: EventRow, names: readonly NamePattern[]) => void,
): CompiledStage {
  const run = ({ row }: RowScope): EventRow => {
    narrow(row, names);
    return row;
  };
  return { reads: names.map(({ text }) => text), writes, deterministic: true, run };
}

function reachedBy(patterns: readonly NamePattern[]): readonly string[] | undefined {
  const all = patterns.map(reachedNames);
  return all.includes(undefined) ? undefined : all.flatMap((names) => names ?? []);
}

interface NamedNode {
  readonly name: string;
  readonly node: Node;
}

/** All columns are computed of the row as it was. A null result leaves the key absent. */
function extend(columns: readonly NamedNode[]): CompiledStage {
  if (columns.some(isEverywhere)) return extendEverywhere(columns);
  const parts = columns.map(({ name, node }) => ({
    value: compile(node),
    name,
    write: fieldWriter(name),
    pattern: [{ text: name, prefix: false }],
  }));
  const [only] = parts;
  const put = (row: EventRow, { write, pattern }: (typeof parts)[number], value: RowValue): void => {
    if (value === null) removeFields(row, pattern);
    else write(row, value);
  };
  return {
    ...propertiesOf(columns.map(({ node }) => node)),
    writes: columns.flatMap(({ name }) => topLevelNames(name)),
    run: (scope) => {
      const { row } = scope;
      if (parts.length === 1) put(row, only!, only!.value(scope));
      else {
        const values = parts.map(({ value }) => value(scope));
        for (const [n, part] of parts.entries()) put(row, part, values[n]!);
      }
      return row;
    },
  };
}

/** It reaches into lists, or hides a field that may be in several places: as `req.password`, and as `password` in `req`. */
const isEverywhere = ({ name, node }: NamedNode): boolean =>
  name.includes(EACH) ||
  (name.includes('.') &&
    callsIn(node, (each) => HIDING.has(each)).some(
      ({ args: [text] }) => text?.kind === 'column' && text.name === name,
    ));

/** One column after the other; some are replaced in each of their places. */
function extendEverywhere(columns: readonly NamedNode[]): CompiledStage {
  const parts = columns.map((column) => (isEverywhere(column) ? undefined : extend([column])));
  const values = columns.map(({ node }) => compile(node));
  return {
    ...propertiesOf(columns.map(({ node }) => node)),
    writes: columns.flatMap(({ name }) => topLevelNames(name)),
    run: (scope) => {
      const { row } = scope;
      for (const [n, { name }] of columns.entries()) {
        if (parts[n]) {
          parts[n].run(scope);
          continue;
        }
        // The expression reads the value under the name that reaches it.
        const inside = { ...scope, row: new Map(row) };
        let isThere = false;
        changeReached(row, name, (item) => {
          isThere = true;
          inside.row.set(name, item);
          return settledValue(values[n]!(inside)) ?? null;
        });
        const made = isThere || name.includes(EACH) ? null : values[n]!(scope);
        if (made !== null) fieldWriter(name)(row, made);
      }
      return row;
    },
  };
}

function project(columns: readonly NamedNode[]): CompiledStage {
  const parts = columns.map(({ name, node }) => ({ name, value: compile(node) }));
  return {
    ...propertiesOf(columns.map(({ node }) => node)),
    writes: undefined,
    replaces: columns.map(({ name }) => name),
    run: (scope) => {
      const row: EventRow = new Map();
      for (const { name, value } of parts) {
        const found = value(scope);
        if (found !== null) row.set(name, found);
      }
      return row;
    },
  };
}

/** Top-level columns keep their places. */
function rename(pairs: readonly Renamed[]): CompiledStage {
  const parts = pairs.map(({ from, to }) => ({ from, to, read: fieldReader(from), write: fieldWriter(to) }));
  const newName = new Map(pairs.map(({ from, to }) => [from, to]));
  return {
    reads: pairs.map(({ from }) => from),
    writes: pairs.flatMap(({ from, to }) => [...topLevelNames(from), ...topLevelNames(to)]),
    deterministic: true,
    run: ({ row }) => {
      const found = parts.map(({ read }) => read(row));
      const targets = new Set(parts.filter((_, n) => found[n] !== undefined).map(({ to }) => to));
      const nested = parts.filter(({ from }, n) => found[n] !== undefined && !row.has(from));
      // Before another field takes one of their names.
      const rest = new Map(row);
      removeFields(
        rest,
        nested.map(({ from }) => ({ text: from, prefix: false })),
      );
      const result: EventRow = new Map();
      for (const [name, value] of rest) {
        const to = newName.get(name);
        if (to !== undefined) result.set(to, value);
        else if (!targets.has(name)) result.set(name, value);
      }
      for (const part of nested) part.write(result, found[parts.indexOf(part)]!);
      return result;
    },
  };
}

/** Numbers of the event that no double holds, such as `1e400`, among those that steps may change. */
export function infiniteIn(row: EventRow, written: readonly string[] | undefined): readonly RowValue[] {
  const values = written ? written.map((name) => row.get(name)) : [...row.values()];
  return values.filter((value) => value === Infinity || value === -Infinity) as RowValue[];
}

/**
 * The row as it goes on: what steps made in the forms that events have, and nothing that JSON cannot hold; `infinite`: what the event had. Under `moved`
 * names there may be more of these, which whoever prints them looks for.
 */
export function settleRow(
  row: EventRow,
  written: readonly string[] | undefined,
  infinite: readonly RowValue[],
  moved: ReadonlySet<string>,
): EventRow {
  for (const name of written ?? row.keys()) {
    const before = row.get(name);
    // Only an event itself holds null, and keeps it.
    if (before === undefined || before === null) continue;
    const value = settledValue(before);
    const isKept = infinite.includes(before) || (moved.has(name) && (before === Infinity || before === -Infinity));
    if (value === undefined && !isKept) row.delete(name);
    else if (value !== undefined && value !== before) row.set(name, value);
  }
  return row;
}
