/** Whoever names a file, writes a line or answers a request must not control the terminal of whoever looks: every command that shows such text. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { printable, printableLines } from '../../src/config/quote.ts';
import { renderTop, VIEWS } from '../../src/cli/top/view.ts';
import { NO_RATES } from '../../src/telemetry/rates.ts';
import { statusOf } from '../../src/telemetry/status.ts';
import { addressOf, command, QUICK, type Site, startShipping, test as shipping } from '../support/shipping.ts';
import { test as serving } from '../support/fake-service.ts';
import { makeTree } from '../support/temp-tree.ts';
import { BINARY, startCommand } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { observed, observedSink, observedSource } from '../telemetry/observed.ts';
import { tailraceFor } from './tailrace.ts';

const range = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, n) => String.fromCharCode(from + n)).join('');

/** What a terminal obeys, but for the line break. */
const OBEYED = [
  range(1, 9),
  range(11, 31),
  range(0x7f, 0x9f),
  '\u061c\u200e\u200f',
  range(0x2028, 0x202e),
  range(0x2066, 0x2069),
].join('');
/** A name and a text with all of it, and a line that is made up. */
const HOSTILE = `x${OBEYED}\nFORGED`;
const FILE = `a${HOSTILE}.log`;

function expectHarmless(...outputs: string[]): void {
  const seen = outputs.join('\n');
  const found = Array.from(seen.replaceAll('\n', '')).filter(
    (character) => OBEYED.includes(character) || /\p{Cs}/u.test(character),
  );
  expect(found.map((character) => character.codePointAt(0)!.toString(16))).toEqual([]);
  expect(seen).not.toMatch(/^FORGED/m);
  expect(seen).not.toContain('\ufffd\ufffd');
}

/** An agent that follows a file of such a name with such lines, at a service that refuses one event with such a reason. */
async function startHostile(site: Site) {
  writeFileSync(
    join(site.folder, 'logs', FILE),
    `${JSON.stringify({ n: 1, a: HOSTILE, half: '\ud800', [HOSTILE]: 2 })}\nplain ${OBEYED} line\n`,
  );
  mkdirSync(join(site.folder, 'logs', `folder${OBEYED}`));
  site.service.respond = ({ events }) => ({
    body: JSON.stringify({
      ingested: events.length - 1,
      failed: 1,
      processedBytes: 1,
      blocksCreated: 1,
      walLength: 0,
      failures: [{ index: 0, timestamp: '', error: `refused ${HOSTILE} \ud800` }],
    }),
  });
  const agent = startShipping(site, {
    sink: QUICK,
    sources: { app: `{type: file, include: ["${site.folder}/logs/*"], transform: 'extend shaped = 1'}` },
    sinks: { screen: '{type: console, style: pretty}' },
  });
  await addressOf(agent);
  return agent;
}

const path = (site: Site): string => join(site.folder, 'logs', FILE);

const COMMANDS: Readonly<Record<string, (site: Site) => readonly string[]>> = {
  explain: (site) => ['explain', path(site)],
  'explain of a path that is not read': (site) => ['explain', `${path(site)}.missing`],
  status: () => ['status'],
  audit: () => ['audit'],
  check: () => ['check'],
  'dead-letters list': () => ['dead-letters', 'list'],
  preview: (site) => ['preview', path(site), '--source', 'app'],
  'preview --diff': (site) => ['preview', path(site), '--source', 'app', '--diff'],
  'preview --stats': (site) => ['preview', path(site), '--source', 'app', '--stats'],
  'preview of a missing file': (site) => ['preview', `${path(site)}.missing`, '--source', 'app'],
  'a source that is not there': () => ['tap', HOSTILE],
  'a dead letter that is not there': () => ['dead-letters', 'drop', HOSTILE],
  'an option that is not there': () => ['status', `--${OBEYED}`],
};

shipping('no command about an agent prints what a terminal obeys', { timeout: 120_000 }, async ({ site }) => {
  const agent = await startHostile(site);
  await until('one event is a dead letter', async () => (await command(site, 'dead-letters', 'list')).stdout() !== '');
  for (const [name, args] of Object.entries(COMMANDS)) {
    const { stdout, stderr } = await command(site, ...args(site));
    expect(stdout() + stderr(), name).not.toBe('');
    // The tabs of a line stay.
    expectHarmless(name.startsWith('preview') ? stdout().replaceAll('\t', '') : stdout(), stderr());
  }
  const tapped = command(site, 'tap', '--count', '1', '--seconds', '20');
  const more = setInterval(() => writeFileSync(path(site), `{"a":${JSON.stringify(HOSTILE)}}\n`, { flag: 'a' }), 200);
  const { stdout, stderr } = await tapped.finally(() => clearInterval(more));
  expect(stdout()).toContain('"a":');
  expectHarmless(stdout(), stderr());
  // Its log is JSON, its console sink shows events.
  await agent.end('SIGTERM');
  expect(agent.stdout()).toContain('plain');
  expectHarmless(agent.stdout().replaceAll('\t', '').replaceAll('\n    FORGED', ''), agent.stderr());
  // Without an agent.
  for (const name of ['explain', 'audit', 'dead-letters list']) {
    const alone = await command(site, ...COMMANDS[name]!(site));
    expectHarmless(alone.stdout(), alone.stderr());
  }
});

const JSON_COMMANDS: readonly string[] = ['explain', 'audit', 'dead-letters list', 'preview'];

shipping.skipIf(!hasPty)(
  `JSON on a terminal holds nothing that it obeys, and says the same${ptyHint}`,
  { timeout: 120_000 },
  async ({ site }) => {
    const agent = await startHostile(site);
    await until(
      'one event is a dead letter',
      async () => (await command(site, 'dead-letters', 'list')).stdout() !== '',
    );
    const config = join(site.folder, 'tailrace.yaml');
    for (const name of JSON_COMMANDS) {
      const args = [...COMMANDS[name]!(site), '--json'];
      const { raw, exited } = startOnTerminal([BINARY, ...args, '--config', config]);
      await exited;
      const lines = raw().split('\r\n');
      expectHarmless(lines.join('\n'));
      expect(lines.filter((line) => line.includes('u0085')).length, name).toBeGreaterThan(0);
      for (const line of lines.filter((each) => each.startsWith('{')))
        expect(() => void JSON.parse(line), name).not.toThrow();
    }
    await agent.end('SIGTERM');
  },
);

test('init prints nothing that a terminal obeys', async () => {
  const folder = makeTree({
    [`logs/${FILE}`]: `2026-05-01T10:00:00Z ${OBEYED}\n`,
    'logs/b.log': `2026-05-01T10:00:00Z ${OBEYED.slice(31)}\n`,
    [`logs/c\u202e\u009b.log`]: '2026-05-01T10:00:00Z x\n',
  });
  const { stdout, stderr } = await tailraceFor({})([
    'init',
    join(folder, 'logs'),
    '--yes',
    '--out',
    join(folder, 't.yaml'),
  ]);
  expect(stdout).toContain('b.log');
  expectHarmless(stdout, stderr);
});

test('tests of a configuration print nothing that a terminal obeys', async () => {
  const config = {
    sources: { app: { type: 'file', include: ['/x'] } },
    sinks: { s: { type: 'ingest', url: 'http://127.0.0.1:1', dataset: 'd' } },
    tests: [{ source: 'app', input: [JSON.stringify({ a: HOSTILE, [HOSTILE]: 1 })], expect: [{ a: `${HOSTILE}!` }] }],
  };
  const folder = makeTree({ 'tailrace.yaml': escaped(JSON.stringify(config)) });
  const { stdout, stderr, code } = await tailraceFor({})(['test', '--config', join(folder, 'tailrace.yaml')]);
  expect([code, stdout]).toEqual([1, expect.stringContaining('- ')]);
  expectHarmless(stdout, stderr);
});

const escaped = (json: string): string => printable(json);

serving('client commands print nothing that a terminal obeys', async ({ service }) => {
  const run = tailraceFor({ TAILRACE_URL: service.url, TAILRACE_TOKEN: 'xaat-1' });
  service.events.set('logs', [{ message: HOSTILE, half: '\ud800', [HOSTILE]: { [HOSTILE]: HOSTILE } }]);
  service.datasets.set('logs', {
    id: 'logs',
    name: `logs${HOSTILE}`,
    description: HOSTILE,
    created: '',
    integrationConfigs: [],
    who: HOSTILE,
  });
  const folder = makeTree({ [FILE]: '{"a":1}\n' });
  for (const args of [
    ['query', 'logs'],
    ['query', 'nowhere'],
    ['datasets', 'list'],
    ['datasets', 'get', 'logs'],
    ['ingest', 'logs', join(folder, FILE)],
    ['ingest', 'logs', join(folder, `${FILE}x`)],
    ['query', `['logs'] | ${HOSTILE}`],
  ]) {
    const { stdout, stderr } = await run(args);
    expect(stdout + stderr, args.join(' ')).not.toBe('');
    expectHarmless(stdout, stderr);
  }
});

test('top shows nothing that a terminal obeys', () => {
  const failing = observedSink({
    lastFailure: `network: ${HOSTILE}`,
    lastFailureFix: HOSTILE,
    deadLetters: new Map([[HOSTILE, 1]]),
  });
  const refused = { count: 1, path: HOSTILE, reason: HOSTILE, fix: HOSTILE };
  const source = observedSource({
    refused,
    waiting: { sink: 'store', dataset: HOSTILE, reason: 'memory_full', seconds: 1, failure: HOSTILE },
  });
  const status = statusOf(
    observed({ sinks: [failing], sources: [source], checkpointRefusal: { reason: HOSTILE, fix: HOSTILE } }),
  );
  for (const view of VIEWS) {
    const shown = {
      status,
      rates: NO_RATES,
      view,
      scroll: 0,
      gone: { reason: HOSTILE, sinceMs: 0 },
      columns: 4000,
      rows: 100,
      colours: false,
    };
    expectHarmless(renderTop(shown).lines.join('\n'));
  }
});

test('a log on a terminal shows nothing that it obeys', async () => {
  const source = `import { createLog } from ${JSON.stringify(join(import.meta.dirname, '../../src/telemetry/log.ts'))};
    const log = await createLog({ level: 'debug', readable: process.argv[1] === 'pretty' });
    log.warn({ path: ${JSON.stringify(HOSTILE)}, nested: { list: [${JSON.stringify(HOSTILE)}] } }, ${JSON.stringify(`text ${HOSTILE} \ud800`)});`;
  for (const style of ['pretty', 'json']) {
    const program = startCommand(process.execPath, ['--input-type=module', '-e', source, style]);
    expect(await program.exited, program.stderr()).toBe(0);
    expect(program.stderr()).toContain('FORGED');
    expectHarmless(program.stderr());
    if (style === 'json')
      expect(JSON.parse(program.stderr())).toMatchObject({ path: HOSTILE, nested: { list: [HOSTILE] } });
  }
});

test('printable leaves other characters as they are, and JSON valid', () => {
  expect(printable('naïve 東京 😀 é')).toBe('naïve 東京 😀 é');
  expect(printable('\u{e0001}\ud800\u009b')).toBe(String.raw`\udb40\udc01\ud800\u009b`);
  const text = `${OBEYED}\u{e0001}`;
  expect(JSON.parse(printable(JSON.stringify(text)))).toBe(text);
  expect(printableLines('a\u001b\nb\u202e')).toBe('a\\u001b\nb\\u202e');
});
