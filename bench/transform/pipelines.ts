/** The pipelines that are measured, and the lines that they are measured on. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type Input, type InputKind, lineMaker } from '../inputs.ts';

export interface MeasuredPipeline {
  readonly name: string;
  readonly kind: InputKind;
  /** Undefined: no transform. */
  readonly text: string | undefined;
  /** Where to look for an event's time; by default it is the time of its read. */
  readonly time?: 'auto';
  /** CPU-seconds a GiB at most, with all that the agent does beside it. */
  readonly target?: number;
  /** The row that the target comes on top of, */
  readonly over?: string;
  /** or is a multiple of. */
  readonly times?: string;
  /** It leaves out events of level 20. */
  readonly filters?: boolean;
}

export const TARGET = 'where level != 20 | project-away req.headers | extend env = "prod"';

export const PIPELINES: readonly MeasuredPipeline[] = [
  { name: 'none (JSON)', kind: 'json', text: undefined },
  { name: 'time: auto (JSON)', kind: 'json', text: undefined, time: 'auto', target: 0.15, over: 'none (JSON)' },
  { name: 'three steps', kind: 'json', text: TARGET, target: 2.5, filters: true },
  { name: 'where', kind: 'json', text: 'where level != 20', target: 1.6, times: 'none (JSON)', filters: true },
  { name: 'project-away', kind: 'json', text: 'project-away req.headers' },
  { name: 'project-keep', kind: 'json', text: 'project-keep level, time, msg' },
  { name: 'project-rename', kind: 'json', text: 'project-rename message = msg' },
  { name: 'extend, a constant', kind: 'json', text: 'extend env = "prod"' },
  { name: 'project', kind: 'json', text: 'project level, time, msg, status = res.statusCode' },
  { name: 'extend, a function', kind: 'json', text: 'extend host = toupper(hostname)' },
  { name: 'extract', kind: 'json', text: String.raw`extend item = extract(@"/(\d+)$", 1, tostring(req.url))` },
  { name: 'parse', kind: 'json', text: 'parse hostname with "web-" number:long' },
  { name: 'mv-expand', kind: 'json', text: 'mv-expand name' },
  { name: 'to_dataset, 1 dataset', kind: 'json', text: 'to_dataset(strcat("logs-", tostring(pid % 1)))' },
  {
    name: 'to_dataset, 16 datasets',
    kind: 'json',
    text: 'to_dataset(strcat("logs-", tostring(pid % 16)))',
    target: 1.3,
    times: 'to_dataset, 1 dataset',
  },
  { name: 'sample', kind: 'json', text: 'sample 1.0 by reqId' },
  {
    name: 'ten steps',
    kind: 'json',
    text: String.raw`where level != 20
| extend status = toint(res.statusCode)
| extend item = extract(@"/(\d+)$", 1, tostring(req.url))
| extend slow = responseTime > 1000
| extend msg = replace_string(msg, "order", "ORDER")
| project-away req.headers
| extend host = toupper(hostname)
| extend short = substring(msg, 0, 20)
| where not(name startswith "nothing")
| extend kb = res.bytes / 1024`,
    target: 15,
    filters: true,
  },
  { name: 'none (text)', kind: 'text', text: undefined },
  { name: 'time: auto (text)', kind: 'text', text: undefined, time: 'auto', target: 0.15, over: 'none (text)' },
  {
    name: 'redact, three kinds',
    kind: 'text',
    text: 'extend message = redact(message, "email", "credit_card", "bearer_token")',
    target: 4,
  },
];

const HEADERS = { host: 'shop.example.com', authorization: 'Bearer 0123456789abcdef', accept: '*/*' };
const CHUNK_LINES = 2000;

/** Lines of pino with request headers, of which a third have the level 20; answers how many have not. */
export function writeJsonInput(seed: number, bytes: number, file: string): Input & { readonly kept: number } {
  const next = lineMaker('json', seed);
  const descriptor = openSync(file, 'w');
  let [written, lines, kept] = [0, 0, 0];
  while (written < bytes) {
    const chunk = Array.from({ length: CHUNK_LINES }, () => {
      const event = JSON.parse(next()) as { level: number; req: object };
      if (event.level === 50) event.level = 20;
      else kept += 1;
      event.req = { ...event.req, headers: HEADERS };
      return `${JSON.stringify(event)}\n`;
    });
    lines += chunk.length;
    written += writeSync(descriptor, chunk.join(''));
  }
  closeSync(descriptor);
  return { kind: 'json', file, bytes: written, lines, kept };
}
