/** Reads files and standard input as a source of lines would. */
import { systemClock } from '../../core/time/clock.ts';
import type { SourceStats } from '../../core/source.ts';
import { NO_STREAMS } from '../../core/stream.ts';
import type { LineConfig } from '../common/line-fields.ts';
import type { PreviewReader, PreviewTools } from '../common/source-type.ts';
import { findBom } from '../framing/byte-window.ts';
import { loadShaping, shapeOf } from '../framing/line-shaping.ts';
import { createStdinSource } from './stdin.ts';

/** `originOf`: fields of wrapped lines that the path gives them. */
export async function createLinePreview(
  config: LineConfig,
  { lane, log, restart }: PreviewTools,
  originOf: (path: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<PreviewReader> {
  const shaping = await loadShaping(config);
  const stats: SourceStats[] = [];
  let { encoding } = shaping;
  return {
    stats,
    async read(input, path) {
      const host = config.hostName;
      const context = {
        lane,
        log,
        streams: NO_STREAMS,
        clock: systemClock,
        hostname: host,
        reserve: restart(),
        once: true,
      };
      const shape = shapeOf(config, shaping, { host, ...(path === undefined ? {} : originOf(path)) });
      const reader = createStdinSource(config, context, { shaping, shape, ...(input ? { input } : {}) });
      stats.push(reader.stats);
      await reader.open();
      await reader.run();
    },
    textOf({ input, offset }) {
      const mark = offset === 0 ? findBom(input) : undefined;
      if (offset === 0) encoding = mark?.encoding ?? shaping.encoding;
      return encoding.decode(input.subarray(mark?.bytes.length ?? 0)).replace(/\r?\n$/, '');
    },
  };
}
