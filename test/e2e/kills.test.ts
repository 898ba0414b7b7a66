/**
 * The real agent, killed again and again while requests hang, some stored and some not: joined lines over rotations, files in
 * UTF-16, compressed files. Nothing is missing, and what comes twice comes under the same key, so that the service stores it once.
 */
import { appendFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'vitest';
import { STREAM_ORDER_MS } from '../../src/sources/file/limits.ts';
import type { Program } from '../support/program.ts';
import { makeSite, messagesOf, metricsOf, QUICK, range, type Site, startShipping, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

const SINK = `${QUICK}, batch: {max_age: 50ms, max_events: 300}`;

interface Run {
  readonly site: Site;
  /** The source's mapping, without its type. */
  readonly source: string;
  /** Requests that are answered before the others hang, for each process that is killed. */
  readonly answered: readonly number[];
  /** Called in each process, once it runs. */
  readonly act?: (turn: number) => void;
  readonly isDone: () => boolean;
}

/** Kills the agent that many times, then lets one finish. Returns the processes. */
async function runThroughKills({ site, source, answered, act, isDone }: Run): Promise<Program[]> {
  const { service } = site;
  const agents: Program[] = [];
  const start = async (): Promise<Program> => {
    const agent = startShipping(site, {
      sources: { app: `{type: file, scan_interval: 100ms, ${source}}` },
      sink: SINK,
    });
    agents.push(agent);
    await agent.says('tailrace runs');
    return agent;
  };
  for (const [turn, quota] of answered.entries()) {
    let requests = 0;
    let hanging = 0;
    service.respond = () => {
      requests += 1;
      if (requests <= quota) return undefined;
      hanging += 1;
      return { never: turn % 2 === 0 ? 'stored' : 'lost' };
    };
    const agent = await start();
    act?.(turn);
    await until('requests hang', () => hanging > 0);
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
    expect(isDone()).toBe(false);
  }
  service.respond = () => undefined;
  const last = await start();
  act?.(answered.length);
  await until('everything is stored', isDone);
  const families = await metricsOf(last);
  expect(families.get('tailrace_source_lost_bytes_total')?.samples[0]?.value).toBe(0);
  expect(await last.end()).toBe(0);
  expect(service.misusedKeys).toEqual([]);
  return agents;
}

test('joined lines over rotations, through kills', async ({ site }) => {
  const traces = range(3600).map((seq) => [
    `T ${seq} failed`,
    ...range(seq % 6).map((line) => `  at line ${line} of ${seq}`),
  ]);
  const lines = [...traces.flat(), 'T end', 'T of the end'];
  let written = 0;
  let rotations = 0;
  /** In pieces that end anywhere in a trace, most of them with a rotation behind them. */
  const write = (turn: number): void => {
    const until = turn === 4 ? lines.length : Math.floor((lines.length * (turn + 1)) / 5);
    for (let piece = 0; written < until; piece += 1) {
      const next = Math.min(until, written + 331 + 7 * piece);
      appendFileSync(
        site.log,
        lines
          .slice(written, next)
          .map((line) => `${line}\n`)
          .join(''),
      );
      written = next;
      if (piece % 4 === 3 || written === lines.length) continue;
      renameSync(site.log, `${site.log}.${(rotations += 1)}`);
      // The next one is made so much later that their order is certain.
      for (const later = Date.now() + 2 * STREAM_ORDER_MS; Date.now() < later;);
    }
  };
  // A file that is rotated away before its path is known is no known one's successor.
  appendFileSync(site.log, '\n');
  await runThroughKills({
    site,
    source: `include: ["${site.log}"], multiline: {start: "^T", timeout: 60s}`,
    answered: [2, 1, 2, 1],
    act: write,
    // All lines but the last, whose event is open.
    isDone: () => messagesOf(site).join('\n').split('\n').length >= lines.length - 1,
  });
  const expected = [...traces.map((trace) => trace.join('\n')), 'T end'];
  expect(rotations).toBeGreaterThan(15);
  const stored = messagesOf(site).filter((message) => message !== 'T of the end');
  const known = new Set(expected);
  expect(stored.filter((message) => !known.has(message))).toEqual([]);
  expect(stored.sort()).toEqual(expected.sort());
});

test.each(['utf16le', 'utf16be'] as const)('files in %s, rotated once, through kills', async (order) => {
  const site = await makeSite();
  const encode = (text: string): Buffer =>
    order === 'utf16le' ? Buffer.from(text, 'utf16le') : Buffer.from(text, 'utf16le').swap16();
  const lines = range(6000).map((seq) => `ਊĊ ${seq} ${'ü'.repeat(seq % 90)}`);
  const bytes = encode(`\ufeff${lines.slice(0, 3000).join('\r\n')}\r\n`);
  await runThroughKills({
    site,
    source: `include: ["${site.log}"]`,
    answered: [2, 1, 3],
    act(turn) {
      // Ends in the middle of a code unit.
      if (turn === 0) writeFileSync(site.log, bytes.subarray(0, 100_001));
      if (turn === 1) appendFileSync(site.log, bytes.subarray(100_001));
      if (turn === 2) {
        renameSync(site.log, `${site.log}.1`);
        writeFileSync(site.log, encode(`\ufeff${lines.slice(3000).join('\n')}\n`));
      }
    },
    isDone: () => site.service.stored.length >= lines.length,
  });
  expect(messagesOf(site).sort()).toEqual(lines.sort());
});

test.each([
  ['gz', gzipSync, ''],
  ['zst', zstdCompressSync, ', multiline: {start: "^T"}'],
] as const)('compressed file (.%s) that is resumed in its middle, through kills', async (suffix, compress, more) => {
  const site = await makeSite();
  const lines = range(6000).map((seq) => `T ${seq} ${'x'.repeat(seq % 200)}${more === '' ? '' : `\n  more of ${seq}`}`);
  const compressed = `${site.log}.1.${suffix}`;
  writeFileSync(compressed, compress(Buffer.from(`${lines.join('\n')}\n`)));
  // It stood still long enough to be read.
  utimesSync(compressed, new Date(Date.now() - 3_600_000), new Date(Date.now() - 3_600_000));
  const agents = await runThroughKills({
    site,
    source: `include: ["${site.folder}/logs/*"], read_compressed: true${more}`,
    answered: [4, 3, 6],
    isDone: () => site.service.stored.length >= lines.length,
  });
  expect(messagesOf(site).sort()).toEqual(lines.sort());
  // Taken up where it was, not begun again.
  expect(agents.map((agent) => agent.stderr().includes('reading a compressed file'))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
