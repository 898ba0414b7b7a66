/**
 * The rules that hold between keys: inputs and ids, ports, limits that depend on each other. They see drafts, so that
 * their problems are reported together with those of single keys; values that could not be read are not judged again.
 */
import type { JsonValue } from '../../core/block.ts';
import { MAX_FIELDS_BYTES, MAX_LABELS_BYTES } from '../limits.ts';
import { MAX_CSV_COLUMNS, MAX_FIELDS } from '../../core/limits.ts';
import type { Section } from '../fields/components.ts';
import type { Environment } from '../yaml/expand.ts';
import type { Draft } from '../fields/field.ts';
import { suggestKey } from '../nearest.ts';
import type { PathReport } from './path-report.ts';
import { parseProxy, proxyVariableFor } from '../connect/proxy.ts';
import { quote } from '../quote.ts';
import { checkLines } from './relations-lines.ts';
import { checkListeners } from './relations-listen.ts';
import type { IngestDraft, SinkDraft, SourceDraft, agentTable } from '../tables/schema.ts';
import { formatDuration, formatSize } from '../fields/units.ts';

export function checkRelations(agent: Draft<typeof agentTable>, at: PathReport, env: Environment): void {
  const { sources, sinks } = agent;
  if (sources && sinks) {
    for (const sink of sinks.components) checkInputs(sink, sources, at);
    checkRouting(sources, sinks, at);
  }
  for (const sink of sinks?.components ?? []) {
    if (sink.type !== 'ingest') continue;
    checkSink(sink, at);
    checkForm(sink, at);
    checkWay(sink, at, env);
  }
  for (const source of sources?.components ?? []) checkLines(source, at);
  if (sources && sinks) checkTests(agent, sources, sinks, at);
  checkStdin(sources?.components ?? [], at);
  checkListeners(agent, sources?.components ?? [], at);
  checkFields(agent, sources?.components ?? [], at);
}

function checkInputs({ path, draft }: SinkDraft, sources: Section<SourceDraft>, at: PathReport): void {
  const seen = new Set<string>();
  for (const [index, input] of (draft.inputs ?? []).entries()) {
    if (input === undefined) continue;
    checkId('source', input, sources.ids, `${path}.inputs.${index}`, at);
    if (sources.ids.has(input) && seen.has(input))
      at.atValue(`${path}.inputs.${index}`, `\`${input}\` stands in \`inputs\` twice`, 'remove one');
    seen.add(input);
  }
}

function checkTests({ tests }: Draft<typeof agentTable>, sources: Section<SourceDraft>, sinks: Section<SinkDraft>, at: PathReport): void {
  for (const [index, test] of (tests ?? []).entries()) {
    checkId('source', test?.source, sources.ids, `tests.${index}.source`, at);
    checkId('sink', test?.sink, sinks.ids, `tests.${index}.sink`, at);
  }
}

/** An id that may be absent. */
function checkId(what: 'source' | 'sink', id: string | undefined, ids: ReadonlySet<string>, path: string, at: PathReport): void {
  if (id === undefined || ids.has(id)) return;
  at.atValue(path, `there is no ${what} \`${quote(id)}\``, suggestKey(id, ids));
}

function checkSink({ path, draft }: IngestDraft, at: PathReport): void {
  if (at.has(`${path}.token`) && at.has(`${path}.token_file`))
    at.atKey(`${path}.token_file`, '`token` and `token_file` are both given', 'keep one of them');
  if (at.has(`${path}.timestamp_format`) && !at.has(`${path}.timestamp_field`)) {
    at.atKey(`${path}.timestamp_format`, '`timestamp_format` is given without `timestamp_field`', 'add `timestamp_field`, or remove it');
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
function checkForm({ path, draft }: IngestDraft, at: PathReport): void {
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
      at.atValue(place, `the column \`${quote(column)}\` cannot stand in a header`, 'use ASCII without commas, or `header: line`');
    }
    seen.add(column);
  }
  if ((columns?.length ?? 0) >= MAX_CSV_COLUMNS)
    at.atKey(`${path}.csv.columns`, `there are ${columns?.length} columns`, `name fewer than ${MAX_CSV_COLUMNS}`);
  if (header === 'header' && columns === undefined && !at.has(`${path}.csv.columns`)) {
    at.atValue(`${path}.csv.header`, '`header: header` is given without `columns`', 'name the columns, or write `header: line`');
  }
  const labels = JSON.stringify(draft.labels ?? {});
  // Each unit beyond ASCII becomes six bytes.
  const bytes = labels.length + 5 * (labels.match(/[\u007f-\uffff]/g)?.length ?? 0);
  if (bytes > MAX_LABELS_BYTES)
    at.atKey(`${path}.labels`, `the labels take ${bytes} bytes of a header`, `shorten them to ${MAX_LABELS_BYTES}, or use \`fields\``);
}

/** How the service is reached: certificates and proxies. */
function checkWay({ path, draft }: IngestDraft, at: PathReport, env: Environment): void {
  for (const [given, missing] of [
    ['cert', 'key'],
    ['key', 'cert'],
  ] as const) {
    if (at.has(`${path}.tls.${given}`) && !at.has(`${path}.tls.${missing}`))
      at.atKey(`${path}.tls.${given}`, `\`tls.${given}\` is given without \`tls.${missing}\``, `add \`${missing}\`, or remove it`);
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

/** Said only where the sinks' inputs are all known: a sink that could not be read may be the one that takes it. */
function checkRouting(sources: Section<SourceDraft>, sinks: Section<SinkDraft>, at: PathReport): void {
  if (sinks.components.length === 0 || sinks.components.length < sinks.ids.size) return;
  if (sinks.components.some(({ draft }) => draft.inputs === undefined)) return;
  const fed = new Set(sinks.components.flatMap(({ draft }) => [...(draft.inputs ?? [])]));
  // A misspelt input is reported where it stands, and is very likely meant for one of these.
  if ([...fed].some((id) => id === undefined || !sources.ids.has(id))) return;
  for (const { id, path } of sources.components) {
    if (!fed.has(id)) at.atKey(path, `the source \`${quote(id)}\` feeds no sink`, "add it to a sink's `inputs`, or remove it");
  }
}

function checkStdin(sources: readonly SourceDraft[], at: PathReport): void {
  const [first, ...more] = sources.filter(({ type }) => type === 'stdin');
  for (const { path } of more)
    at.atKey(path, `there is a second stdin source beside \`${quote(first?.id)}\``, 'keep one: standard input can be read once');
}

/** Formats that the kernel makes events of. */
const PLAIN_FORMATS: ReadonlySet<string> = new Set(['auto', 'text', 'json']);

function checkFields(agent: Draft<typeof agentTable>, sources: readonly SourceDraft[], at: PathReport): void {
  const shared = agent.fields ?? {};
  if (tellTooMany(shared, 'fields', '', at)) return;
  for (const { type, path, draft } of sources) {
    const fields: Record<string, JsonValue> = { ...shared, ...draft.fields };
    const hasParser =
      type !== 'syslog' &&
      (draft.formats !== undefined || draft.parse_json === true || (draft.format !== undefined && !PLAIN_FORMATS.has(draft.format)));
    // There `host` and `file` are added in the same way.
    if (type === 'file')
      for (const [, name = ''] of (draft.path_fields ?? []).join(' ').matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)) fields[name] ??= '';
    if (hasParser) Object.assign(fields, { host: fields['host'] ?? '', file: fields['file'] ?? '' });
    tellTooMany(fields, `${path}.fields`, ", the agent's included,", at);
  }
}

function tellTooMany(fields: Readonly<Record<string, JsonValue>>, path: string, whose: string, at: PathReport): boolean {
  const count = Object.keys(fields).length;
  const bytes = Buffer.byteLength(JSON.stringify(fields));
  if (count > MAX_FIELDS) at.atKey(path, `${count} fields${whose} are added to every event`, `add at most ${MAX_FIELDS}, or nest them`);
  if (bytes > MAX_FIELDS_BYTES)
    at.atKey(path, `the fields added to every event${whose} take ${bytes} bytes`, `shorten them to ${MAX_FIELDS_BYTES}`);
  return count > MAX_FIELDS || bytes > MAX_FIELDS_BYTES;
}
