/** The table of queries, and the target that they are held against. */
import type { QueryFigures } from './queries.ts';

const TARGET_MS = 10;

export function renderQueries(figures: readonly QueryFigures[], rows: number): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = [
    'query',
    'matched',
    'through the service',
    'the same SQL in the engine',
    'overhead',
    'spread',
    `target ≤ ${TARGET_MS} ms`,
  ];
  const body = figures.map(({ name, matched, serviceMs, directMs, overheadMs, spreadMs }) => [
    name,
    matched.toLocaleString('en'),
    ...[serviceMs, directMs, overheadMs].map((ms) => `${ms.toFixed(1)} ms`),
    spreadMs.map((ms) => ms.toFixed(1)).join('–'),
    overheadMs <= TARGET_MS ? 'met' : '**missed**',
  ]);
  return [
    `### The service: queries on ${rows.toLocaleString('en')} events, CPU a query`,
    '',
    line(head),
    line(head.map(() => '---')),
    ...body.map(line),
    '',
    ...figures.map(({ name, text }) => `- ${name}: \`${text}\``),
  ].join('\n');
}
