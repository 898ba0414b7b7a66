/**
 * Every answer a service can give, with the real agent between real files and a judge that misbehaves: what is not refused
 * arrives, what is refused is in the dead letters with its place, and the books balance at every scrape.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type FaultAnswer, type FaultRequest, FaultService } from '../support/fault-service.ts';
import { type Program, startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

let folder: string;
let service: FaultService;
let url: string;

beforeEach(async () => {
  folder = makeTree({ 'logs/.keep': '' });
  service = new FaultService();
  url = await service.start();
  onTestFinished(() => service.stop());
});

interface AgentOptions {
  readonly sink?: string;
  readonly sources?: string;
  readonly once?: boolean;
  readonly stdin?: 'ignore' | 'pipe';
}

function startAgent({ sink = '', sources, once = false, stdin = 'ignore' }: AgentOptions = {}): Program {
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${folder}/agent
sources:
  app: ${sources ?? `{type: file, include: ["${folder}/logs/*.log"], scan_interval: 200ms}`}
sinks:
  store:
    type: ingest
    url: "${url}"
    dataset: logs
    retry: {initial_backoff: 5ms, max_backoff: 50ms}
    batch: {max_age: 50ms, max_events: 100}
    ${sink}
telemetry: {listen: "127.0.0.1:0"}
`,
  );
  const agent = startProgram(['run', ...(once ? ['--once'] : []), '--config', config], {}, stdin);
  onTestFinished(() => void agent.end('SIGKILL'));
  return agent;
}

function writeLines(count: number, lineOf = (seq: number) => `{"seq":${seq}}`): void {
  mkdirSync(join(folder, 'logs'), { recursive: true });
  appendFileSync(join(folder, 'logs', 'app.log'), Array.from({ length: count }, (_, seq) => `${lineOf(seq)}\n`).join(''));
}

function storedSeqs(): number[] {
  return service.stored.map((event) => (JSON.parse(event) as { seq: number }).seq).sort((a, b) => a - b);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, seq) => seq);
}

interface DeadLetterLine {
  readonly file: string;
  readonly offset: number;
  readonly reason: string;
  readonly status: number;
  readonly source: string;
  readonly event: { readonly seq: number };
}

async function listDeadLetters(): Promise<DeadLetterLine[]> {
  const program = startProgram(['dead-letters', 'list', '--json', '--config', join(folder, 'tailrace.yaml')]);
  expect(await program.exited).toBe(0);
  return program
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as DeadLetterLine)
    .sort((a, b) => a.event.seq - b.event.seq);
}

/** Scrapes every 50 ms and keeps every imbalance it sees. */
async function watchBooks(agent: Program): Promise<{ imbalances: string[]; stop(): Promise<number> }> {
  const line = await agent.says('tailrace runs');
  const address = (JSON.parse(line) as { telemetry: string }).telemetry;
  const imbalances: string[] = [];
  let scrapes = 0;
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      const text = await fetch(`${address}/metrics`).then(
        (reply) => reply.text(),
        () => '',
      );
      const value = (name: string) =>
        Number(new RegExp(`^${name.replaceAll(/[{}"]/g, String.raw`\$&`)} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
      if (text !== '') {
        scrapes += 1;
        const [accepted, ...settled] = ['accepted', 'delivered', 'dead_lettered', 'dropped', 'filtered'].map((outcome) =>
          value(`tailrace_events_total{source="app",outcome="${outcome}"}`),
        );
        const total = settled.reduce((sum, each) => sum + each, 0) + value('tailrace_events_held{source="app"}');
        if (total !== accepted) imbalances.push(`${accepted} accepted, ${total} accounted for`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    imbalances,
    async stop() {
      stopping.abort();
      await loop;
      return scrapes;
    },
  };
}

test('agent delivers everything once through answers of every kind, and its books balance at every scrape', async () => {
  const lines = 20_000;
  writeLines(lines);
  const faults: ((request: FaultRequest) => FaultAnswer)[] = [
    () => ({ status: 503 }),
    () => ({ status: 429, headers: { 'retry-after': '0' } }),
    () => ({ status: 200, body: '<html>welcome</html>' }),
    () => ({ status: 200, body: '{"ingested":1,"failed":0' }),
    () => ({ status: 301, headers: { location: 'http://127.0.0.1:1/' } }),
    () => ({ status: 204, body: '' }),
    () => ({ storeAndBreak: true }),
    () => ({ status: 408 }),
    () => ({ status: 403 }),
    ({ events }) => (events.length > 30 ? { status: 413 } : {}),
    () => ({ status: 200, body: JSON.stringify({ ingested: 1, failed: 0, failures: [] }) }),
  ];
  let requests = 0;
  service.respond = (request) => {
    requests += 1;
    return requests % 3 === 0 ? faults[(requests / 3) % faults.length]!(request) : undefined;
  };
  const agent = startAgent();
  const books = await watchBooks(agent);
  await until('all lines are stored', () => service.stored.length >= lines, 60_000);
  expect(await books.stop()).toBeGreaterThan(3);
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(books.imbalances).toEqual([]);
  expect(storedSeqs()).toEqual(range(lines));
  expect(service.misusedKeys).toEqual([]);
});

test('agent keeps events that the service names as failed, each with its place in the file, and delivers the rest', async () => {
  writeLines(500);
  service.respond = ({ events }) => ({
    failed: events.flatMap((event, index) => ((JSON.parse(event) as { seq: number }).seq % 50 === 7 ? [index] : [])),
  });
  const agent = startAgent({ once: true });
  expect(await agent.exited).toBe(1);
  expect(storedSeqs()).toEqual(range(500).filter((seq) => seq % 50 !== 7));
  const letters = await listDeadLetters();
  expect(letters.map(({ event }) => event.seq)).toEqual(range(500).filter((seq) => seq % 50 === 7));
  const text = range(500).map((seq) => `{"seq":${seq}}\n`);
  for (const letter of letters) {
    expect(letter).toMatchObject({ source: 'app', file: join(folder, 'logs', 'app.log'), status: 200, reason: 'told to refuse it' });
    expect(letter.offset).toBe(text.slice(0, letter.event.seq).join('').length);
  }
});

test('agent finds the events at fault by halving where the service names none', async () => {
  writeLines(400);
  const isPoison = (event: string) => (JSON.parse(event) as { seq: number }).seq % 133 === 5;
  service.respond = ({ events }) => (events.some(isPoison) ? { status: 400 } : undefined);
  const agent = startAgent({ once: true });
  expect(await agent.exited).toBe(1);
  expect(storedSeqs()).toEqual(range(400).filter((seq) => seq % 133 !== 5));
  const letters = await listDeadLetters();
  expect(letters.map(({ event }) => event.seq)).toEqual([5, 138, 271]);
  expect(service.misusedKeys).toEqual([]);
});

test('dead letters are replayed through the running agent, and without one', async () => {
  writeLines(200);
  service.respond = ({ events }) => (events.some((event) => /"seq":(42|142),/.test(event)) ? { status: 422 } : undefined);
  const agent = startAgent();
  await until('two dead letters', async () => (await listDeadLetters()).length === 2);
  const config = ['--config', join(folder, 'tailrace.yaml')];

  const refused = startProgram(['dead-letters', 'replay', '--json', ...config]);
  expect(await refused.exited, refused.stderr()).toBe(1);
  expect(JSON.parse(refused.stdout())).toMatchObject({ replayed: 2, refused: 2 });
  expect((await listDeadLetters()).map(({ event, file }) => [event.seq, file])).toEqual(
    [42, 142].map((seq) => [seq, join(folder, 'logs', 'app.log')]),
  );
  expect(await agent.end('SIGTERM')).toBe(0);

  service.respond = () => undefined;
  const replayed = startProgram(['dead-letters', 'replay', '--json', ...config]);
  expect(await replayed.exited).toBe(0);
  expect(JSON.parse(replayed.stdout())).toMatchObject({ replayed: 2, refused: 0, skipped: [] });
  expect(storedSeqs()).toEqual(range(200));
  expect(await listDeadLetters()).toEqual([]);
});

test('standard input survives a service that is down, a stop and a restart, through the disk buffer', async () => {
  service.respond = () => ({ status: 503 });
  const agent = startAgent({ sources: '{type: stdin}', stdin: 'pipe' });
  agent.process.stdin!.write(
    range(5000)
      .map((seq) => `{"seq":${seq}}\n`)
      .join(''),
  );
  await until('requests', () => service.requests.length > 3);
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(service.stored).toEqual([]);
  const verified = startProgram(['buffer', 'verify', '--config', join(folder, 'tailrace.yaml')]);
  expect(await verified.exited).toBe(0);
  expect(verified.stderr()).toContain('5000 events, 0 broken');

  service.respond = () => undefined;
  const next = startAgent({ sources: '{type: stdin}' });
  expect(await next.exited).toBe(0);
  expect(storedSeqs()).toEqual(range(5000));
  expect(service.misusedKeys).toEqual([]);
});

test('a kill -9 while standard input is held loses nothing that was in a closed batch, and a flipped file is set aside alone', async () => {
  service.respond = () => ({ status: 503 });
  const agent = startAgent({ sources: '{type: stdin}', stdin: 'pipe' });
  agent.process.stdin!.write(
    range(1000)
      .map((seq) => `{"seq":${seq}}\n`)
      .join(''),
  );
  const spool = join(folder, 'agent', 'spool', 'store');
  const spooled = () => (existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.batch')) : []);
  await until('ten files', () => spooled().length === 10);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  const flipped = join(spool, spooled().sort()[4]!);
  const bytes = readFileSync(flipped);
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(flipped, bytes);
  writeFileSync(join(spool, `${'9'.repeat(12)}-torn.batch`), 'TRSPOOL1 00');

  service.respond = () => undefined;
  const next = startAgent({ sources: '{type: stdin}' });
  expect(await next.exited).toBe(0);
  expect(storedSeqs()).toEqual(range(1000).filter((seq) => seq < 400 || seq >= 500));
  expect(readdirSync(join(spool, 'broken'))).toHaveLength(2);
  expect(next.stderr().split('was set aside').length).toBe(3);
});

test('a refused token pauses, says so once and turns readiness false; nothing is lost', async () => {
  writeLines(1000);
  service.respond = () => ({ status: 403, body: '{"code":403,"message":"Forbidden"}' });
  const agent = startAgent();
  const line = await agent.says('delivery is paused');
  expect(JSON.parse(line)).toMatchObject({ reason: 'unauthorized', dataset: 'logs', fix: expect.stringContaining('token') as string });
  const address = (JSON.parse(await agent.says('tailrace runs')) as { telemetry: string }).telemetry;
  const ready = await fetch(`${address}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: 'paused', paused: [{ sink: 'store', dataset: 'logs', reason: 'unauthorized' }] });
  await until('several probes', () => service.requests.length > 6);
  service.respond = () => undefined;
  await until('all lines are stored', () => service.stored.length >= 1000);
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  expect(agent.stderr().split('delivery is paused').length).toBe(2);
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(storedSeqs()).toEqual(range(1000));
});
