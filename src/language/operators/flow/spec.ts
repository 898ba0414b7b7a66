/** Operators that let a part of the events through, and to_dataset, which says where they go. */
import { analyze, applyNamed, type NameScope } from '../../plan/analysis.ts';
import { wrongType } from '../../plan/arguments.ts';
import { constantNode, type Node } from '../../plan/tree.ts';
import { readAssignment, readExpression } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import type { Expression } from '../../syntax/tree.ts';
import { operator, type Operator, type OperatorResult, type OperatorUse } from '../../plan/operator.ts';
import { countOf, readCount, type RowCount } from '../rows/spec.ts';
import { summarized } from '../summarize/spec.ts';

const readBy = (parser: Parser): readonly Expression[] =>
  parser.accept('by') ? parser.list(() => readExpression(parser)) : [];
const nodesOf = (expressions: readonly Expression[], names: NameScope): readonly Node[] =>
  expressions.map((each) => analyze(each, names));

/** A timespan of more than zero, ns. */
function readSpan(parser: Parser): bigint {
  const { token } = parser;
  if (token.kind !== 'timespan' || token.value <= 0n) throw parser.unexpected('a timespan such as 1s or 5m');
  parser.take();
  return token.value;
}

/** That many rows, chosen by chance. */
function sampleRows(count: number, at: number, { scope }: NameScope): OperatorResult {
  const node = applyNamed('rand', at);
  return {
    stages: [
      { kind: 'sort', keys: [{ node, name: '', desc: false, nullsFirst: false }] },
      { kind: 'limit', count, exactly: true },
    ],
    scope,
  };
}

/** Each row with that probability. */
function sampleFraction(fraction: number, at: number, { scope }: NameScope): OperatorResult {
  const condition = applyNamed('<', at, applyNamed('rand', at), constantNode({ type: 'real', value: fraction }));
  return { stages: [{ kind: 'where', condition }], scope };
}

/** A number of rows, or a fraction of them; of transforms the same events are left in each run. */
type SampleOptions =
  | { readonly of: 'rows'; readonly at: number; readonly count: RowCount }
  | { readonly of: 'chance'; readonly at: number; readonly fraction: number }
  | { readonly of: 'events'; readonly fraction: number; readonly by: readonly Expression[] };

function readSample(parser: Parser, at: number, use: OperatorUse): SampleOptions {
  if (use === 'queries') {
    const { token: given } = parser;
    if (given.kind === 'real' && given.value < 1) {
      parser.take();
      return { of: 'chance', at, fraction: given.value };
    }
    return {
      of: 'rows',
      at,
      count: readCount(parser, 'a number of rows after sample, or a fraction of them such as 0.1'),
    };
  }
  const { token } = parser;
  const isFraction = (token.kind === 'real' && token.value <= 1) || (token.kind === 'int' && token.value <= 1n);
  if (!isFraction) throw parser.unexpected('a fraction from 0 to 1 such as 0.1; a number of rows is for queries');
  parser.take();
  return { of: 'events', fraction: Number(token.value), by: readBy(parser) };
}

function sampled(sample: SampleOptions, names: NameScope): OperatorResult {
  if (sample.of === 'rows') return sampleRows(countOf(sample.count, names), sample.at, names);
  if (sample.of === 'chance') return sampleFraction(sample.fraction, sample.at, names);
  return { stages: [{ kind: 'sample', fraction: sample.fraction, by: nodesOf(sample.by, names) }], scope: names.scope };
}

export const FLOW: readonly Operator[] = [
  operator({
    names: ['sample'],
    syntax: 'sample <count | fraction>; in transforms sample <fraction> [by <expression>, …]',
    doc: 'Keeps that many random rows, or about that fraction of them (`0.1`). In transforms, a fraction of the events, always the same ones; with `by`, events with equal values stay or go together.',
    read: readSample,
    plan: sampled,
  }),
  operator({
    names: ['sample-distinct'],
    only: 'queries',
    syntax: 'sample-distinct <count> of <expression>',
    doc: 'Returns that many random distinct values.',
    read(parser, at) {
      const count = readCount(parser, 'a number of values after sample-distinct');
      parser.expect('of', 'after the number of values');
      return { at, count, by: readAssignment(parser) };
    },
    plan({ at, count, by }, names) {
      const distinct = summarized({ by: [by], aggregations: [] }, names);
      const { stages, scope } = sampleRows(countOf(count, names), at, { ...names, scope: distinct.scope });
      return { stages: [...distinct.stages, ...stages], scope };
    },
  }),
  operator({
    names: ['throttle'],
    only: 'transforms',
    syntax: 'throttle <count> per <timespan> [by <expression>, …]',
    doc: 'Keeps at most that many events of each group in each window of time. It knows up to 10,000 groups at a time.',
    read(parser) {
      const count = parser.count('a number of events after throttle');
      parser.expect('per', 'after the number of events');
      const window = readSpan(parser);
      return { count, window, by: readBy(parser) };
    },
    plan: ({ count, window, by }, names) => ({
      stages: [{ kind: 'throttle', count, window, by: nodesOf(by, names) }],
      scope: names.scope,
    }),
  }),
  operator({
    names: ['dedupe'],
    only: 'transforms',
    syntax: 'dedupe by <expression>, … within <timespan>',
    doc: 'Drops events whose values were seen within that time. It knows up to 10,000 combinations at a time.',
    read(parser) {
      if (!parser.is('by')) throw parser.unexpected('by and what makes two events alike');
      const by = readBy(parser);
      parser.expect('within', 'after what makes two events alike');
      return { by, window: readSpan(parser) };
    },
    plan: ({ by, window }, names) => ({
      stages: [{ kind: 'dedupe', window, by: nodesOf(by, names) }],
      scope: names.scope,
    }),
  }),
  operator({
    names: ['to_dataset'],
    only: 'transforms',
    syntax: 'to_dataset(<expression>)',
    doc: 'Sends the event to a dataset; the last step. A name that is null, empty or invalid leaves the event in the dataset of the sink.',
    read(parser) {
      parser.expect('(', 'after to_dataset');
      const value = readExpression(parser);
      parser.expect(')', 'after the name of the dataset');
      return value;
    },
    plan(value, names) {
      const dataset = analyze(value, names);
      if (dataset.type !== 'string' && dataset.type !== 'dynamic')
        throw wrongType(value.at, 'a string', dataset.type, 'to_dataset');
      return { stages: [{ kind: 'route', dataset }], scope: names.scope };
    },
  }),
];
