/** The table of transforms, and the targets that they are held against. */
import type { TransformRow } from './suite.ts';

const MB = 1e6;

export function renderTransforms(rows: readonly TransformRow[]): string {
  const cells = rows.map(({ name, text, target, cpuSecondsPerGiB, peakRssBytes }) => [
    name,
    text === undefined || text.includes('\n') ? '' : `\`${text.replaceAll('|', String.raw`\|`)}\``,
    cpuSecondsPerGiB.toFixed(2),
    target === undefined ? '' : `≤ ${target}`,
    target === undefined ? '' : cpuSecondsPerGiB <= target ? 'met' : '**missed**',
    `${(peakRssBytes / MB).toFixed(0)} MB`,
  ]);
  const head = ['transform', 'pipeline', 'CPU-s/GiB', 'target', '', 'peak RSS'];
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
