/** Makes the source that a configuration names. Each kind is loaded only when it is used. */
import type { LineConfig, SourceConfig } from '../../config/model.ts';
import type { Source, SourceContext } from '../../core/source.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { LineShaping } from '../../sources/framing/line-shaping.ts';

export async function createSource(config: SourceConfig, context: SourceContext, kernel: Kernel): Promise<Source> {
  switch (config.type) {
    case 'file':
      return (await import('../../sources/file/source.ts')).createFileSource(config, context, { shaping: await shapingOf(config) });
    case 'stdin': {
      const { createStdinSource } = await import('../../sources/stdin/stdin.ts');
      const { pipeOfStdin } = await import('../../sources/stdin/stdin-input.ts');
      return createStdinSource(config, context, { shaping: await shapingOf(config), pipe: pipeOfStdin() });
    }
    case 'syslog':
      return (await import('../../sources/syslog/source.ts')).createSyslogSource(config, context, kernel);
  }
}

async function shapingOf(config: LineConfig): Promise<LineShaping> {
  return (await import('../../sources/framing/line-shaping.ts')).loadShaping(config);
}

/** True where the source's bytes can be read again after a restart. */
export function isRereadable(config: SourceConfig): boolean {
  return config.type === 'file';
}
