/** The table of transforms, and the targets that they are held against. */
import { memoryText } from '../measure.ts';
import type { TransformRow } from './suite.ts';

export function renderTransforms(rows: readonly TransformRow[]): string {
  const costOf = (name: string | undefined): number => rows.find((row) => row.name === name)?.cpuSecondsPerGiB ?? 0;
  const isJudged = ({ target, over, times }: TransformRow): boolean =>
    target !== undefined && [over, times].every((name) => name === undefined || costOf(name) > 0);
  const cells = rows.map((row) => {
    const { name, text, target = 0, over, times, cpuSecondsPerGiB } = row;
    const most = times === undefined ? target + costOf(over) : target * costOf(times);
    const beside = over === undefined ? '' : ` over ${over}`;
    return [
      name,
      text === undefined || text.includes('\n') ? '' : `\`${text.replaceAll('|', String.raw`\|`)}\``,
      cpuSecondsPerGiB.toFixed(2),
      isJudged(row) ? `≤ ${target}${times === undefined ? beside : ` × ${times}`}` : '',
      !isJudged(row) ? '' : cpuSecondsPerGiB <= most ? 'met' : '**missed**',
      memoryText(row),
    ];
  });
  const head = ['transform', 'pipeline', 'CPU-s/GiB', 'target', '', 'peak RSS and private'];
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
