/** Results as Markdown: printed at the end, and written by `--write` into docs/benchmarks.md, or docs/scaling.md, between its marks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { formatSize } from '../src/config/fields/units.ts';
import { judge } from './results.ts';
import type { Results } from './results.ts';
import type { Figures } from './run.ts';

/** The marks of the page around each part. */
const MARKS = {
  agent: ['<!-- results: written by `npm run bench -- --write` -->', '<!-- end of results -->'],
  growth: ['<!-- growth: written by `npm run bench -- --growth --write` -->', '<!-- end of growth -->'],
  service: ['<!-- service: written by `npm run bench -- --only service --write` -->', '<!-- end of service -->'],
  queries: ['<!-- queries: written by `npm run bench -- --only query --write` -->', '<!-- end of queries -->'],
  stores: ['<!-- stores: written by `npm run bench -- --only query --write` -->', '<!-- end of stores -->'],
  beside: ['<!-- beside: written by `npm run bench -- --only beside --write` -->', '<!-- end of beside -->'],
  page: ['<!-- page: written by `npm run bench -- --only page --write` -->', '<!-- end of page -->'],
  transforms: [
    '<!-- transforms: written by `npm run bench -- --only transform --write` -->',
    '<!-- end of transforms -->',
  ],
  syslog: ['<!-- syslog: written by `npm run bench -- --only syslog --write` -->', '<!-- end of syslog -->'],
  journal: ['<!-- journal: written by `npm run bench -- --only journal --write` -->', '<!-- end of journal -->'],
  scalingEngines: [
    '<!-- engines: written by `npm run bench -- --only scaling/engines --write` -->',
    '<!-- end of engines -->',
  ],
  scalingGrowth: [
    '<!-- growth: written by `npm run bench -- --only scaling/growth --write` -->',
    '<!-- end of growth -->',
  ],
} as const;
const MB = 1e6;

export function renderReport(results: Results): string {
  const { machine, sink, startup } = results;
  const sections = [
    `Measured ${machine.date} on ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.system}, ` +
      `Node ${machine.node}, Tailrace ${results.version}. Input ${formatSize(results.inputBytes)} of each kind, ` +
      `${results.runs === 1 ? 'one pass' : `median of ${results.runs} passes`}${results.quick ? ' (`--quick`: rough figures)' : ''}.`,
    renderTargets(results),
    renderAgent(results),
    `The null sink took ${sink.cpuSecondsPerGiB.toFixed(2)} CPU-s/GiB and ${sink.gibPerSecond.toFixed(2)} GiB/s from a load generator ` +
      `on the same cores; it was never busy for more than ${percent(Math.max(0, ...results.agent.map((row) => row.figures.sinkBusy)))} ` +
      `of a pass. Starting, shipping one line and ending cost the agent ${startup.agent.toFixed(2)} CPU-s.`,
    renderSyslogNg(results),
    renderPeers(results),
    renderLatency(results),
    renderRotation(results),
    renderManyFiles(results),
    renderIdleAndKernel(results),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function renderTargets(results: Results): string {
  const verdicts = judge(results);
  const missed = verdicts.filter((verdict) => verdict.figure !== undefined && !verdict.met);
  const unmeasured = verdicts.filter((verdict) => verdict.figure === undefined);
  return [
    '### Targets',
    '',
    ...table(
      ['', 'target', 'measured', ''],
      verdicts.map(({ what, target, figure, met }) => [
        what,
        target,
        figure ?? 'not measured',
        figure === undefined ? '' : met ? 'met' : '**missed**',
      ]),
    ),
    '',
    missed.length === 0 && unmeasured.length === 0
      ? 'Every target is met.'
      : [
          missed.length > 0
            ? `Missed: ${missed.map(({ what, figure, target }) => `${what} (${figure}, target ${target})`).join('; ')}.`
            : '',
          unmeasured.length > 0 ? `Not measured in this run: ${unmeasured.map(({ what }) => what).join('; ')}.` : '',
        ]
          .filter((sentence) => sentence !== '')
          .join(' '),
  ].join('\n');
}

function renderAgent({ agent, startup, inputBytes }: Results): string {
  if (agent.length === 0) return '';
  const rows = agent.map(({ kind, compression, figures, spread, compressionAlone, bare }) => [
    kind,
    compression,
    figures.cpuSecondsPerGiB.toFixed(2),
    ((figures.cpuSeconds - startup.agent) / (inputBytes / 2 ** 30)).toFixed(2),
    (compressionAlone ?? bare)?.toFixed(2) ?? '',
    spread.map((value) => value.toFixed(2)).join('–'),
    `${figures.userSecondsPerGiB.toFixed(2)} + ${figures.systemSecondsPerGiB.toFixed(2)}`,
    ...commonCells(figures),
    figures.sentRatio.toFixed(3),
    percent(figures.sinkBusy),
  ]);
  const head = [
    'input',
    'compression',
    'CPU-s/GiB',
    'without start-up',
    'floor',
    'passes',
    'user + system',
    'peak RSS',
    'private',
    'GiB/s',
    'events/s',
  ];
  return ['### The agent', '', ...table([...head, 'sent by read', 'sink busy'], rows)].join('\n');
}

function renderSyslogNg({ syslogNg, startup, syslogNgInputBytes }: Results): string {
  if (syslogNg === undefined)
    return 'syslog-ng with its http module is not installed here, so there is no comparison in this run.';
  if (syslogNg.rows.length === 0) return '';
  const rows = syslogNg.rows.map(({ job, figures, ratio }) => [
    job.replace('_', ' '),
    'none',
    ((figures.cpuSeconds - (startup.syslogNg ?? 0)) / (syslogNgInputBytes / 2 ** 30)).toFixed(1),
    ...commonCells(figures),
    ratio === undefined ? '' : `${ratio.toFixed(0)} ×`,
  ]);
  const head = [
    'input',
    'compression',
    'CPU-s/GiB without start-up',
    'peak RSS',
    'private',
    'GiB/s',
    'events/s',
    "its CPU by the agent's",
  ];
  return [`### syslog-ng ${syslogNg.version}`, '', ...table(head, rows)].join('\n');
}

function renderPeers({ peers }: Results): string {
  if (peers.length === 0) return '';
  const rows = peers.map(({ name, version, tuning, figures, failure = '' }) =>
    figures === undefined
      ? [`${name} ${version}`, tuning, `failed: ${failure.split('\n')[0]}`]
      : [`${name} ${version}`, tuning, figures.cpuSecondsPerGiB.toFixed(1), ...commonCells(figures)],
  );
  return [
    '### Others on text, uncompressed',
    '',
    ...table(['program', 'configuration', 'CPU-s/GiB', 'peak RSS', 'private', 'GiB/s', 'events/s'], rows),
  ].join('\n');
}

function renderLatency({ latency }: Results): string {
  if (latency === undefined) return '';
  const cells = [latency.p50Ms, latency.p99Ms, latency.maxMs].map((ms) => `${Math.round(ms)} ms`);
  const rows = [[String(latency.linesPerSecond), ...cells, `${latency.cpuMicrosecondsPerEvent.toFixed(1)} µs`]];
  return [
    '### From write to stored',
    '',
    ...table(['lines a second', 'p50', 'p99', 'longest', 'CPU an event'], rows),
  ].join('\n');
}

function renderRotation({ rotation }: Results): string {
  if (rotation.length === 0) return '';
  const rows = rotation.map(({ lines, missing, twice, rotateEveryMs, busyLoops, linesPerSecond, cpuSeconds, load }) =>
    [
      `${rotateEveryMs} ms`,
      linesPerSecond,
      busyLoops,
      lines,
      missing,
      twice,
      cpuSeconds.toFixed(2),
      load.toFixed(1),
    ].map(String),
  );
  const head = [
    'renamed every',
    'lines a second',
    'busy loops beside it',
    'lines',
    'missing',
    'twice',
    'CPU-s',
    'load of the machine',
  ];
  return ['### Rotation', '', ...table(head, rows)].join('\n');
}

function renderManyFiles({ manyFiles }: Results): string {
  if (manyFiles === undefined) return '';
  const rows = [
    ['from the start until every line is delivered', `${manyFiles.deliverySeconds.toFixed(1)} s`],
    ['CPU while nothing is written', `${manyFiles.idleCpuSecondsPerMinute.toFixed(2)} CPU-s a minute`],
    [
      `CPU while ${manyFiles.active} of them get ten lines a second each`,
      `${manyFiles.activeCpuSecondsPerMinute.toFixed(2)} CPU-s a minute`,
    ],
    [
      'RSS at the end, and private',
      `${(manyFiles.rssBytes / MB).toFixed(0)} and ${(manyFiles.privateBytes / MB).toFixed(0)} MB`,
    ],
    [
      'descriptors of the process, at most and while nothing is written',
      `${manyFiles.peakDescriptors} and ${manyFiles.idleDescriptors}`,
    ],
    [
      'from a line written to an idle file until the sink has it, median and longest',
      `${(manyFiles.firstEventMs.median / 1000).toFixed(2)} s and ${(manyFiles.firstEventMs.max / 1000).toFixed(2)} s`,
    ],
  ];
  return [`### ${manyFiles.files.toLocaleString('en')} files`, '', ...table(['', 'measured'], rows)].join('\n');
}

function renderIdleAndKernel({ idle, kernel }: Results): string {
  const lines: string[] = [];
  if (idle !== undefined) {
    lines.push(
      `Idle on ${idle.files} delivered files for ${idle.seconds} s: ${(idle.rssBytes / MB).toFixed(0)} MB RSS, ${(idle.privateBytes / MB).toFixed(0)} MB private, ` +
        `${idle.cpuSecondsPerMinute.toFixed(3)} CPU-s a minute.`,
    );
  }
  if (kernel !== undefined) {
    const rates = kernel.map(({ name, gigabytesPerSecond }) => [name, gigabytesPerSecond.toFixed(2)]);
    lines.push(table(['the kernel alone, on one core', 'GB of input a second'], rates).join('\n'));
  }
  return lines.length === 0 ? '' : ['### Idle, and the kernel alone', '', lines.join('\n\n')].join('\n');
}

function commonCells(figures: Figures): string[] {
  return [
    `${(figures.peakRssBytes / MB).toFixed(0)} MB`,
    `${(figures.peakPrivateBytes / MB).toFixed(0)} MB`,
    figures.gibPerSecond.toFixed(2),
    `${Math.round(figures.eventsPerSecond / 1000).toLocaleString('en')} k`,
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [tableLine(head), tableLine(head.map(() => '---')), ...rows.map(tableLine)];
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

/** Replaces the text between a part's marks of the page. Throws when the page has lost them. */
export function writeReport(page: string, part: keyof typeof MARKS, report: string): void {
  const [begin, end] = MARKS[part];
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`the marks "${begin}" and "${end}" are missing in the page`);
  writeFileSync(page, `${text.slice(0, from)}${begin}\n\n${report}\n${text.slice(to)}`);
}

/** Where and when a part was measured, as its first line. */
export const renderMachine = (machine: Results['machine'], version: string, runs: number): string =>
  `Measured ${machine.date} on ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.system}, ` +
  `Node ${machine.node}, Tailrace ${version}, ${runs === 1 ? 'one pass' : `median of ${runs} passes`}.`;
