/** What becomes of one input by each of several pipelines: sources, parsers and kernel are the real ones, and run once. */
import { Readable } from 'node:stream';
import { shapeChunk } from '../../../src/batcher/fill/shape-chunk.ts';
import { loadConfigText } from '../../../src/config/load/load.ts';
import { readsLines, sourceTypeOf } from '../../../src/sources/registry.ts';
import type { Block, Lane, Region } from '../../../src/core/block.ts';
import { silentLog } from '../../../src/core/log.ts';
import { NO_STREAMS } from '../../../src/core/stream.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import { createShaper } from '../../../src/shaping/shaper.ts';
import { compileTransform } from '../../../src/shaping/transforms.ts';
import { loadShaping } from '../../../src/sources/framing/line-shaping.ts';
import { createStdinSource } from '../../../src/sources/stdin/stdin.ts';

const MIB = 1024 * 1024;
const kernel = createKernel(64 * MIB);
const scratch = kernel.reserve(MIB);

export interface WayResult {
  readonly sent: string;
  readonly withheld: readonly { readonly reason: string; readonly text: string }[];
  /** Counted for each pipeline on its own. */
  readonly dropped: number;
}

export type OnError = 'keep' | 'dead_letter' | 'drop';

/** What becomes of blocks by each of several lists of pipelines, which run one after another. */
export interface Ways {
  readonly results: readonly WayResult[];
  readonly lane: Lane;
  /** In the kernel's memory. */
  readonly reserve: (bytes: number) => Region;
  readonly release: () => void;
}

export async function createWays(pipelines: readonly (readonly string[])[], onError?: OnError): Promise<Ways> {
  const shapers = await Promise.all(
    pipelines.map(async (texts) => {
      const compiled = await Promise.all(
        texts.map((text) => compileTransform({ kind: 'pipeline', text, path: 'test', onError } as never)),
      );
      return createShaper(compiled.map((each) => each.createStage({ failed() {} })));
    }),
  );
  const results = shapers.map(() => ({ sent: '', withheld: [] as { reason: string; text: string }[], dropped: 0 }));
  const regions: Region[] = [];
  const lane: Lane = {
    async accept(block: Block) {
      const template = kernel.compile(block.shape, undefined);
      for (const [n, shaper] of shapers.entries()) {
        for (let start = block.start; start < block.end;) {
          const chunk = await shapeChunk({ kernel, scratch }, template, shaper, 'app', block, start, block.end);
          results[n]!.sent += chunk.shaped.bytes.toString();
          results[n]!.withheld.push(...chunk.shaped.withheld);
          results[n]!.dropped += chunk.shaped.dispositions.filter((place) => place === 2).length;
          start = chunk.end;
        }
      }
    },
  };
  const reserve = (bytes: number): Region => {
    const region = kernel.reserve(bytes);
    regions.push(region);
    return region;
  };
  return { results, lane, reserve, release: () => regions.splice(0).forEach((region) => kernel.release(region)) };
}

/** `source`: the source in flow style, as written after `app:`. */
export async function resultsOf(
  source: string,
  pipelines: readonly (readonly string[])[],
  input: string | Buffer,
  onError?: OnError,
): Promise<WayResult[]> {
  const type = source.startsWith('type:') ? '' : 'type: stdin, ';
  const config = loadConfigText(
    `
data_dir: /tmp/none
sources: {app: {${type}${source}, transform: "extend a = 1"}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:9", token: x, dataset: logs}}
`,
    {},
  );
  const app = config.sources[0]!;
  const { results, lane, reserve, release } = await createWays(pipelines, onError);
  const readable = Readable.from([Buffer.from(input)]);
  if (readsLines(app)) {
    const context = {
      lane,
      streams: NO_STREAMS,
      clock: systemClock,
      log: silentLog,
      hostname: 'host',
      reserve,
      once: true,
    };
    const reader = createStdinSource(app, context, { shaping: await loadShaping(app), input: readable });
    await reader.open();
    await reader.run();
  } else {
    const reader = await sourceTypeOf(app).preview?.(app, { kernel, lane, log: silentLog, restart: () => reserve });
    await reader?.read(readable);
  }
  release();
  return [...results];
}
