/** `tailrace top` beside a real agent, on a real terminal. */
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { NO_RATES } from '../../src/telemetry/rates.ts';
import { statusOf } from '../../src/telemetry/status.ts';
import { renderTop, VIEWS } from '../../src/cli/top/view.ts';
import { textWidth } from '../../src/cli/client/output/table.ts';
import { observed, observedSink, observedSource } from '../telemetry/observed.ts';
import { BINARY } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal, type Terminal } from '../support/pty.ts';
import {
  addressOf,
  command,
  makeSite,
  QUICK,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const LEAVE = '\u001B[?25h\u001B[?1049l';
const ENTER = '\u001B[?1049h\u001B[?25l';
const SIGTERM = 15;

let site: Site;

beforeEach(async () => {
  site = await makeSite();
});

const startTop = (env: Record<string, string> = {}): Terminal =>
  startOnTerminal([BINARY, 'top', '--config', join(site.folder, 'tailrace.yaml')], env);

describe.skipIf(!hasPty)(`top${ptyHint}`, () => {
  test('top shows sources, sinks and the accounting live, and q gives the terminal back', async () => {
    writeLines(site, 10);
    await addressOf(startShipping(site, { sink: QUICK }));
    await until('all is stored', () => storedSeqs(site).length === 10);
    const terminal = startTop();
    await terminal.shows(/^app +[\d.]+\/s +0 B +- +0 +(?:10 +)?10 +0 +0(?: |$)/m);
    await terminal.shows(/^store +delivering +[\d.]+\/s +200, \d+ s ago/m);
    expect(terminal.screen()[1]).toBe('delivering; accounting balances');
    expect(terminal.raw()).toContain('\u001B[32m');
    writeLines(site, 1990);
    await terminal.shows(/^app .* 2,000 +0 +0(?: |$)/m);
    terminal.type('\t');
    await terminal.shows('[sources]');
    expect(terminal.screen().join()).not.toContain('SINK');
    terminal.type('\u001B[D');
    await terminal.shows('[overview]');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
    expect(terminal.raw().split(ENTER)).toHaveLength(2);
    expect(terminal.raw().endsWith(LEAVE)).toBe(true);
  });

  test('top says why a sink does not deliver, how old the oldest unsent event is, that the agent is gone, and finds the next one', async () => {
    const agent = startShipping(site, { sink: QUICK });
    await addressOf(agent);
    site.service.respond = () => ({ status: 403, body: '{"code":403,"message":"the token may not write here"}' });
    writeLines(site, 3);
    const terminal = startTop({ NO_COLOR: '1' });
    await terminal.shows(/^store +paused .*403/m);
    await terminal.shows(/^ {2}.*the token may not write here/m);
    await terminal.shows(/^ {2}fix: /m);
    await terminal.shows(/^app +[\d.]+\/s +\S+ B +\d+ s +3 /m);
    await agent.end('SIGKILL');
    await terminal.shows('the agent has not answered since');
    await terminal.shows(/^store +paused/m);
    site.service.respond = () => undefined;
    await addressOf(startShipping(site, { sink: QUICK }));
    await terminal.shows(/^delivering; accounting balances/m);
    await until('all is stored', () => storedSeqs(site).length === 3);
    // oxlint-disable-next-line no-control-regex
    expect(terminal.raw()).not.toMatch(/\u001B\[[\d;]*m/);
    terminal.signal(SIGTERM);
    expect(await terminal.exited).toBe(0);
    expect(terminal.raw().endsWith(LEAVE)).toBe(true);
  });

  test('top fits the terminal as it is resized, and scrolls rows without room', async () => {
    await addressOf(startShipping(site, { sink: QUICK }));
    const terminal = startTop();
    await terminal.shows('DELIVERED');
    terminal.resize(8, 30);
    await until('no line is wider', () => {
      const lines = terminal.screen();
      return lines.length === 8 && lines.every((line) => line.length <= 30);
    });
    expect(terminal.screen().join('\n')).not.toContain('DEAD LETTERS');
    terminal.type('\u001B[F');
    await terminal.shows('DEAD LETTERS');
    terminal.resize(40, 160);
    await terminal.shows(/SOURCE.*FILTERED.*FILES/);
    terminal.type('\u0003');
    expect(await terminal.exited).toBe(0);
  });

  test('top without an agent ends with 1, and without a terminal with 2 and what to do instead', async () => {
    expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
    const terminal = startTop();
    expect(await terminal.exited).toBe(1);
    expect(terminal.raw()).toContain('no agent runs');
    expect(terminal.raw()).not.toContain(ENTER);
    const piped = await command(site, 'top');
    expect([piped.code, piped.stderr(), piped.stdout()]).toEqual([
      2,
      expect.stringContaining('tailrace status --json'),
      '',
    ]);
  });
});

test('top at 80 columns shows every outcome that the accepted events add up from', () => {
  const settled = { delivered: 12_900_000, dead_lettered: 0, dropped: 3, filtered: 1_234_567 };
  const sources = [observedSource({ id: 'app', accepted: 14_134_570, settled, held: 0 })];
  const status = statusOf(observed({ sources }));
  const shown = { status, rates: NO_RATES, view: 'sources', scroll: 0, rows: 24, colours: false } as const;
  const at = (columns: number): string => renderTop({ ...shown, columns }).lines.join('\n');
  expect(at(80)).toMatch(/ HELD +DELIVERED +FILTERED +DROPPED\n.* 0 +12,900,000 +1,234,567 +3\n/);
  expect(at(120)).toMatch(/ HELD +ACCEPTED +DELIVERED +FILTERED +DROPPED +FILES *\n/);
  // ACCEPTED never appears without its parts.
  for (let columns = 1; columns <= 200; columns++)
    if (at(columns).includes('ACCEPTED')) expect(at(columns)).toMatch(/HELD.*DELIVERED.*FILTERED.*DROPPED/);
});

test('top names what the dead letters hold back, with the fix', () => {
  const blocked = { batches: 1, events: 2, isFull: true, reason: 'no room', fix: 'tailrace dead-letters replay|drop' };
  const status = statusOf(observed({ sinks: [observedSink({ blocked })] }));
  const { lines } = renderTop({
    status,
    rates: NO_RATES,
    view: 'overview',
    scroll: 0,
    columns: 120,
    rows: 40,
    colours: false,
  });
  expect(lines.join('\n')).toMatch(
    /sink store blocked: dead letters full; accounting balances[^]*store +blocked: dead letters full[^]*fix: tailrace dead-letters replay\|drop/,
  );
});

test('top’s lines fit any terminal, and hold nothing that it obeys', () => {
  const reason = 'HTTP 500 \u001B[2Jgone\r\n'.repeat(20);
  const sources = Array.from({ length: 30 }, (_, n) =>
    observedSource({ id: `source-${n}`, oldestHeldMs: 1_700_000_000_000 }),
  );
  const sinks = [observedSink({ lastFailure: reason }), observedSink({ id: 'other', lastAnswer: undefined })];
  const status = statusOf(observed({ sources, sinks, checkpointRefusal: { reason, fix: 'free space' } }));
  const gone = { reason, sinceMs: 0 };
  for (let columns = 1; columns <= 200; columns += 3)
    for (const rows of [1, 4, 24])
      for (const view of VIEWS) {
        const { lines } = renderTop({ status, rates: NO_RATES, view, scroll: 7, gone, columns, rows, colours: false });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(columns);
        expect(lines.join('')).not.toMatch(/\p{Cc}/u);
      }
});
