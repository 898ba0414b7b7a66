/** Lines under a source's configuration: the events as they are sent, and the counts. */
import type { Region } from '../../src/core/block.ts';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import { newStats, type SourceStats } from '../../src/core/source.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { loadShaping, shapeOf } from '../../src/sources/framing/line-shaping.ts';
import { createLines } from '../../src/sources/framing/grouped/grouped-lines.ts';
import type { Lines } from '../../src/sources/framing/lines.ts';
import { configOf, configWith } from '../config/reading.ts';

export const READ_AT_MS = Date.parse('2026-11-22T18:00:00.500Z');
const kernel = createKernel(32 * 1024 * 1024);
const slot = kernel.reserve(8 * 1024 * 1024);
/** Used again by each call. */
const regions: Region[] = [
  kernel.reserve(5 * 1024 * 1024),
  kernel.reserve(5 * 1024 * 1024),
  kernel.reserve(5 * 1024 * 1024),
];

export interface Made {
  readonly events: readonly Record<string, unknown>[];
  /** The same as text. */
  readonly lines: readonly string[];
  readonly stats: SourceStats;
}

export interface MakeOptions {
  /** Keys of the sink. */
  readonly sink?: string;
  readonly file?: string | undefined;
  readonly host?: string;
  /** Keys of the agent. */
  readonly agent?: string;
}

/** `source`: keys of a file source, as YAML. */
export async function make(source: string, input: string, options: MakeOptions = {}): Promise<Made> {
  const { text, stats } = (await createMaker(source, options))(Buffer.from(input));
  const events = text.trimEnd().split('\n');
  return { lines: events, events: events.map((event) => JSON.parse(event) as Record<string, unknown>), stats };
}

/** What makes the events of inputs, each as a stream of its own that ends with it. */
export async function createMaker(
  source: string,
  { sink = '', file, host, agent = '' }: MakeOptions = {},
): Promise<(input: Buffer) => { text: string; stats: SourceStats }> {
  const config = configOf(configWith({ source, sink, agent })).sources[0] as FileConfig;
  const shaping = await loadShaping(config);
  const template = kernel.compile(
    shapeOf(config, shaping, { ...(host === undefined ? {} : { host }), ...(file === undefined ? {} : { file }) }),
    undefined,
  );
  return (input) => {
    const stats = newStats();
    let reserved = 0;
    const reserve = (): Region => regions[reserved++]!;
    const lines = createLines({ rules: config, shaping, stats, reserve, clock: { now: () => READ_AT_MS } });
    const wrap = ({ window, start, end, single, ends }: NonNullable<ReturnType<Lines['next']>>): string => {
      const { written } = kernel.wrap(
        template,
        lines.readAtMs,
        window,
        start,
        end,
        slot,
        0,
        7_000_000,
        10_000,
        single?.marks,
        ends,
      );
      return slot.bytes.toString('utf8', 0, written);
    };
    const bytes = Buffer.concat([input, shaping.encoding.newline]);
    let text = '';
    for (let at = 0; at < bytes.length;) {
      const count = bytes.copy(lines.free(), 0, at);
      at += count;
      lines.commit(count);
      for (let block = lines.next(); block; block = lines.next()) text += wrap(block);
    }
    for (let block = lines.flush(); block; block = lines.flush()) text += wrap(block);
    return { text, stats };
  };
}
