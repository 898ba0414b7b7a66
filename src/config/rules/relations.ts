/**
 * The rules that hold between keys: inputs and ids, ports, limits that depend on each other. They see drafts, so that
 * their problems are reported together with those of single keys; values that could not be read are not judged again.
 */
import { originFields } from '../fields/origin.ts';
import { addedOf } from '../../sources/common/source-fields.ts';
import { sourceTypeOf } from '../../sources/registry.ts';
import type { JsonValue } from '../../core/block.ts';
import { MAX_FIELDS_BYTES } from '../limits.ts';
import { MAX_FIELDS } from '../../core/limits.ts';
import type { Section } from '../fields/components.ts';
import type { Environment } from '../yaml/expand.ts';
import type { FieldDrafts } from '../fields/field.ts';
import { suggestKey } from '../nearest.ts';
import type { PathReport } from '../fields/path-report.ts';
import { quote } from '../quote.ts';
import { checkListeners } from './relations-listen.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';
import type { SinkDraft, AnySourceDraft, agentTable } from '../tables/schema.ts';

export function checkRelations(agent: FieldDrafts<typeof agentTable>, at: PathReport, env: Environment): void {
  const { sources, sinks } = agent;
  if (sources && sinks) {
    for (const sink of sinks.components) checkInputs(sink, sources, at);
    checkRouting(sources, sinks, at);
  }
  for (const sink of sinks?.components ?? []) sinkTypeOf(sink).checkKeys?.(sink.draft, sink.path, at, env);
  for (const source of sources?.components ?? []) sourceTypeOf(source).checkKeys?.(source, at);
  if (sources && sinks) checkTests(agent, sources, sinks, at);
  checkOnlyInputs(sources?.components ?? [], at);
  checkListeners(agent, sources?.components ?? [], at);
  checkFields(agent, sources?.components ?? [], at);
}

function checkInputs({ path, draft }: SinkDraft, sources: Section<AnySourceDraft>, at: PathReport): void {
  const seen = new Set<string>();
  for (const [index, input] of (draft.inputs ?? []).entries()) {
    if (input === undefined) continue;
    checkId('source', input, sources.ids, `${path}.inputs.${index}`, at);
    if (sources.ids.has(input) && seen.has(input))
      at.atValue(`${path}.inputs.${index}`, `\`${input}\` stands in \`inputs\` twice`, 'remove one');
    seen.add(input);
  }
}

function checkTests(
  { tests }: FieldDrafts<typeof agentTable>,
  sources: Section<AnySourceDraft>,
  sinks: Section<SinkDraft>,
  at: PathReport,
): void {
  for (const [index, test] of (tests ?? []).entries()) {
    checkId('source', test?.source, sources.ids, `tests.${index}.source`, at);
    checkId('sink', test?.sink, sinks.ids, `tests.${index}.sink`, at);
  }
}

/** An id that may be absent. */
function checkId(
  what: 'source' | 'sink',
  id: string | undefined,
  ids: ReadonlySet<string>,
  path: string,
  at: PathReport,
): void {
  if (id === undefined || ids.has(id)) return;
  at.atValue(path, `there is no ${what} \`${quote(id)}\``, suggestKey(id, ids));
}

/** Reported only where the sinks' inputs are all known: an unreadable sink may be the one that takes it. */
function checkRouting(sources: Section<AnySourceDraft>, sinks: Section<SinkDraft>, at: PathReport): void {
  if (sinks.components.length === 0 || sinks.components.length < sinks.ids.size) return;
  if (sinks.components.some(({ draft }) => draft.inputs === undefined)) return;
  const fed = new Set(sinks.components.flatMap(({ draft }) => [...(draft.inputs ?? [])]));
  // A misspelt input is reported in its place, and is very likely meant for one of these.
  if ([...fed].some((id) => id === undefined || !sources.ids.has(id))) return;
  for (const { id, path } of sources.components) {
    if (!fed.has(id))
      at.atKey(path, `the source \`${quote(id)}\` feeds no sink`, "add it to a sink's `inputs`, or remove it");
  }
}

function checkOnlyInputs(sources: readonly AnySourceDraft[], at: PathReport): void {
  const first = new Map<string, string>();
  for (const { type, id, path } of sources) {
    const input = sourceTypeOf({ type }).onlyInput;
    if (input === undefined) continue;
    const other = first.get(input);
    if (other === undefined) first.set(input, id);
    else
      at.atKey(
        path,
        `there is a second ${type} source beside \`${quote(other)}\``,
        `keep one: ${input} can be read once`,
      );
  }
}

function checkFields(agent: FieldDrafts<typeof agentTable>, sources: readonly AnySourceDraft[], at: PathReport): void {
  const shared = agent.fields ?? {};
  if (tellTooMany(shared, 'fields', '', at)) return;
  for (const { type, path, draft } of sources) {
    const fields: Record<string, JsonValue> = { ...shared, ...addedOf(draft.fields) };
    const ofOrigin = Object.keys(originFields(draft.origin, { host: '', file: '' }));
    for (const name of [...ofOrigin, ...(sourceTypeOf({ type }).addedFields?.(draft) ?? [])]) fields[name] ??= '';
    tellTooMany(fields, `${path}.fields`, ", the agent's included,", at);
  }
}

function tellTooMany(
  fields: Readonly<Record<string, JsonValue>>,
  path: string,
  whose: string,
  at: PathReport,
): boolean {
  const count = Object.keys(fields).length;
  const bytes = Buffer.byteLength(JSON.stringify(fields));
  if (count > MAX_FIELDS)
    at.atKey(path, `${count} fields${whose} are added to every event`, `add at most ${MAX_FIELDS}, or nest them`);
  if (bytes > MAX_FIELDS_BYTES)
    at.atKey(
      path,
      `the fields added to every event${whose} take ${bytes} bytes`,
      `shorten them to ${MAX_FIELDS_BYTES}`,
    );
  return count > MAX_FIELDS || bytes > MAX_FIELDS_BYTES;
}
