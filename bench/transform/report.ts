/** The table of transforms, and the targets that they are held against. */
import type { TransformRow } from './suite.ts';

const MB = 1e6;

export function renderTransforms(rows: readonly TransformRow[]): string {
  const costOf = (name: string | undefined): number => rows.find((row) => row.name === name)?.cpuSecondsPerGiB ?? 0;
  const isJudged = ({ target, over }: TransformRow): boolean => target !== undefined && (over === undefined || costOf(over) > 0);
  const cells = rows.map((row) => {
    const { name, text, target = 0, over, cpuSecondsPerGiB, peakRssBytes } = row;
    return [
      name,
      text === undefined || text.includes('\n') ? '' : `\`${text.replaceAll('|', String.raw`\|`)}\``,
      cpuSecondsPerGiB.toFixed(2),
      isJudged(row) ? `≤ ${target}${over === undefined ? '' : ` over ${over}`}` : '',
      !isJudged(row) ? '' : cpuSecondsPerGiB <= target + costOf(over) ? 'met' : '**missed**',
      `${(peakRssBytes / MB).toFixed(0)} MB`,
    ];
  });
  const head = ['transform', 'pipeline', 'CPU-s/GiB', 'target', '', 'peak RSS'];
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
