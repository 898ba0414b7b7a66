/**
 * How soon the explorer shows something: the local service with a dataset, and Debian's Chromium with a new profile for each opening, so that
 * nothing is cached. Times are the browser's own, from the start of the navigation.
 */
import { loadavg } from 'node:os';
import { gzipSync } from 'node:zlib';
import type { Options } from '../options.ts';
import { lineMaker } from '../inputs.ts';
import { median } from '../run.ts';
import { rest, startMeasuredService, TOKEN } from '../service/process.ts';
import { findProgram } from '../../test/support/installed.ts';

export interface PageFigures {
  /** Of one opening each, ms. */
  readonly firstPaint: readonly number[];
  readonly datasetsShown: readonly number[];
  readonly rowsShown: readonly number[];
  /** CPU of the page's main thread until its datasets are listed. */
  readonly cpu: readonly number[];
  /** HTML, script and style sheet, as they are and after gzip -9. */
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly events: number;
  /** Of the machine, when it was measured. */
  readonly load: number;
}

const FILES = ['', 'explorer-page.js', 'explorer-page.css'];
const SEED = 20_260_104;
const EVENTS = 99_000;
const BATCH_LINES = 3000;
const TARGET_MS = 300;

/** Whether `--only` wants it. */
export const wantsPage = ({ only }: Options): boolean =>
  only.length === 0 || only.some((part) => 'page'.includes(part));

/** Undefined without Chromium. */
export async function measurePage(program: string, folder: string, openings: number): Promise<PageFigures | undefined> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) return undefined;
  const { chromium } = await import('playwright-core');
  const service = await startMeasuredService(program, folder, 1);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await service.post('/v1/datasets', JSON.stringify({ name: 'bench' }));
    const next = lineMaker('json', SEED);
    for (let sent = 0; sent < EVENTS; sent += BATCH_LINES)
      await service.post(
        '/v1/ingest/bench?timestamp-field=time',
        `${Array.from({ length: BATCH_LINES }, next).join('\n')}\n`,
        'none',
        `page-${sent}`,
      );
    await rest(service.pid);
    const link = `${service.url}/#${new URLSearchParams({ token: TOKEN, range: 'all', query: "['bench']" }).toString()}`;
    const figures = {
      firstPaint: [] as number[],
      datasetsShown: [] as number[],
      rowsShown: [] as number[],
      cpu: [] as number[],
    };
    for (let opening = 0; opening <= openings; opening++) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      const page = await context.newPage();
      const debugged = await context.newCDPSession(page);
      await debugged.send('Performance.enable', { timeDomain: 'threadTicks' });
      await page.goto(link);
      const shown = async (selector: string): Promise<number> => {
        await page.locator(selector).first().waitFor();
        return page.evaluate<number>('performance.now()');
      };
      const datasetsShown = await shown('.datasets button');
      const { metrics } = await debugged.send('Performance.getMetrics');
      const rowsShown = await shown('tr[data-row]');
      const firstPaint = await page.evaluate<number>(
        `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
      );
      await context.close();
      // The first one starts the browser's own processes.
      if (opening === 0) continue;
      figures.firstPaint.push(firstPaint);
      figures.datasetsShown.push(datasetsShown);
      figures.rowsShown.push(rowsShown);
      figures.cpu.push(1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value);
    }
    const files = await Promise.all(
      FILES.map(async (file) => Buffer.from(await (await fetch(`${service.url}/${file}`)).arrayBuffer())),
    );
    const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
    const gzipBytes = sum(files.map((file) => gzipSync(file, { level: 9 }).length));
    return {
      ...figures,
      bytes: sum(files.map(({ length }) => length)),
      gzipBytes,
      events: EVENTS,
      load: loadavg()[0]!,
    };
  } finally {
    await browser.close();
    await service.stop();
  }
}

export function renderPage({
  firstPaint,
  datasetsShown,
  rowsShown,
  cpu,
  bytes,
  gzipBytes,
  events,
  load,
}: PageFigures): string {
  const row = (name: string, times: readonly number[], target = ''): string =>
    `| ${name} | ${Math.round(median(times))} ms | ${Math.round(Math.max(...times))} ms | ${target} |`;
  return [
    `### The explorer: from opening a link until something is shown, ${events.toLocaleString('en')} events stored`,
    '',
    '| | median | slowest | target |',
    '| --- | --- | --- | --- |',
    row('first paint', firstPaint, `< ${TARGET_MS} ms: ${median(firstPaint) < TARGET_MS ? 'met' : '**missed**'}`),
    row('datasets listed', datasetsShown),
    row('the newest 1,000 events and their chart', rowsShown),
    row("CPU of the page's main thread until datasets are listed", cpu),
    '',
    `${firstPaint.length} openings, each in a new profile, at a load of ${load.toFixed(1)}. The page is ${kilobytes(bytes)}, ${kilobytes(gzipBytes)} after gzip -9 (target ≤ 300 kB).`,
  ].join('\n');
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
