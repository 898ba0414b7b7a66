/**
 * The engine alone: a process that opens a copy of the service's data and runs the statements that it gets, without the service around
 * them. A line on stdin is an `Order`; the answer is a line with the number of rows of the last result, which is not parsed.
 */
import { createInterface } from 'node:readline';
import { Session } from 'chdb';

export interface Order {
  readonly statements: readonly string[];
  readonly params: Readonly<Record<string, string>>;
  readonly times: number;
}

const [folder] = process.argv.slice(2);
const session = new Session(`${folder}/engine`, { connectionArgs: [`--config-file=${folder}/engine.xml`] });
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { statements, params, times } = JSON.parse(line) as Order;
  let text = '';
  for (let n = 0; n < times; n++)
    for (const sql of statements) text = (await session.queryBindAsync(sql, params, { format: 'JSONCompact' })).text();
  const rows = /"rows": (\d+)/.exec(text)?.[1] ?? '';
  process.stdout.write(`${rows}\n`);
}
session.close();
