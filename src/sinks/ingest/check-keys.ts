/**
 * The rules between the keys of an ingest sink. They see drafts, so that their problems are reported together with those of single keys;
 * values that could not be read are not judged again.
 */
import { parseProxy, proxyVariableFor } from '../../config/connect/proxy.ts';
import { checkZone } from '../../config/fields/check-zone.ts';
import type { FieldDrafts } from '../../config/fields/field.ts';
import type { PathReport } from '../../config/fields/path-report.ts';
import { formatDuration, formatSize } from '../../config/fields/units.ts';
import { MAX_LABELS_BYTES } from '../../config/limits.ts';
import { quote } from '../../config/quote.ts';
import type { Environment } from '../../config/yaml/expand.ts';
import { MAX_CSV_COLUMNS } from '../../core/limits.ts';
import { defaultBatchBytes, divideMemory, memoryFor } from '../../core/sink-memory.ts';
import type { ingestFields } from './fields.ts';

type IngestDraft = FieldDrafts<typeof ingestFields>;

export function checkKeys(draft: IngestDraft, path: string, at: PathReport, env: Environment): void {
  checkLimits(draft, path, at);
  checkForm(draft, path, at);
  checkWay(draft, path, at, env);
  warnOfAddresses(draft, path, at);
  warnOfSecrets(path, at);
  warnOfTls(draft, path, at);
  warnOfConcurrency(draft, path, at);
  checkZone(`${path}.timestamp_format`, draft.timestamp_format, at);
}

function checkLimits(draft: IngestDraft, path: string, at: PathReport): void {
  if (at.has(`${path}.token`) && at.has(`${path}.token_file`))
    at.atKey(`${path}.token_file`, '`token` and `token_file` are both given', 'keep one of them');
  if (at.has(`${path}.timestamp_format`) && !at.has(`${path}.timestamp_field`)) {
    at.atKey(
      `${path}.timestamp_format`,
      '`timestamp_format` is given without `timestamp_field`',
      'add `timestamp_field`, or remove it',
    );
  }
  const [batch, memory] = [draft.batch?.max_bytes, draft.buffer?.max_memory];
  if (batch !== undefined && memory !== undefined && batch > memory / 2) {
    const fix = `write at most ${formatSize(Math.floor(memory / 2))}, or raise \`buffer.max_memory\` to ${formatSize(batch * 2)}`;
    at.atValue(
      `${path}.batch.max_bytes`,
      `\`batch.max_bytes\` (${formatSize(batch)}) is more than half of \`buffer.max_memory\` (${formatSize(memory)})`,
      fix,
    );
  }
  const [first, last] = [draft.retry?.initial_backoff, draft.retry?.max_backoff];
  if (first !== undefined && last !== undefined && first > last) {
    const message = `\`initial_backoff\` (${formatDuration(first)}) is longer than \`max_backoff\` (${formatDuration(last)})`;
    at.atValue(`${path}.retry.initial_backoff`, message, `write at most ${formatDuration(last)}`);
  }
}

/** How events are written: columns and labels. */
function checkForm(draft: IngestDraft, path: string, at: PathReport): void {
  const { columns, extra, header } = draft.csv ?? {};
  const seen = new Set<string | undefined>(extra === 'drop' ? [] : [extra]);
  for (const [index, column] of (columns ?? []).entries()) {
    if (column === undefined) continue;
    const place = `${path}.csv.columns.${index}`;
    if (seen.has(column)) {
      const isExtra = column === extra;
      at.atValue(
        place,
        `the column \`${quote(column)}\` stands ${isExtra ? 'also in `extra`' : 'there twice'}`,
        isExtra ? 'give `extra` another name' : 'remove one',
      );
    } else if (header === 'header' && !/^[\x20-\x7e]+$/.test(column.replaceAll(',', '\n'))) {
      at.atValue(
        place,
        `the column \`${quote(column)}\` cannot stand in a header`,
        'use ASCII without commas, or `header: line`',
      );
    }
    seen.add(column);
  }
  if ((columns?.length ?? 0) >= MAX_CSV_COLUMNS)
    at.atKey(`${path}.csv.columns`, `there are ${columns?.length} columns`, `name fewer than ${MAX_CSV_COLUMNS}`);
  if (header === 'header' && columns === undefined && !at.has(`${path}.csv.columns`)) {
    at.atValue(
      `${path}.csv.header`,
      '`header: header` is given without `columns`',
      'name the columns, or write `header: line`',
    );
  }
  const labels = JSON.stringify(draft.labels ?? {});
  // Each unit beyond ASCII becomes six bytes.
  const bytes = labels.length + 5 * (labels.match(/[\u007f-\uffff]/g)?.length ?? 0);
  if (bytes > MAX_LABELS_BYTES)
    at.atKey(
      `${path}.labels`,
      `the labels take ${bytes} bytes of a header`,
      `shorten them to ${MAX_LABELS_BYTES}, or use \`fields\``,
    );
}

/** How the service is reached: certificates and proxies. */
function checkWay(draft: IngestDraft, path: string, at: PathReport, env: Environment): void {
  for (const [given, missing] of [
    ['cert', 'key'],
    ['key', 'cert'],
  ] as const) {
    if (at.has(`${path}.tls.${given}`) && !at.has(`${path}.tls.${missing}`))
      at.atKey(
        `${path}.tls.${given}`,
        `\`tls.${given}\` is given without \`tls.${missing}\``,
        `add \`${missing}\`, or remove it`,
      );
  }
  if (at.has(`${path}.proxy`)) return;
  for (const key of ['url', 'edge_url'] as const) {
    const address = draft[key];
    const name = address === undefined ? undefined : proxyVariableFor(address, env);
    const proxy = name === undefined ? undefined : parseProxy(env[name] ?? '');
    // The value may hold a password.
    if (proxy && !('value' in proxy))
      at.atValue(`${path}.${key}`, `the variable ${name} ${proxy.message}`, `${proxy.fix}, or set \`proxy\``);
  }
}

function warnOfAddresses(draft: IngestDraft, path: string, at: PathReport): void {
  for (const key of ['url', 'edge_url'] as const) {
    const address = draft[key] ?? '';
    const endpoint = /\/v[12](?=\/|$)/.exec(address);
    if (endpoint === null) continue;
    const message = `\`${key}\` has \`${address.slice(endpoint.index)}\` behind the service's address, which the agent adds itself`;
    const fix = `write \`${address.slice(0, endpoint.index)}\``;
    at.warnAtValue(`${path}.${key}`, message, fix);
  }
}

function warnOfSecrets(path: string, at: PathReport): void {
  const file = at.publicFileOf(`${path}.token`);
  if (file === undefined) return;
  const fix = `run \`chmod o-r ${file}\`, or use \`token_file\` or a variable`;
  at.warnAtValue(`${path}.token`, 'the token can be read by every user of this machine', fix);
}

function warnOfTls(draft: IngestDraft, path: string, at: PathReport): void {
  const addresses = [draft.url, draft.edge_url].filter((address) => address !== undefined);
  if (!at.has(`${path}.tls`) || addresses.some((address) => address.startsWith('https:'))) return;
  if (Object.values(draft.tls ?? {}).every((file) => file === undefined)) return;
  const fix = 'write the address with `https://`, or remove `tls`';
  at.warnAtKey(`${path}.tls`, '`tls` has no effect: events and token are sent in the clear', fix);
}

function warnOfConcurrency(draft: IngestDraft, path: string, at: PathReport): void {
  const [concurrency, memory] = [draft.concurrency, draft.buffer?.max_memory];
  if (concurrency === undefined || memory === undefined) return;
  const batch = draft.batch?.max_bytes ?? defaultBatchBytes(memory);
  const { requests } = divideMemory(memory, batch, concurrency);
  if (requests === concurrency) return;
  const message = `only ${requests} of the ${concurrency} requests of \`concurrency\` fit into \`buffer.max_memory\` (${formatSize(memory)})`;
  const fix = `raise \`buffer.max_memory\` to ${formatSize(memoryFor(concurrency, batch))}, or lower \`concurrency\` or \`batch.max_bytes\``;
  at.warnAtKey(`${path}.concurrency`, message, fix);
}
