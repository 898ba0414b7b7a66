/** Checkpoints under the real agent: a database that is deleted or broken between two runs, and entries of files that are gone. */
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { BINARY, startCommand } from '../support/program.ts';
import { configure, makeSite, range, startShipping, storedSeqs, test, writeLines } from '../support/shipping.ts';
import { until } from '../support/until.ts';

const BROKEN = 'state database is broken and was set aside';
const MISSING = 'state database is missing although this folder was used before';

test.each([
  ['deleted', MISSING, (file: string) => rmSync(file)],
  ['damaged inside', BROKEN, (file: string) => writeFileSync(file, readFileSync(file).fill(0xa5, 4096, 12_288))],
])(
  'a database that was %s is said so; nothing is missing, also of a file that was rotated meanwhile',
  async (_, said, damage) => {
    const site = await makeSite();
    // Also files that it would have passed over without a checkpoint are read.
    const sources = {
      app: `{type: file, include: ["${site.folder}/logs/*.log*"], start_at: end, scan_interval: 100ms}`,
    };
    const first = startShipping(site, { sources });
    await first.says('tailrace runs');
    writeLines(site, 500);
    await until('they are stored', () => site.service.stored.length === 500);
    expect(await first.end()).toBe(0);
    appendFileSync(site.log, '{"seq":500}\n');
    renameSync(site.log, `${site.log}.1`);
    writeFileSync(site.log, '{"seq":501}\n');
    const data = join(site.folder, 'agent');
    damage(join(data, 'state.db'));
    const again = startShipping(site, { sources });
    await until('every line is stored', () => new Set(storedSeqs(site)).size === 502);
    expect(await again.end()).toBe(0);
    expect(again.stderr()).toContain(said);
    expect(readdirSync(data).some((name) => name.startsWith('state.db.broken-'))).toBe(said === BROKEN);
    expect(new Set(storedSeqs(site))).toEqual(new Set(range(502)));
    // The new one knows them.
    const third = startShipping(site, { sources });
    await third.says('following files');
    const before = site.service.stored.length;
    appendFileSync(site.log, '{"seq":502}\n');
    await until('the last line is stored', () => site.service.stored.length > before);
    expect(await third.end()).toBe(0);
    expect(storedSeqs(site).length).toBe(before + 1);
  },
);

const faketime = findProgram('faketime');

test.skipIf(faketime === undefined)(
  `entries of files that are gone expire a minute later, those of others stay${faketime === undefined ? ' (apt-get install faketime)' : ''}`,
  async ({ site }) => {
    const files = range(20).map((n) => join(site.folder, 'logs', `${n}.log`));
    for (const [n, file] of files.entries()) writeFileSync(file, `{"seq":${n}}\n`);
    const config = configure(site);
    // A minute in about a second.
    const agent = startCommand(faketime!, ['-f', '+0 x50', BINARY, 'run', '--config', config]);
    await until('they are stored', () => site.service.stored.length === 20);
    const entries = (): number => {
      const database = new DatabaseSync(join(site.folder, 'agent', 'state.db'), { readOnly: true });
      try {
        return Number(Object.values(database.prepare('select count(*) from streams').get()!)[0]);
      } finally {
        database.close();
      }
    };
    await until('their entries are saved', () => entries() === 20, { everyMs: 50 });
    for (const file of files.slice(5)) unlinkSync(file);
    await until('the others are left', () => entries() === 5, { everyMs: 50 });
    appendFileSync(files[0]!, '{"seq":20}\n');
    await until('the last line is stored', () => site.service.stored.length > 20);
    process.kill(Number(/\d+/.exec(readFileSync(join(site.folder, 'agent', 'lock.pid'), 'utf8'))![0]), 'SIGTERM');
    expect(await agent.exited).toBe(0);
    expect(entries()).toBe(5);
    expect(storedSeqs(site)).toEqual(range(21));
  },
);

test('a data folder that is removed under the agent is logged at once and when it stops; nothing is missing', async ({
  site,
}) => {
  const { service } = site;
  writeLines(site, 100);
  const agent = startShipping(site, { logLevel: 'debug' });
  await until('the first lines are stored', () => service.stored.length === 100);
  rmSync(join(site.folder, 'agent'), { recursive: true });
  await agent.says('the state database was removed or replaced while the agent runs');
  let requests = 0;
  service.respond = () => ((requests += 1), { status: 503 });
  appendFileSync(
    site.log,
    range(100)
      .map((n) => `{"seq":${100 + n}}\n`)
      .join(''),
  );
  await until('they are sent', () => requests > 0);
  unlinkSync(site.log);
  await agent.says('file was deleted');
  service.respond = () => undefined;
  await until('the others are stored', () => service.stored.length === 200);
  expect(await agent.end()).toBe(0);
  expect(storedSeqs(site)).toEqual(range(200));
  expect(agent.stderr()).toContain('stopped; positions could not be saved');
});
