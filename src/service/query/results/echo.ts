/** The structured query that a text amounts to, as far as the legacy form can say it: `request` of a legacy result. */
import type { Node, Stage } from '../plan/tree.ts';
import { formatTime } from '../../ingest/timestamps.ts';
import { formatSpan } from './cells.ts';

export interface EchoFrame {
  readonly startTime: string;
  readonly endTime: string;
  readonly limit: number;
  readonly cursor: string;
  readonly includeCursor: boolean;
  readonly step: bigint;
  readonly series: boolean;
}

export function echoOf(stages: readonly Stage[], frame: EchoFrame): object {
  const summarize = stages.findLast((stage) => stage.kind === 'summarize');
  const conditions = stages.flatMap((stage) => (stage.kind === 'where' ? [filterOf(stage.condition)] : []));
  const sort = stages.findLast((stage) => stage.kind === 'sort');
  const project = stages.findLast((stage) => stage.kind === 'project');
  return {
    startTime: frame.startTime,
    endTime: frame.endTime,
    resolution: frame.series ? formatSpan(frame.step) : 'auto',
    aggregations: (summarize?.aggregations ?? []).map((aggregation) => ({
      alias: aggregation.kind === 'row' ? aggregation.by.name : aggregation.name,
      op: aggregation.info.name,
      field: aggregation.info.fields[0] ?? '*',
      argument: aggregation.info.args.length > 1 ? aggregation.info.args : (aggregation.info.args[0] ?? null),
    })),
    groupBy: (summarize?.keys ?? []).filter(({ binOfTime }) => binOfTime === undefined).map(({ name }) => name),
    filter: conditions.length === 1 ? conditions[0] : conditions.length > 1 ? filter('and', { children: conditions }) : null,
    order: (sort?.keys ?? []).filter(({ name }) => name !== '').map(({ name, desc }) => ({ field: name, desc })),
    project: (project?.columns ?? []).map(({ name, node }) => ({ field: node.kind === 'column' ? node.name : name, alias: name })),
    virtualFields: stages.flatMap((stage) => (stage.kind === 'extend' ? stage.columns.map(({ name, text }) => ({ alias: name, expr: text ?? '' })) : [])),
    limit: frame.limit,
    cursor: frame.cursor,
    includeCursor: frame.includeCursor,
    continuationToken: '',
    fieldsMeta: null,
  };
} // prettier-ignore

const filter = (op: string, parts: object): object => ({ op, field: '', value: null, caseSensitive: false, children: null, ...parts });

const COMPARE = new Set(['==', '!=', '<', '<=', '>', '>=']);
const TEXT: Readonly<Record<string, string>> = {
  contains: 'contains', startswith: 'starts-with', endswith: 'ends-with', 'matches regex': 'regexp', has: 'has',
}; // prettier-ignore

/** What the legacy form has no words for shows as an empty filter. */
function filterOf(node: Node): object {
  if (node.kind !== 'apply') return filter('', {});
  const [name] = node.spec.names;
  if (name === 'and' || name === 'or' || name === 'not') return filter(name, { children: node.args.map(filterOf) });
  const [column, value] = node.args;
  if (column?.kind !== 'column') return filter('', {});
  if (name === 'isnotnull' || name === 'isnull') return filter(name === 'isnull' ? 'not-exists' : 'exists', { field: column.name });
  if (value?.kind !== 'constant') return filter('', {});
  const parts = { field: column.name, value: jsonOf(value) };
  if (COMPARE.has(name)) return filter(name, parts);
  const plain = name.replace('!', '').replace(/_cs$/, '');
  const word = TEXT[plain];
  return word === undefined ? filter('', {}) : filter(`${name.startsWith('!') ? 'not-' : ''}${word}`, { ...parts, caseSensitive: name.endsWith('_cs') || word === 'regexp' });
} // prettier-ignore

function jsonOf({ constant: { type, value } }: Node & { readonly kind: 'constant' }): unknown {
  if (typeof value !== 'bigint') return value;
  return type === 'datetime' ? formatTime(value) : Number(value);
}
