/** What a source would do with a path, without running it: nothing is read, and nothing is written. */
import type { FileConfig } from './file-type.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { SourceContext } from '../../core/source.ts';
import type { FileExplanation } from '../common/explanation.ts';
import { createFileSource } from './source.ts';

export function explainAlone(
  config: FileConfig,
  path: string,
  { streams, privateFiles, log }: Pick<SourceContext, 'streams' | 'privateFiles' | 'log'>,
): FileExplanation {
  const lane = { accept: never };
  const reserve = (bytes: number) => ({ at: 0, bytes: Buffer.alloc(bytes) });
  const source = createFileSource(config, {
    streams,
    ...(privateFiles && { privateFiles }),
    log,
    lane,
    clock: systemClock,
    hostname: config.hostName,
    reserve,
    once: false,
  });
  return source.explain(path);
}

function never(): never {
  throw new Error('nothing is read where only an explanation was asked for');
}
