/** The closest structured query to a text, as far as the legacy form allows: `request` of a legacy result. */
import { SERVICE_QUERY_DEFAULT_EVENTS, SERVICE_QUERY_MAX_EVENTS } from '../../limits.ts';
import type { Node, Stage } from '../../../language/plan/tree.ts';
import { spanText } from '../../../core/time/span-text.ts';
import { formatTime } from '../../../core/time/time-text.ts';

export interface EchoFrame {
  readonly startTime: string;
  readonly endTime: string;
  /** Of the request. */
  readonly limit: number | undefined;
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
    resolution: frame.series ? spanText(frame.step) : 'auto',
    aggregations: (summarize?.aggregations ?? []).map((aggregation) => ({
      alias: aggregation.kind === 'row' ? aggregation.by.name : aggregation.name,
      op: aggregation.info.name,
      field: aggregation.info.fields[0] ?? '*',
      argument: aggregation.info.args.length > 1 ? aggregation.info.args : (aggregation.info.args[0] ?? null),
    })),
    groupBy: (summarize?.keys ?? []).filter(({ binOfTime }) => binOfTime === undefined).map(({ name }) => name),
    filter: joined('and', conditions),
    order: (sort?.keys ?? []).filter(({ name }) => name !== '').map(({ name, desc }) => ({ field: name, desc })),
    project: (project?.columns ?? []).map(({ name, node }) => ({ field: node.kind === 'column' ? node.name : name, alias: name })),
    virtualFields: stages.flatMap((stage) => (stage.kind === 'extend' ? stage.columns.map(({ name, text }) => ({ alias: name, expr: text ?? '' })) : [])),
    limit: limitOf(stages, frame.limit),
    cursor: frame.cursor,
    includeCursor: frame.includeCursor,
    continuationToken: '',
    fieldsMeta: null,
  };
} // prettier-ignore

/** The lowest limit of text and request. */
function limitOf(stages: readonly Stage[], requested: number | undefined): number {
  const limits = stages.flatMap((stage) => (stage.kind === 'limit' ? [stage.count] : []));
  if (requested !== undefined) limits.push(requested);
  return Math.min(...(limits.length > 0 ? limits : [SERVICE_QUERY_DEFAULT_EVENTS]), SERVICE_QUERY_MAX_EVENTS);
}

const filter = (op: string, parts: object): object => ({ op, field: '', value: null, caseSensitive: false, children: null, ...parts });

/** Null without conditions, or when one has no legacy form: the others alone would be another filter. */
function joined(op: string, conditions: readonly (object | null)[]): object | null {
  if (conditions.length === 0 || conditions.includes(null)) return null;
  return conditions.length === 1 && op === 'and' ? conditions[0]! : filter(op, { children: conditions });
}

const COMPARE = new Set(['==', '!=', '<', '<=', '>', '>=']);
const TEXT: Readonly<Record<string, string>> = {
  contains: 'contains', startswith: 'starts-with', endswith: 'ends-with', 'matches regex': 'regexp', has: 'has',
}; // prettier-ignore

/** Null for conditions that the legacy form cannot express. */
function filterOf(node: Node): object | null {
  if (node.kind !== 'apply') return null;
  const [name] = node.spec.names;
  if (name === 'and' || name === 'or' || name === 'not') return joined(name, node.args.map(filterOf));
  const [column, value] = node.args;
  if (column?.kind !== 'column') return null;
  if (name === 'isnotnull' || name === 'isnull') return filter(name === 'isnull' ? 'not-exists' : 'exists', { field: column.name });
  if (value?.kind !== 'constant') return null;
  const parts = { field: column.name, value: jsonOf(value) };
  if (COMPARE.has(name)) return filter(name, parts);
  const plain = name.replace('!', '').replace(/_cs$/, '');
  const word = TEXT[plain];
  return word === undefined ? null : filter(`${name.startsWith('!') ? 'not-' : ''}${word}`, { ...parts, caseSensitive: name.endsWith('_cs') || word === 'regexp' });
} // prettier-ignore

function jsonOf({ constant: { type, value } }: Node & { readonly kind: 'constant' }): unknown {
  if (typeof value !== 'bigint') return value;
  return type === 'datetime' ? formatTime(value) : Number(value);
}
