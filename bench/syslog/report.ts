/** The table of syslog, and the targets it is held against. */
import { memoryText } from '../measure.ts';
import type { SyslogRow } from './suite.ts';
import { UDP_RATE } from './suite.ts';

const MOST = { tcp: 1.5, udp: 4 };

export function renderSyslog(rows: readonly SyslogRow[]): string {
  const cells = rows.map((row) => [
    row.transport.toUpperCase(),
    row.program,
    row.cpuSecondsPerMillion.toFixed(2),
    row.lost === 0
      ? '0'
      : `${Math.round(row.lost).toLocaleString('en')} (${((100 * row.lost) / row.sent).toFixed(2)} %)`,
    memoryText(row),
    `${Math.round(row.rate / 1000)} k`,
  ]);
  const head = ['over', 'program', 'CPU-s a million messages', 'lost', 'peak RSS and private', 'messages/s'];
  const lines = [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
  const verdicts = rows
    .filter(({ program }) => program === 'tailrace')
    .map(({ transport, cpuSecondsPerMillion, lost }) => {
      const target =
        transport === 'tcp'
          ? `≤ ${MOST.tcp} CPU-s a million`
          : `≤ ${MOST.udp} CPU-s a million and none lost at ${UDP_RATE.toLocaleString('en')}/s`;
      const isMet = cpuSecondsPerMillion <= MOST[transport] && (transport === 'tcp' || lost === 0);
      return `${transport.toUpperCase()}, target ${target}: ${isMet ? 'met' : '**missed**'}.`;
    });
  return [...lines, '', ...verdicts].join('\n');
}
