/** What the real agent logs while real logrotate does its normal work: one line for each file and cycle at most, and none that worries. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSite, startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { LOGROTATE } from './storm-rotation.ts';

const ROTATIONS = 6;
const FILES = ['busy', 'quiet', 'silent'];

// Symptom: 4 to 5 lines at info for each rotated file, such as "file was deleted, reading it to its end" with unreadBytes 0.
test.skipIf(LOGROTATE === undefined).each([
  ['rename', 'create', '*.log'],
  ['rename and delaycompress, rotated names matched', 'create\ndelaycompress', '*.log*'],
  ['copytruncate', 'copytruncate', '*.log'],
  ['copytruncate, rotated names matched', 'copytruncate', '*.log*'],
])('normal rotation by %s logs at most one line at info for each file and cycle', async (_, scheme, names) => {
  const site = await makeSite();
  const { folder, service } = site;
  const logs = FILES.map((name) => join(folder, 'logs', `${name}.log`));
  const config = join(folder, 'rotate', 'logrotate.conf');
  mkdirSync(join(folder, 'rotate'), { mode: 0o755 });
  const user = process.getuid?.() === 0 ? 'su root root\n' : '';
  writeFileSync(config, `${folder}/logs/*.log {\n${user}rotate 2\ncompress\n${scheme}\n}\n`, { mode: 0o644 });
  let written = 0;
  const write = (log: string, lines: number): void => {
    appendFileSync(log, Array.from({ length: lines }, () => `line ${(written += 1)}\n`).join(''));
  };
  for (const log of logs) write(log, 1);
  const agent = startShipping(site, {
    sources: { app: `{type: file, include: ["${folder}/logs/${names}"], read_compressed: true, scan_interval: 100ms}` },
  });
  await until('the first lines are stored', () => service.stored.length === written);
  const before = agent.stderr().length;
  for (let round = 0; round < ROTATIONS; round += 1) {
    // One is rotated with lines that were not read yet, one with all read, one with nothing new.
    write(logs[1]!, 10);
    await until('what came before is stored', () => service.stored.length === written);
    write(logs[0]!, 1000);
    const rotated = spawnSync(LOGROTATE!, ['--force', '--state', join(folder, 'rotate', 'state'), config], {
      encoding: 'utf8',
    });
    expect(rotated).toMatchObject({ status: 0 });
    write(logs[0]!, 1000);
    // With copytruncate and compress the copy may be gone before the agent sees it: its lines are lost, and logged.
    if (scheme !== 'copytruncate') await until('all is stored', () => service.stored.length === written);
    else {
      const last = `line ${written}"`;
      await until('the last is stored', () => service.stored.some((event) => event.includes(last)));
      written = service.stored.length;
    }
  }
  expect(await agent.end()).toBe(0);
  const lines = agent
    .stderr()
    .slice(before)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  const told = lines.filter((line) => line['path'] !== undefined || line['from'] !== undefined);
  const about = (log: string): unknown[] =>
    told.filter(
      (line) =>
        `${line['path'] ?? ''} ${line['from'] ?? ''}`.includes(log) &&
        (line['level'] === 'info' || line['level'] === 'warn') &&
        // A loss is logged on top: on a slow machine copytruncate's copy may be gone before anybody looks.
        !(scheme === 'copytruncate' && Number(line['lostBytes']) > 0),
    );
  for (const [n, log] of logs.entries())
    expect
      .soft(about(log).length, `${FILES[n]}: ${JSON.stringify(about(log), null, 1)}`)
      .toBeLessThanOrEqual(ROTATIONS);
  if (scheme !== 'copytruncate') for (const log of logs.slice(1)) expect.soft(about(log)).toEqual([]);
});
