/** The table of transforms, and the targets that they are held against. */
import type { TransformRow } from './suite.ts';

const MB = 1e6;

export function renderTransforms(rows: readonly TransformRow[]): string {
  const costOf = (name: string | undefined): number => rows.find((row) => row.name === name)?.cpuSecondsPerGiB ?? 0;
  const isJudged = ({ target, over, times }: TransformRow): boolean =>
    target !== undefined && [over, times].every((name) => name === undefined || costOf(name) > 0);
  const cells = rows.map((row) => {
    const { name, text, target = 0, over, times, cpuSecondsPerGiB, peakRssBytes } = row;
    const most = times === undefined ? target + costOf(over) : target * costOf(times);
    const beside = over === undefined ? '' : ` over ${over}`;
    return [
      name,
      text === undefined || text.includes('\n') ? '' : `\`${text.replaceAll('|', String.raw`\|`)}\``,
      cpuSecondsPerGiB.toFixed(2),
      isJudged(row) ? `≤ ${target}${times === undefined ? beside : ` × ${times}`}` : '',
      !isJudged(row) ? '' : cpuSecondsPerGiB <= most ? 'met' : '**missed**',
      `${(peakRssBytes / MB).toFixed(0)} MB`,
    ];
  });
  const head = ['transform', 'pipeline', 'CPU-s/GiB', 'target', '', 'peak RSS'];
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
