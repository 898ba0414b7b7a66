/** The service beside a machine, and how many events it has. Asked over HTTP: the client starts for longer than the answer takes. */
import { API_TOKEN } from '../support/local-service.ts';
import type { Machine } from '../support/systemd-machine.ts';

export const SERVICE = '127.0.0.1:4100';
const QUERY = `http://${SERVICE}/v1/query/_apl?format=tabular`;
const HEADERS = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' };
const ALWAYS = { startTime: '1900-01-01T00:00:00Z', endTime: '2262-04-11T00:00:00Z' };

/** 0 while there is no dataset, or no service. */
export function storedEvents(machine: Machine, condition: string): number {
  const body = JSON.stringify({ apl: `hosts | where ${condition} | count`, ...ALWAYS });
  const headers = Object.entries(HEADERS).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const { status, out } = machine.runBeside('curl', ['-sf', ...headers, '-d', body, QUERY]);
  return status === 0 ? (JSON.parse(out) as { tables: [{ columns: [[number]] }] }).tables[0].columns[0][0] : 0;
}
