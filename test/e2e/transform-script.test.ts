/** The real agent with a transform script between its files and the service. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  command,
  configure,
  listDeadLetters,
  makeSite,
  outcomes,
  range,
  type Site,
  startShipping,
  test,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { reloadVersions, SINK, sourceOf, storedOf, surviveKills } from './transforms.ts';

function writeScript({ folder }: Site, text: string): string {
  const file = join(folder, 'shape.ts');
  writeFileSync(file, text);
  chmodSync(file, 0o644);
  return file;
}

test('script leaves events out, changes them, makes several of one, and the accounting balances', async ({ site }) => {
  writeScript(
    site,
    `import { defineTransform, type TransformEvent } from 'tailrace/transform';
import { createHash } from 'node:crypto';

const pseudonym = (text: unknown): string => createHash('sha256').update(String(text)).digest('hex').slice(0, 8);

export default defineTransform((event: TransformEvent, context) => {
  const seq = event['seq'] as number;
  if (seq % 4 === 0) return null;
  if (seq % 4 === 1) return [{ ...event, half: 1 }, { ...event, half: 2 }];
  event['user'] = pseudonym(event['user']);
  event['source'] = context.source;
  delete event['secret'];
  if (seq % 4 === 3) throw new Error('no ' + event['secret']);
  return event;
});
`,
  );
  writeLines(
    site,
    100,
    (seq) => `{"seq":${seq}, "big": 12345678901234567890, "x":1.50,"user":"ann","secret":"s3cret"}`,
  );
  const agent = startShipping(site, { sources: { app: sourceOf(site, '{script: ./shape.ts}') }, sink: SINK });
  await until('all is stored', () => site.service.stored.length === 25 * 2 + 25 + 25);
  const texts = site.service.stored
    .map((event) => event.replace(/,"_time":"[^"]*"/, ''))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const own = (seq: number) => texts.filter((text) => text.startsWith(`{"seq":${seq},`));
  expect(own(0)).toEqual([]);
  expect(own(1)).toEqual(
    [1, 2].map(
      (half) => `{"seq":1, "big": 12345678901234567890, "x":1.50,"user":"ann","secret":"s3cret","half":${half}}`,
    ),
  );
  // Bytes that it did not touch stay as they were, integers beyond 2^53 among them.
  expect(own(2)).toEqual(['{"seq":2, "big": 12345678901234567890, "x":1.50,"user":"49915e0d","source":"app"}']);
  const failed = storedOf(site).filter(({ transform_error: error }) => error !== undefined);
  expect(failed).toHaveLength(25);
  for (const { transform_error: error, secret, seq } of failed) {
    expect([error, secret, Number(seq) % 4]).toEqual(['the script threw Error at 13:28', 's3cret', 3]);
  }
  await until('it is settled', async () => (await outcomes(agent))['held'] === 0);
  expect(await outcomes(agent)).toEqual({
    accepted: 100,
    delivered: 75,
    dead_lettered: 0,
    dropped: 0,
    filtered: 25,
    held: 0,
    errors: 25,
  });
  const script = join(site.folder, 'shape.ts');
  const sha256 = createHash('sha256').update(readFileSync(script)).digest('hex');
  const status = JSON.parse((await command(site, 'status', '--json')).stdout()) as { config: { scripts: unknown } };
  expect(status.config.scripts).toEqual([{ file: script, sha256 }]);
  expect(await agent.end()).toBe(0);
  expect(agent.stderr()).not.toContain('s3cret');
  expect(agent.stderr()).toContain(`"sha256":"${sha256}"`);
});

/** What such an act ends with: on a busy machine the time limit may come first. */
const LIMIT = /^the script took (more memory than it may|longer than 2 s for an event)$/;

test('script that loops, takes all memory or exits is stopped, and its event kept while the others go on', async ({
  site,
}) => {
  writeScript(
    site,
    `import { defineTransform, type TransformEvent } from 'tailrace/transform';
const hoard: unknown[] = [];
let last: TransformEvent = {};
export default defineTransform((event) => {
  // Too late: what an event became was taken when it was returned.
  last['ok'] = 'edited';
  if (event['do'] === 'loop') for (;;);
  if (event['do'] === 'objects') for (;;) hoard.push({ event });
  if (event['do'] === 'heap') for (;;) hoard.push(new Array(100_000).fill(0.5));
  if (event['do'] === 'buffer') hoard.push(Buffer.alloc(2 * 1024 ** 3));
  if (event['do'] === 'filled') hoard.push(Buffer.alloc(2 * 1024 ** 3, 1));
  if (event['do'] === 'exit') process.exit(0);
  if (event['do'] === 'promise') return Promise.resolve(event) as never;
  if (event['do'] === 'text') return 'text' as never;
  if (event['do'] === 'nothing') return undefined as never;
  last = { ...event, ok: true };
  setImmediate((sent: TransformEvent) => (sent['ok'] = 'edited'), last);
  return last;
}, { deterministic: true });
`,
  );
  const acts = ['loop', 'objects', 'heap', 'buffer', 'filled', 'exit', 'promise', 'text', 'nothing'];
  writeLines(site, 90, (seq) => `{"seq":${seq},"do":"${seq % 10 === 5 ? acts[(seq - 5) / 10] : ''}"}`);
  const agent = startShipping(site, { sources: { app: sourceOf(site, '{script: ./shape.ts}') }, sink: SINK });
  await until('all is stored', () => site.service.stored.length === 90);
  const events = storedOf(site);
  expect(events.map(({ seq }) => seq)).toEqual(range(90));
  expect(events.filter(({ do: act, ok }) => act === '' && ok !== true)).toEqual([]);
  const reasons = events.filter(({ do: act }) => act !== '').map(({ do: act, transform_error: error }) => [act, error]);
  expect(Object.fromEntries(reasons)).toEqual({
    loop: 'the script took longer than 2 s for an event',
    objects: expect.stringMatching(LIMIT),
    heap: expect.stringMatching(LIMIT),
    buffer: expect.stringMatching(LIMIT),
    filled: expect.stringMatching(LIMIT),
    exit: 'the script ended its own process',
    promise: 'the script returned a promise; it must return the event itself',
    text: 'the script gave a value of type string in place of an event',
    nothing: 'the script returned nothing; it must return the event, null or a list of events',
  });
  await until('it is settled', async () => (await outcomes(agent))['held'] === 0);
  expect(await outcomes(agent)).toMatchObject({ accepted: 90, delivered: 90, errors: acts.length });
  expect(await agent.end()).toBe(0);
});

test.skipIf(process.platform !== 'linux')(
  'script that loops for ever ends with an agent that is killed',
  async ({ site }) => {
    const pidFile = join(site.folder, 'pid');
    writeScript(
      site,
      `import { writeFileSync } from 'node:fs';
export default () => { writeFileSync('${pidFile}.new', String(process.pid)); process.getBuiltinModule('node:fs').renameSync('${pidFile}.new', '${pidFile}'); for (;;); };
`,
    );
    writeLines(site, 1);
    const agent = startShipping(site, { sources: { app: sourceOf(site, '{script: ./shape.ts}') }, sink: SINK });
    await until('the script runs', () => existsSync(pidFile));
    // Frozen, the agent cannot end the script by its time limit.
    agent.process.kill('SIGSTOP');
    const pid = readFileSync(pidFile, 'utf8');
    const isRunning = (): boolean =>
      existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    const wasRunning = isRunning();
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
    if (wasRunning) await until('the script has ended', () => !isRunning());
  },
);

test('script that fails dead-letters or drops the event where on_error says so, and a replay does not send it', async () => {
  for (const onError of ['dead_letter', 'drop']) {
    const site = await makeSite();
    writeScript(site, `export default (event: { seq: number }) => { if (event.seq === 3) throw 1; return event; };\n`);
    writeLines(site, 5);
    const agent = startShipping(site, {
      sources: { app: sourceOf(site, `{script: ./shape.ts, on_error: ${onError}}`) },
      sink: SINK,
    });
    await until('all is stored', () => site.service.stored.length === 4);
    await until('it is settled', async () => (await outcomes(agent))['held'] === 0);
    const [deadLettered, dropped] = onError === 'drop' ? [0, 1] : [1, 0];
    expect(await outcomes(agent)).toMatchObject({
      accepted: 5,
      delivered: 4,
      dead_lettered: deadLettered,
      dropped,
      errors: 1,
    });
    const letters = await listDeadLetters(site);
    if (onError === 'dead_letter') {
      expect(letters).toMatchObject([
        { seq: 3, offset: 30, reason: 'the script threw a value that is no error', status: 0 },
      ]);
      const replay = await command(site, 'dead-letters', 'replay');
      expect(replay.code).toBe(1);
      await until('it is told', () => agent.stderr().includes('they are not sent again'));
      expect(await listDeadLetters(site)).toHaveLength(1);
    } else expect(letters).toEqual([]);
    expect(await agent.end()).toBe(0);
    expect(site.service.stored).toHaveLength(4);
  }
});

test('script that cannot be run is an error of check at its place, and of run', async ({ site }) => {
  const cases: [text: string, problem: string][] = [
    ['const a = ;\n', 'shape.ts:1:'],
    ['import fs from "fs";\nexport default (event) => event;\n', 'the script imports "fs"'],
    ['export const transform = 1;\n', 'the script has no default export'],
    ['export default (event) => event;\nthrow new Error("at the start");\n', 'at the start'],
  ];
  for (const [text, problem] of cases) {
    writeScript(site, text);
    configure(site, { sources: { app: sourceOf(site, '{script: ./shape.ts}') } });
    for (const verb of ['check', 'run']) {
      const program = await command(site, verb);
      expect([program.code, program.stderr()]).toEqual([2, expect.stringContaining(problem)]);
    }
  }
  const file = writeScript(site, 'export default (event) => event;\n');
  chmodSync(file, 0o666);
  const open = await command(site, 'check');
  expect([open.code, open.stderr()]).toEqual([
    2,
    expect.stringMatching(/tailrace\.yaml:\d+:\d+: .*can be changed by other users/s),
  ]);
  chmodSync(file, 0o644);
  expect((await command(site, 'check')).code).toBe(0);
});

for (const deterministic of [true, false])
  test(`script that is ${deterministic ? '' : 'not '}deterministic: no key names two lists of events through kills`, async ({
    site,
  }) => {
    writeScript(
      site,
      `import { defineTransform } from 'tailrace/transform';
export default defineTransform((event) => (Number(event['seq']) % 3 === 0 ? null : { ...event, drawn: ${deterministic ? '1' : 'Math.random()'} }), { deterministic: ${deterministic} });
`,
    );
    await surviveKills(site, '{script: ./shape.ts}', ['stored', 'lost'], '"_time":"2026-11-22T10:00:00Z",');
  });

test('reload takes a changed script into force, and keeps the one before where it is broken', async ({ site }) => {
  const file = writeScript(site, `export default (event: object) => ({ ...event, version: 1 });\n`);
  const agent = startShipping(site, { sources: { app: sourceOf(site, '{script: ./shape.ts}') }, sink: SINK });
  await reloadVersions(site, agent, (to) =>
    writeFileSync(
      file,
      to === 2 ? `export default (event: object) => ({ ...event, version: 2 });\n` : 'export default 5;\n',
    ),
  );
});
