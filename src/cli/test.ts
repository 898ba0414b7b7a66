/** `tailrace test`: runs the `tests:` of the configuration through the sources and transforms that they name. Sends nothing. */
import { Readable } from 'node:stream';
import { styleText, isDeepStrictEqual } from 'node:util';
import { readRunnable } from '../agent/build/check-transforms.ts';
import { Previewer } from '../agent/preview/previewer.ts';
import { formatProblem } from '../config/config-error.ts';
import { findConfig } from '../config/load/find.ts';
import { originFields } from '../config/fields/origin.ts';
import type { PresetTestConfig, TestConfig } from '../config/common/test-fields.ts';
import type { Config } from '../config/model.ts';
import { printable, quote } from '../config/quote.ts';
import { TailraceError } from '../core/errors.ts';
import { readsLines } from '../sources/registry.ts';
import { silentLog } from '../core/log.ts';
import { write } from './client/output/print.ts';
import { plural, say } from './output/say.ts';
import type { ConfigArguments } from './agent/config-arguments.ts';
import { presetTarget, type PreviewTarget } from './preview/preset-target.ts';
import type { JsonValue } from '../core/block.ts';

interface TestResult extends Comparison {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Whose test it is. */
  readonly source?: string;
  readonly preset?: string;
  readonly expected: readonly Event[];
  /** Why events are not sent although no transform filters them. */
  readonly unsent: readonly string[];
}

/** Resolves with 0 where all tests pass, else 1. Throws `ConfigError`, and `TailraceError` where no source has tests. */
export async function test(args: ConfigArguments): Promise<number> {
  const file = findConfig(args.config);
  const { config, locate, presets } = await readRunnable(file, process.env, { leavesSecrets: true });
  if (config.tests.length + config.presetTests.length === 0)
    throw new TailraceError('E_NO_TESTS', `"${file}" has no tests`, {
      fix: "add some: tests: [{source: app, input: ['…'], expect: [{…}]}]",
    });
  const results: TestResult[] = [];
  const run = async (
    target: PreviewTarget,
    each: TestConfig | PresetTestConfig,
    path: string,
  ): Promise<Omit<TestResult, 'source' | 'preset'>> => {
    const { events, unsent } = await eventsOf(target, each);
    const { expect: expected } = each;
    return { ...locate(path), expected, unsent, ...compareEvents(expected, events, ignoredFields(target)) };
  };
  for (const [index, each] of config.tests.entries())
    results.push({ source: each.source, ...(await run(targetOf(config, each), each, `tests.${index}`)) });
  for (const each of config.presetTests)
    results.push({ preset: each.preset, ...(await run(inUtc(presetTarget(each.preset, presets)), each, each.path)) });
  const failed = results.filter(({ ok }) => !ok);
  if (args.json) await write(`${JSON.stringify({ ok: failed.length === 0, tests: results })}\n`);
  else {
    for (const result of failed) await write(toText(result));
    const count = plural(results.length, 'test');
    if (failed.length > 0) say(`${failed.length} of ${count} failed`);
    else await write(`${count} passed\n`);
  }
  return failed.length === 0 ? 0 : 1;
}

function targetOf(config: Config, { source: sourceId, sink: sinkId }: TestConfig): PreviewTarget {
  const source = config.sources.find(({ id }) => id === sourceId);
  const sinks = config.sinks.filter(({ id, inputs }) =>
    sinkId === undefined ? inputs.includes(sourceId) : id === sinkId,
  );
  const sink = sinks[0] ?? config.sinks[0];
  if (!source || !sink) throw new Error(`the test of "${sourceId}" was not checked`);
  return { config, source, sink };
}

/** The tests of a preset give the same on every machine. */
function inUtc(target: PreviewTarget): PreviewTarget {
  const { source } = target;
  if (!readsLines(source) || source.time.kind !== 'auto') return target;
  return { ...target, source: { ...source, time: { kind: 'auto', timezone: 'UTC' } } };
}

async function eventsOf(
  { config, source, sink }: PreviewTarget,
  { file, input }: Pick<TestConfig, 'file' | 'input'>,
): Promise<Pick<TestResult, 'unsent'> & { readonly events: Event[] }> {
  const events: Event[] = [];
  const unsent: string[] = [];
  const previewer = await Previewer.create({
    config,
    source,
    sink,
    log: silentLog,
    record: ({ sent, refusals, isDropped }) => {
      events.push(...sent.map((text) => JSON.parse(text) as Event));
      unsent.push(
        ...refusals.map((reason) => `dead letter: ${reason}`),
        ...(isDropped ? ['dropped: its transform failed'] : []),
      );
    },
  });
  try {
    await previewer.read(file, Readable.from([Buffer.from(input.map((line) => `${line}\n`).join(''))]));
  } finally {
    await previewer.close();
  }
  return { events, unsent };
}

/** What the agent adds to every event: it need not be expected. */
function ignoredFields({ source }: PreviewTarget): ReadonlySet<string> {
  return new Set([
    '_time',
    'host',
    'file',
    'peer',
    ...Object.keys({ ...originFields(source.origin, { host: '', file: '' }), ...source.fields }),
  ]);
}

function toText({ file, line, column, source, preset, differences, expected, found, unsent }: TestResult): string {
  const paint = (style: 'red' | 'green' | 'bold', text: string) => styleText(style, text, { stream: process.stdout });
  const title = formatProblem({
    file,
    line,
    column,
    message: `the test of ${preset === undefined ? 'source' : 'preset'} "${quote(preset ?? source)}" fails (- expected, + found)`,
  });
  const lines = [paint('bold', printable(title))];
  for (const [index, { event, field }] of differences.entries()) {
    if (differences[index - 1]?.event !== event) lines.push(`  event ${event + 1}`);
    const [wanted, got] = [valueAt(expected[event], field), valueAt(found[event], field)];
    if (wanted !== undefined) lines.push(paint('red', `  - ${printable(wanted)}`));
    if (got !== undefined) lines.push(paint('green', `  + ${printable(got)}`));
  }
  for (const reason of unsent) lines.push(paint('red', `  ✗ ${printable(reason)}`));
  return `${lines.join('\n')}\n`;
}

function valueAt(event: Event | undefined, field: string | undefined): string | undefined {
  if (field === undefined) return JSON.stringify(event);
  return event && Object.hasOwn(event, field) ? `${quote(field)}: ${JSON.stringify(event[field])}` : undefined;
}

/** Events that a test expects beside those that were found. */
type Event = Readonly<Record<string, JsonValue>>;

/** An event that differs in one field, or as a whole where its counterpart is missing. `event` counts from 0. */
interface Difference {
  readonly event: number;
  readonly field?: string;
}

interface Comparison {
  readonly ok: boolean;
  /** The events without the fields that were ignored. */
  readonly found: readonly Event[];
  readonly differences: readonly Difference[];
}

/** `ignored` fields count only where they are expected. */
function compareEvents(expected: readonly Event[], events: readonly Event[], ignored: ReadonlySet<string>): Comparison {
  const found = events.map((event, index) =>
    Object.fromEntries(
      Object.entries(event).filter(([name]) => !ignored.has(name) || Object.hasOwn(expected[index] ?? {}, name)),
    ),
  );
  const differences: Difference[] = [];
  for (let event = 0; event < Math.max(expected.length, found.length); event++) {
    const [wanted, got] = [expected[event], found[event]];
    if (!wanted || !got) {
      differences.push({ event });
      continue;
    }
    const names = new Set([...Object.keys(wanted), ...Object.keys(got)]);
    for (const field of names) {
      const isSame =
        Object.hasOwn(wanted, field) === Object.hasOwn(got, field) && isDeepStrictEqual(wanted[field], got[field]);
      if (!isSame) differences.push({ event, field });
    }
  }
  return { ok: differences.length === 0, found, differences };
}
