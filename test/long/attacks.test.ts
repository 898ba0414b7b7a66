/**
 * Attackers of every kind at once, for minutes, against a service with 1 GiB, while an honest agent ships and an honest client asks: the honest lose
 * nothing and see no failure, and the process stays within its memory. TAILRACE_ATTACK_SECONDS sets how long.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ask, BODIES, fill, JSON_TYPE, MIB, NDJSON, peakOf, QUERIES, send } from '../service/hostile/loads.ts';
import { API_TOKEN, PERSONAL_TOKEN, startLocalService, type LocalService } from '../support/local-service.ts';
import { startShipping } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const SECONDS = Number(process.env['TAILRACE_ATTACK_SECONDS'] ?? 300);
const MEMORY = 1024 * MIB;

async function tokenFor({ url }: LocalService, name: string, right: Readonly<Record<string, object>>): Promise<string> {
  const reply = await fetch(`${url}/v2/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${PERSONAL_TOKEN}`, 'x-service-org-id': 'test-org', ...JSON_TYPE },
    body: JSON.stringify({ name, datasetCapabilities: right }),
  });
  return ((await reply.json()) as { token: string }).token;
}

/** Answers: by who got them, by status; 0 for a connection that was closed. */
class Counts {
  readonly #counts = new Map<string, Map<string, number>>();

  add(who: string, status: number | string): void {
    const counts = this.#counts.get(who) ?? new Map<string, number>();
    this.#counts.set(who, counts.set(String(status), (counts.get(String(status)) ?? 0) + 1));
  }

  /** Those with another status than these. */
  beside(statuses: readonly number[], who: RegExp): string[] {
    return [...this.#counts]
      .filter(([name]) => who.test(name))
      .flatMap(([name, counts]) =>
        [...counts]
          .filter(([status]) => !statuses.includes(Number(status)))
          .map(([status, count]) => `${name}: ${count} × ${status}`),
      );
  }
}

test(
  `attackers at once for ${SECONDS} s take nothing from honest clients, and no more memory than there is`,
  { timeout: (SECONDS + 1800) * 1000 },
  async () => {
    const folder = makeTree({ 'logs/app.log': '' });
    const service = await startLocalService(folder, 'honest', ['--memory', '1GiB']);
    onTestFinished(() => void service.program.process.kill('SIGKILL'));
    await fill(service);
    await service.ask('POST', '/v1/datasets', { name: 'attacked' });
    const all = { '*': { query: ['read'] }, attacked: { ingest: ['create'] } };
    const [flooder, bomber, slow, asker, none] = [
      await tokenFor(service, 'flood', all),
      await tokenFor(service, 'bomb', all),
      await tokenFor(service, 'slow', all),
      await tokenFor(service, 'ask', all),
      await tokenFor(service, 'none', {}),
    ];
    const counts = new Counts();
    const end = new AbortController();
    const isOver = (): boolean => end.signal.aborted;
    const running: Promise<void>[] = [];
    /** Repeats something side by side until the end. */
    const repeat = (who: string, count: number, once: (n: number) => Promise<number>): void => {
      for (let n = 0; n < count; n++)
        running.push(
          (async () => {
            for (let round = n; !isOver(); round += count) {
              const status = await once(round).catch(
                (error: { cause?: { code?: string } }) => error.cause?.code ?? 'no answer',
              );
              counts.add(who, status);
              // A refusal without a wait would make this process the busiest.
              if (status !== 200) await wait(50);
            }
          })(),
        );
    };

    // The honest.
    const agent = startShipping({ folder, url: service.url }, { dataset: 'honest', sink: `token: "${API_TOKEN}"` });
    let written = 0;
    const write = (): void => {
      const lines = Array.from(
        { length: 100 },
        () => `${JSON.stringify({ seq: written++, text: `line ${'x'.repeat(100)}` })}\n`,
      );
      appendFileSync(join(folder, 'logs', 'app.log'), lines.join(''));
    };
    running.push(
      (async () => {
        while (!isOver()) {
          write();
          await wait(100);
        }
      })(),
    );
    repeat('honest query', 1, () => ask(service.url, 'honest | summarize count(), max(seq)'));
    repeat('honest page', 1, () => ask(service.url, 'honest | take 100'));

    // The others.
    repeat('flood ingest', 16, () =>
      send(service.url, '/v1/ingest/attacked', '{"n":1}\n'.repeat(100), NDJSON, flooder),
    );
    repeat('flood query', 16, () => ask(service.url, 'attacked | count', 'tabular', flooder));
    repeat('body', 8, (n) => send(service.url, '/v1/ingest/attacked', ...BODIES[n % BODIES.length]!, bomber));
    repeat('wide query', 8, (n) =>
      ask(service.url, QUERIES[n % QUERIES.length]!, n % 2 === 0 ? 'tabular' : 'legacy', asker),
    );
    repeat('stars', 4, (n) =>
      ask(service.url, `['${'*'.repeat(60)}${'x*'.repeat(n % 30)}y'] | count`, 'tabular', none),
    );
    repeat('everything', 2, () => ask(service.url, 'union * | where * has "x" | take 50000', 'legacy', none));
    const { port } = new URL(service.url);
    const head = (path: string, token: string, length: number): string =>
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    /** A connection that sends this, then a byte a second where it has more, and reads nothing. Resolves with 0 when it is closed. */
    const stall = (text: string, hasMore: boolean): Promise<number> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        socket.pause();
        const timer = setInterval(() => void (isOver() ? socket.destroy() : hasMore && socket.write('{')), 1000);
        const deadline = setTimeout(() => socket.destroy(), 60_000);
        socket
          .on('error', () => {})
          .on('close', () => {
            clearInterval(timer);
            clearTimeout(deadline);
            resolve(0);
          });
      });
    const wide = JSON.stringify({ apl: 'long | take 50000' });
    repeat('slow body', 64, () => stall(head('/v1/ingest/attacked', slow, 100_000), true));
    repeat('stalled reader', 40, () => stall(head('/v1/query/_apl?format=legacy', slow, wide.length) + wide, false));

    await wait(SECONDS * 1000);
    end.abort();
    await Promise.all(running);
    const { exitCode, signalCode } = service.program.process;
    expect(exitCode ?? signalCode, service.program.stderr().slice(0, 3000)).toBeNull();
    await until(
      'all lines are stored',
      async () => Number((await service.aggregate('honest', [{ op: 'count' }]))[0]) >= written,
      { withinMs: 300_000 },
    );
    const peak = peakOf(service);
    const children = readFileSync(
      `/proc/${service.program.process.pid}/task/${service.program.process.pid}/children`,
      'utf8',
    );
    process.stdout.write(
      `${written} lines, peak ${Math.round(peak / MIB)} MiB\n${counts.beside([], /./).join('\n')}\n`,
    );
    // Nothing twice, nothing missing.
    const doubled = await service.ask('POST', '/v1/query/_apl?format=tabular', {
      apl: 'honest | summarize n = count() by seq | summarize count(), countif(n > 1), min(seq), max(seq)',
    });
    expect((doubled as { tables: { columns: unknown[][] }[] }).tables[0]!.columns.map(([value]) => value)).toEqual([
      written,
      0,
      0,
      written - 1,
    ]);
    expect(counts.beside([200], /^honest/)).toEqual([]);
    expect(counts.beside([0, 200, 400, 408, 413, 429], /./)).toEqual([]);
    expect(peak).toBeLessThan(MEMORY);
    expect(children).toBe('');
    const said = agent.stderr();
    expect(await agent.end('SIGTERM'), said).toBe(0);
    expect(said).not.toMatch(/HTTP 5\d\d/);
  },
);
