/** `tailrace audit` with the real agent and the real service: what it says of refused events, a service that is away, kills, and deleted files. */
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { Audit } from '../../src/cli/audit/report.ts';
import type { ByteRange } from '../../src/cli/audit/ranges.ts';
import { tailraceFor } from '../cli/tailrace.ts';
import { API_TOKEN, startLocalService } from '../support/local-service.ts';
import { addressOf, configure, QUICK, type Site, startShipping, test } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const run = tailraceFor({});
const audit = (folder: string, ...args: readonly string[]) =>
  run(['audit', '--config', join(folder, 'tailrace.yaml'), ...args]);

/** Waits for an audit of which `isDone` holds: settlements reach the disk a moment later. */
async function auditWhen(
  { folder }: { folder: string },
  isDone: (found: Audit) => boolean,
): Promise<{ code: number; found: Audit }> {
  let last = { code: -1, found: {} as Audit };
  await until('the audit says so', async () => {
    const { code, stdout } = await audit(folder, '--json');
    last = { code: code ?? -1, found: JSON.parse(stdout) as Audit };
    return isDone(last.found);
  });
  return last;
}

const rangesOf = ({ streams }: Audit, file: string): readonly ByteRange[] =>
  streams.find((each) => each.file === file)?.sinks[0]?.ranges ?? [];

/** More fields than the service takes of one dataset. */
const WIDE = JSON.stringify(Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`f${n}`, n])));

test('audit names the refused event, held events, and the loss of a deleted file', async () => {
  const folder = makeTree({ 'logs/.keep': '' });
  const service = await startLocalService(folder, 'logs');
  const log = join(folder, 'logs/app.log');
  const before = '{"n":1}\n{"n":2}\n';
  writeFileSync(log, `${before}${WIDE}\n{"n":3}\n`);
  const site = { folder, log, url: service.url } as Site;
  const options = { sink: `token: ${API_TOKEN}, ${QUICK}` };
  const agent = startShipping(site, options);
  await addressOf(agent);

  const size = statSync(log).size;
  const settled = await auditWhen(site, ({ totals }) => totals.settled === size);
  expect(settled).toMatchObject({
    code: 0,
    found: {
      ok: true,
      agent: { balanced: true, sources: [{ id: 'app', accepted: 4, delivered: 3, dead_lettered: 1, lost_bytes: 0 }] },
    },
  });
  expect(rangesOf(settled.found, log)).toEqual([{ from: 0, to: size, state: 'settled' }]);
  const sink = settled.found.streams[0]!.sinks[0]!;
  expect(sink).toMatchObject({ sink: 'store', dataset: 'logs', settled_as: ['delivered'], dead_letters: { count: 1 } });
  expect(sink.dead_letters.named).toMatchObject([{ offset: before.length, status: 200 }]);
  expect((await audit(folder)).stdout).toContain(`0–${size}  delivered, but for the dead letters`);

  // The service is away: the agent holds what it reads, and says so also after it was killed.
  await service.program.end('SIGKILL');
  appendFileSync(log, '{"n":4}\n{"n":5}\n');
  const all = statSync(log).size;
  const held = await auditWhen(site, ({ totals }) => totals.in_hand === all - size);
  expect(held.code).toBe(0);
  expect(rangesOf(held.found, log)).toEqual([
    { from: 0, to: size, state: 'settled' },
    { from: size, to: all, state: 'in_hand', where: 'file' },
  ]);
  await agent.end('SIGKILL');
  const killed = await auditWhen(site, () => true);
  expect(killed.code).toBe(0);
  expect(killed.found.agent).toBeUndefined();
  expect(rangesOf(killed.found, log)).toEqual(rangesOf(held.found, log));

  // Nobody holds it any more: the file was the buffer.
  rmSync(log);
  const deleted = await auditWhen(site, () => true);
  expect(deleted).toMatchObject({ code: 1, found: { ok: false, totals: { settled: size, lost: all - size } } });
  expect(rangesOf(deleted.found, log).at(-1)).toEqual({ from: size, to: all, state: 'lost' });

  // The agent counts the same bytes when it comes back.
  const again = startShipping(site, options);
  await addressOf(again);
  const counted = await auditWhen(site, ({ agent: known }) => (known?.sources[0]?.lost_bytes ?? 0) > 0);
  expect(counted.code).toBe(1);
  expect(counted.found.agent?.sources[0]?.lost_bytes).toBe(all - size);
  await again.end('SIGKILL');
});

test('audit finds a deleted file in the disk buffer, and everything delivered in the end', async ({ site }) => {
  site.service.respond = () => ({ status: 503 });
  writeFileSync(site.log, 'one\ntwo\nthree\n');
  const bytes = statSync(site.log).size;
  const agent = startShipping(site, { sink: `token: t, ${QUICK}` });
  await addressOf(agent);
  await auditWhen(site, ({ totals }) => totals.in_hand === bytes);
  rmSync(site.log);
  const inHand = [{ from: 0, to: bytes, state: 'in_hand', where: 'disk_buffer' }];
  const spooled = await auditWhen(site, (found) => rangesOf(found, site.log)[0]?.where === 'disk_buffer');
  expect(spooled.code).toBe(0);
  expect(rangesOf(spooled.found, site.log)).toEqual(inHand);
  await agent.end('SIGKILL');
  const alone = await auditWhen(site, () => true);
  expect(alone.code).toBe(0);
  expect(rangesOf(alone.found, site.log)).toEqual(inHand);

  // While the disk buffer's file is torn, nothing has them.
  const spool = join(site.folder, 'agent/spool/store');
  const batch = join(
    spool,
    readdirSync(spool).find((name) => name.endsWith('.batch'))!,
  );
  const whole = readFileSync(batch);
  writeFileSync(batch, 'torn');
  const torn = await auditWhen(site, () => true);
  expect(torn).toMatchObject({ code: 1, found: { totals: { lost: bytes } } });
  expect(torn.found.problems).toHaveLength(1);

  writeFileSync(batch, whole);
  site.service.respond = () => undefined;
  await addressOf(startShipping(site, { sink: `token: t, ${QUICK}` }));
  const done = await auditWhen(site, ({ totals }) => totals.in_hand === 0);
  expect(done).toMatchObject({ code: 0, found: { ok: true, agent: { sources: [{ delivered: 3, lost_bytes: 0 }] } } });
});

// Symptom: of a log whose link was removed, every byte counted as lost, though the file was there.
test('audit finds the target of a link that was removed or rotated beside it, and names the loss with one that is gone', async ({
  site,
}) => {
  const target = join(site.folder, 'target');
  writeFileSync(target, 'one\n');
  symlinkSync(target, site.log);
  const agent = startShipping(site, { sink: `token: t, ${QUICK}` });
  await addressOf(agent);
  await auditWhen(site, ({ totals }) => totals.settled === 4);
  await agent.end();
  appendFileSync(target, 'two\n');
  const ranges = [
    { from: 0, to: 4, state: 'settled' },
    { from: 4, to: 8, state: 'unread' },
  ];
  for (const [from, to] of [[site.log], [target, `${target}.1`]]) {
    if (to === undefined) rmSync(from!);
    else renameSync(from!, to);
    const { code, found } = await auditWhen(site, () => true);
    expect(code).toBe(0);
    expect(rangesOf(found, site.log)).toEqual(ranges);
  }
  site.service.respond = () => ({ status: 503 });
  const second = startShipping(site, { sink: `token: t, ${QUICK}` });
  await addressOf(second);
  await auditWhen(site, ({ totals }) => totals.in_hand === 4);
  await second.end('SIGKILL');
  rmSync(`${target}.1`);
  const gone = await auditWhen(site, () => true);
  expect(gone.code).toBe(1);
  expect(rangesOf(gone.found, site.log)).toEqual([ranges[0], { from: 4, to: 8, state: 'lost' }]);
});

test('audit names a gap that a damaged database leaves, and files that were never read', async ({ site }) => {
  site.service.respond = () => ({ status: 503 });
  writeFileSync(site.log, 'one\ntwo\nthree\n');
  const agent = startShipping(site, { sink: `token: t, batch: {max_events: 1}, concurrency: 1, ${QUICK}` });
  await addressOf(agent);
  await auditWhen(site, ({ totals }) => totals.in_hand > 4);
  await agent.end('SIGKILL');
  const database = new DatabaseSync(join(site.folder, 'agent/state.db'));
  database.exec('delete from spans where from_byte = 0');
  database.close();
  writeFileSync(join(site.folder, 'logs/new.log'), 'never read\n');
  const { code, found } = await auditWhen(site, () => true);
  expect(code).toBe(1);
  expect(rangesOf(found, site.log)[0]).toEqual({ from: 0, to: 4, state: 'gap' });
  expect(found.streams.find(({ file }) => file.endsWith('new.log'))).toMatchObject({ sinks: [], unread_bytes: 11 });
  const text = await audit(site.folder);
  expect(text.code).toBe(1);
  expect(text.stdout).toContain('0–4  gap: nothing in the state answers for it');
  expect(text.stdout).toContain('not every byte is accounted for');
});

test('audit of a folder that no agent used has nothing to account for, and makes none', async ({ site }) => {
  configure(site, { sink: 'token: t' });
  const { code, found } = await auditWhen(site, () => true);
  expect(code).toBe(0);
  expect(found.streams).toEqual([]);
  expect(readdirSync(site.folder)).not.toContain('agent');
});
