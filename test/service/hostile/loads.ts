/** What takes a service's memory: wide and long events, queries over them, and bodies. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { API_TOKEN, type LocalService } from '../../support/local-service.ts';

export const MIB = 1024 * 1024;

/** The most that the process of the service ever took. */
export const peakOf = (service: LocalService): number =>
  1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.program.process.pid}/status`, 'utf8'))![1]);

export async function send(
  url: string,
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
  token = API_TOKEN,
): Promise<number> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: body as string,
  });
  await reply.arrayBuffer();
  return reply.status;
}
export const JSON_TYPE = { 'content-type': 'application/json' };
export const NDJSON = { 'content-type': 'application/x-ndjson' };

export const ask = (url: string, apl: string, format = 'tabular', token = API_TOKEN): Promise<number> =>
  send(url, `/v1/query/_apl?format=${format}`, JSON.stringify({ apl }), JSON_TYPE, token);

/** Datasets for `QUERIES`. */
export async function fill(service: LocalService): Promise<void> {
  for (const name of ['wide', 'long', 'named']) await service.ask('POST', '/v1/datasets', { name });
  const batch = (count: number, event: (n: number) => object): string =>
    Array.from({ length: count }, (_, n) => JSON.stringify(event(n))).join('\n');
  const wide = (n: number): object =>
    Object.fromEntries(
      Array.from({ length: 300 }, (_, field) => [
        `field${field}`,
        field % 2 === 0 ? n * field : `value ${(n * field) % 977}`,
      ]),
    );
  const long = (n: number): object => ({
    n,
    host: `h${n % 5}`,
    message: `${n} ${'λόγος και lorem ipsum '.repeat(1 + (n % 30))}`,
  });
  const named = (n: number): object =>
    Object.fromEntries(Array.from({ length: 900 }, (_, field) => [`${'x'.repeat(190)}${field}`, n % 3]));
  for (let part = 0; part < 8; part++) {
    await send(service.url, '/v1/ingest/wide', batch(1000, wide), NDJSON);
    await send(
      service.url,
      '/v1/ingest/long',
      batch(5000, (n) => long(part * 5000 + n)),
      NDJSON,
    );
    await send(service.url, '/v1/ingest/named', gzipSync(batch(40, named)), { ...NDJSON, 'content-encoding': 'gzip' });
  }
}

export const QUERIES = [
  'long | summarize count() by message',
  'long | sort by message | take 50000',
  'long | join kind=inner (long) on host | take 50000',
  'long | join kind=leftouter (long) on message | count',
  'long | distinct message, n | take 50000',
  'long | summarize make_list(message)',
  'long | summarize make_set(message), make_list(message) by host',
  'long | extend t = strrep(message, 50) | summarize max(t), make_list(t)',
  'long | extend t = strcat(message, message, message) | sort by t | take 50000',
  'union * | take 50000',
  'union * | sort by message | take 50000',
  'search "lorem" | take 50000',
  'wide | take 50000',
  'wide | sort by field2 | take 50000',
  'wide | summarize arg_max(_time, *) by field2',
  'wide | make-series count(), dcount(field4) on _time from ago(1h) to now() step 1m by field2',
  'named | take 50000',
  'range x from 1 to 5000000 step 1 | summarize count() by hash_sha1(tostring(x)) | count',
  'range x from 1 to 5000000 step 1 | sort by hash_sha1(tostring(x)) | take 50000',
  'range x from 1 to 50000 step 1 | extend a = strrep("é", 5000), b = x',
];

const LINE = `{"n":1,"message":"${'m'.repeat(1000)}"}\n`;
/** Ingest bodies with their headers: large, packed, bombs, and text that becomes many values. */
export const BODIES: readonly (readonly [Buffer, Readonly<Record<string, string>>])[] = [
  [Buffer.from(LINE.repeat(9000)), NDJSON],
  [gzipSync(LINE.repeat(9900)), { ...NDJSON, 'content-encoding': 'gzip' }],
  [gzipSync('x'.repeat(200 * MIB)), { ...NDJSON, 'content-encoding': 'gzip' }],
  [Buffer.from(`[${'{},'.repeat(3_000_000)}{}]`), JSON_TYPE],
  [Buffer.from(`{"a":[${'[1],'.repeat(2_500_000)}1]}`), NDJSON],
  [Buffer.from(','.repeat(10 * MIB)), { 'content-type': 'text/csv' }],
];
