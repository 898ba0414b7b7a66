/**
 * Faults of a service one by one and by chance, with kill -9 of the agent in between: lines written are compared with
 * the judge's store and with the dead letters, event by event, and the accounting is checked at every scrape meanwhile.
 *
 * `TAILRACE_FAULT_SEEDS=n` runs the test of random schedules with n seeds, `TAILRACE_FAULT_SEED=s` with that one.
 */
import { appendFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FaultAnswer, FaultRequest, FaultService } from '../support/fault-service.ts';
import type { Program } from '../support/program.ts';
import { valueOf } from '../support/prometheus-text.ts';
import { randomFrom } from '../support/random.ts';
import {
  addressOf,
  lineOf,
  listDeadLetters,
  makeSite,
  metricsOf,
  offsetsOf,
  QUICK,
  range,
  seqOf,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { type AccountingWatch, watchAccounting } from '../support/watch-accounting.ts';

let site: Site;
let service: FaultService;
let accounting: AccountingWatch;

beforeEach(async () => {
  site = await makeSite();
  service = site.service;
  accounting = watchAccounting();
  onTestFinished(() => accounting.stop());
});

interface Shipping {
  readonly agent: Program;
  readonly address: string;
}

/** Starts the agent; the accounting is watched from its first scrape on. */
async function startAgent(sink: string): Promise<Shipping> {
  const agent = startShipping(site, { sink });
  const address = await addressOf(agent);
  accounting.watch(address);
  return { agent, address };
}

/** Kills the agent the hard way and starts it again on what it left. */
async function restart({ agent }: Shipping, sink: string): Promise<Shipping> {
  accounting.watch(undefined);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  return startAgent(sink);
}

/** Stops the agent in the ordinary way and checks all that must hold whatever happened. */
async function finish({ agent }: Shipping): Promise<void> {
  accounting.watch(undefined);
  expect(await agent.end('SIGTERM'), agent.stderr()).toBe(0);
  await accounting.stop();
  expect(accounting.problems).toEqual([]);
  expect(accounting.scrapes).toBeGreaterThan(0);
  expect(service.misusedKeys).toEqual([]);
}

/** The whole batches among the requests, each with the keys of all that were sent for it or for parts of it. */
function batchesSent(): { events: readonly string[]; keys: Set<string> }[] {
  const batches: { events: readonly string[]; seqs: Set<number>; keys: Set<string> }[] = [];
  for (const { key, events } of service.requests) {
    const known = batches.find(({ seqs }) => seqs.has(seqOf(events[0]!)));
    if (known) known.keys.add(key);
    else batches.push({ events, seqs: new Set(events.map(seqOf)), keys: new Set([key]) });
  }
  return batches;
}

test.for([false, true])(
  'one poison event in 10,000 costs 2·log2(batch) requests and nothing else (killed in between: %s)',
  async (isKilled) => {
    const lines = 50_000;
    const poison = range(5).map((nth) => nth * 10_000 + 1234 * nth + 17);
    writeLines(site, lines);
    service.respond = ({ events }) =>
      events.some((event) => poison.includes(seqOf(event))) ? { status: 400 } : undefined;
    const sink = `${QUICK}, batch: {max_age: 1s, max_bytes: 4MiB, max_events: 10000}`;
    let shipping = await startAgent(sink);
    if (isKilled) {
      await until('halves are sent', () => service.requests.length >= 12);
      shipping = await restart(shipping, sink);
    }
    await until('all others are stored', () => service.stored.length >= lines - poison.length);
    await until('the dead letters', async () => (await listDeadLetters(site)).length >= poison.length);
    await finish(shipping);
    expect(storedSeqs(site)).toEqual(range(lines).filter((seq) => !poison.includes(seq)));
    const offsets = offsetsOf(lines, lineOf);
    expect(await listDeadLetters(site)).toMatchObject(
      poison.map((seq) => ({
        seq,
        file: site.log,
        offset: offsets[seq],
        reason: 'HTTP 400 told to answer 400',
        status: 400,
      })),
    );
    const batches = batchesSent();
    expect(batches.some(({ events }) => events.length === 10_000)).toBe(true);
    for (const { events, keys } of batches) {
      const ill = events.filter((event) => poison.includes(seqOf(event))).length;
      expect(keys.size - 1, `extra requests of a batch of ${events.length}`).toBeLessThanOrEqual(
        // A restart forgets that the half before was stored, and asks about one more.
        ill * Math.floor(2 * Math.log2(events.length)) + (isKilled ? 1 : 0),
      );
      expect(keys.size > 1).toBe(ill > 0);
    }
    console.log(
      `poison: ${batches.map(({ events, keys }) => `${keys.size - 1} extra for ${events.length}`).join(', ')}`,
    );
  },
);

test.for([false, true])(
  'a service that takes 64 KiB gets all in halves, and the one event too large is a dead letter (killed: %s)',
  async (isKilled) => {
    const lines = 20_000;
    const large = 12_345;
    const line = (seq: number) =>
      seq === large ? `{"seq":${seq},"pad":"${'x'.repeat(80_000)}"}` : `{"seq":${seq},"pad":"${'y'.repeat(seq % 90)}"}`;
    writeLines(site, lines, line);
    service.respond = ({ bytes }) => (bytes > 65_536 ? { status: 413 } : undefined);
    const sink = `${QUICK}, compression: none, batch: {max_age: 200ms}`;
    let shipping = await startAgent(sink);
    if (isKilled) {
      await until('some halves are stored', () => service.stored.length > 1000);
      shipping = await restart(shipping, sink);
    }
    await until('all others are stored', () => service.stored.length >= lines - 1);
    await until('the dead letter', async () => (await listDeadLetters(site)).length > 0);
    await finish(shipping);
    expect(service.requests.some(({ bytes }) => bytes > 500_000)).toBe(true);
    expect(storedSeqs(site)).toEqual(range(lines).filter((seq) => seq !== large));
    expect(await listDeadLetters(site)).toMatchObject([
      { seq: large, offset: offsetsOf(lines, line)[large], reason: 'HTTP 413 told to answer 413', status: 413 },
    ]);
  },
);

test.for(['seconds', 'a date'])('no worker sends before a Retry-After in %s is over', async (form) => {
  const workers = 4;
  writeLines(site, 2000);
  // All workers are held until each has a request in flight; all of these are then refused at once.
  const held: ((answer: FaultAnswer) => void)[] = [];
  let dueMs = 0;
  service.respond = () => {
    if (dueMs > 0) return undefined;
    return new Promise((resolve) => {
      held.push(resolve);
      if (held.length < workers) return;
      const now = Date.now();
      const header = form === 'seconds' ? '2' : new Date(now + 3000).toUTCString();
      dueMs = form === 'seconds' ? now + 2000 : Date.parse(header);
      for (const answer of held) answer({ status: 429, headers: { 'retry-after': header } });
    });
  };
  const shipping = await startAgent(`${QUICK}, concurrency: ${workers}, batch: {max_age: 50ms, max_events: 100}`);
  await until('all is stored', () => service.stored.length >= 2000);
  await finish(shipping);
  expect(held).toHaveLength(workers);
  expect(storedSeqs(site)).toEqual(range(2000));
  const later = service.requests.slice(workers).map(({ at }) => at - dueMs);
  // Clocks of both sides count whole milliseconds.
  expect(Math.min(...later)).toBeGreaterThanOrEqual(-1);
  expect(later.length).toBeGreaterThanOrEqual(20);
});

const FOR_A_WHILE: Record<string, (request: FaultRequest, nth: number) => FaultAnswer> = {
  'a storm of 503s': () => ({ status: 503 }),
  'answers of 403 for a while': () => ({ status: 403 }),
  'replies lost after storing': (_, nth) =>
    [{ storeAndBreak: true }, { storeAndTear: true }, { never: 'stored' as const }][nth % 3]!,
  'connections that break': (_, nth) => (nth % 2 === 0 ? { cut: true } : { never: 'lost' }),
};

test.for(Object.keys(FOR_A_WHILE).flatMap((name) => [[name, false] as const, [name, true] as const]))(
  '%s: everything is stored once, nothing is a dead letter (killed in between: %s)',
  async ([name, isKilled]) => {
    const lines = 10_000;
    writeLines(site, lines);
    let faults = 0;
    let isOver = false;
    service.respond = (request) => (isOver ? undefined : FOR_A_WHILE[name]!(request, faults++));
    const sink = `${QUICK}, timeout: 200ms, batch: {max_age: 50ms, max_events: 500}`;
    let shipping = await startAgent(sink);
    await until('thirty faults', () => faults >= 30);
    if (isKilled) shipping = await restart(shipping, sink);
    await until('sixty faults', () => faults >= 60);
    if (name.includes('503')) {
      const metrics = await metricsOf(shipping.address);
      expect(valueOf(metrics, 'tailrace_sink_concurrency', { sink: 'store' })).toBe(1);
    }
    isOver = true;
    await until('all is stored', () => service.stored.length >= lines);
    await finish(shipping);
    expect(storedSeqs(site)).toEqual(range(lines));
    expect(await listDeadLetters(site)).toEqual([]);
  },
);

// ——— Chance ———

const FAULTS: readonly ((request: FaultRequest) => FaultAnswer)[] = [
  () => ({ status: 503 }),
  () => ({ status: 500, body: 'oh' }),
  () => ({ status: 429, headers: { 'retry-after': '0' } }),
  () => ({ status: 429, headers: { 'x-ratelimit-reset': '0' } }),
  () => ({ status: 408 }),
  () => ({ status: 401 }),
  () => ({ status: 403 }),
  () => ({ status: 404 }),
  () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
  () => ({ status: 204, body: '' }),
  () => ({ status: 200, body: '<html>' }),
  () => ({ status: 200, body: '{"ingested":1,"failed":0' }),
  ({ events }) => ({ status: 200, body: JSON.stringify({ ingested: events.length + 1, failed: 0, failures: [] }) }),
  ({ events }) => (events.length > 20 ? { status: 413 } : {}),
  () => ({ cut: true }),
  () => ({ storeAndBreak: true }),
  () => ({ storeAndTear: true }),
  () => ({ never: 'lost' }),
  () => ({ never: 'stored' }),
  () => ({ delayMs: 100 }),
  () => ({ dripMs: 0 }),
];

/** What a line's own text asks of the service, at every try: `bad` makes it refuse the request, `no` is named in a 200. */
const isBad = (event: string): boolean => event.includes('bad-one');
const isNamed = (event: string): boolean => event.includes('no-one');

function answerByContent({ events }: FaultRequest): FaultAnswer | undefined {
  if (events.some(isBad)) return { status: 422 };
  const failed = events.flatMap((event, index) => (isNamed(event) ? [index] : []));
  return failed.length > 0 ? { failed } : undefined;
}

/** Writes lines into files that grow in pieces and are rotated; knows what it wrote. */
class Writer {
  readonly lines: string[] = [];
  readonly #random: () => number;
  #rotations = 0;
  /** The beginning of a line that is written only in part, by file. */
  readonly #owed = new Map<string, string>();

  constructor(random: () => number) {
    this.#random = random;
  }

  step(): void {
    const path = join(site.folder, 'logs', `app${Math.floor(this.#random() * 3)}.log`);
    let text = this.#owed.get(path) ?? '';
    for (let i = Math.floor(this.#random() * 400); i >= 0; i--) text += `${this.write()}\n`;
    const last = this.write();
    const cut = Math.floor(this.#random() * last.length);
    appendFileSync(path, text + last.slice(0, cut));
    this.#owed.set(path, `${last.slice(cut)}\n`);
    if (this.#random() < 0.15) {
      this.finishLine(path);
      renameSync(path, `${path}.${(this.#rotations += 1)}`);
    }
  }

  finishLine(path: string): void {
    const owed = this.#owed.get(path);
    this.#owed.delete(path);
    if (owed !== undefined) appendFileSync(path, owed);
  }

  finishAll(): void {
    for (const path of [...this.#owed.keys()]) this.finishLine(path);
  }

  /** Makes the next line. */
  write(): string {
    const seq = this.lines.length;
    const tag =
      seq % 997 === 500 ? 'bad-one' : seq % 401 === 7 ? 'no-one' : 'x'.repeat(Math.floor(this.#random() * 60));
    const line = this.#random() < 0.5 ? `{"seq":${seq},"tag":"${tag}"}` : `seq=${seq} a line of text ${tag}`;
    this.lines.push(line);
    return line;
  }
}

const FAULT_SEEDS = process.env['TAILRACE_FAULT_SEED']
  ? [Number(process.env['TAILRACE_FAULT_SEED'])]
  : Array.from({ length: Number(process.env['TAILRACE_FAULT_SEEDS'] ?? 2) }, () => Math.floor(Math.random() * 2 ** 32));

test.for(FAULT_SEEDS)(
  'random faults, rotations and three kill -9 lose, repeat and invent nothing (TAILRACE_FAULT_SEED=%i)',
  async (seed) => {
    console.log(`TAILRACE_FAULT_SEED=${seed}`);
    const random = randomFrom(seed);
    const writer = new Writer(random);
    const share = 0.2 + 0.5 * random();
    let faults = 0;
    service.respond = (request) => {
      if (random() >= share) return answerByContent(request);
      faults += 1;
      const fault = FAULTS[Math.floor(random() * FAULTS.length)]!(request);
      // What would store the events stores what their text allows.
      return { ...answerByContent(request), ...fault };
    };
    service.interrupts = () => random() < 0.03;
    const sink = `${QUICK}, timeout: 300ms, concurrency: 3, batch: {max_age: 30ms, max_events: 200}`;
    let shipping = await startAgent(sink);
    for (let kill = 0; kill <= 3; kill++) {
      const enough = service.requests.length + 20 + Math.floor(random() * 100);
      await until(
        'requests',
        () => {
          if (random() < 0.3) writer.step();
          return service.requests.length >= enough;
        },
        { withinMs: 120_000, everyMs: 10 },
      );
      if (kill < 3) shipping = await restart(shipping, sink);
    }
    // The quiet phase: only what the lines themselves ask for.
    service.respond = answerByContent;
    service.interrupts = () => false;
    writer.finishAll();
    const isRefused = (line: string): boolean => isBad(line) || isNamed(line);
    const wanted = () => writer.lines.filter((line) => !isRefused(line)).map(seqOf);
    const refused = writer.lines.filter(isRefused).map(seqOf);
    await until('all is stored', () => service.stored.length >= wanted().length, {
      withinMs: 120_000,
      everyMs: 50,
    }).catch(async (error: unknown) => {
      const stored = new Set(storedSeqs(site));
      const missing = wanted().filter((seq) => !stored.has(seq));
      const letters = (await listDeadLetters(site)).filter(({ seq }) => missing.includes(seq));
      const letter =
        letters.length > 0 ? `${letters.length} of them dead letters: ${letters[0]!.reason}` : 'no dead letters';
      throw new Error(
        `${missing.length} lines are not stored, from ${missing[0]} on (${letter}); the agent said:\n${shipping.agent.stderr().slice(-3000)}`,
        { cause: error },
      );
    });
    await until('all dead letters', async () => (await listDeadLetters(site)).length >= refused.length);
    appendFileSync(
      join(site.folder, 'logs', 'fresh.log'),
      `${(writer.lines.push('{"seq":999999}'), '{"seq":999999}')}\n`,
    );
    await until('a fresh line is stored', () => service.stored.some((event) => seqOf(event) === 999_999));
    await finish(shipping);
    expect(storedSeqs(site)).toEqual(wanted());
    expect((await listDeadLetters(site)).map((letter) => letter.seq)).toEqual(refused);
    console.log(
      `${writer.lines.length} lines, ${refused.length} refused, ${service.requests.length} requests, ${faults} faults, ${accounting.scrapes} scrapes`,
    );
  },
);
