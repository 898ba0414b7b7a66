/**
 * A real process that is killed between each pair of steps that the disk buffer and the dead letters take on the disk: what
 * was acknowledged arrives, or is a dead letter, and the next start finds nothing that it cannot read.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { isPoison, KillRig, TAKEN } from './disk-kill-rig.ts';

interface Journal {
  readonly ended: number | NodeJS.Signals;
  /** Requests that were stored, in order. */
  readonly stored: { readonly key: string; readonly body: string }[];
  /** Batches that were on disk, so that their source need not keep them. */
  readonly durable: string[];
  readonly calls: string[];
}

async function live(folder: string, nth: number): Promise<Journal> {
  const file = join(folder, 'journal');
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'disk-kill-child.ts'),
      folder,
      file,
      String(nth),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  expect(said).toBe('');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const entries = lines.map(
    (line) => JSON.parse(line) as { key?: string; body?: string; durable?: string; calls?: string[] },
  );
  return {
    ended: code ?? signal!,
    stored: entries.flatMap(({ key, body }) => (key !== undefined && body !== undefined ? [{ key, body }] : [])),
    durable: entries.flatMap(({ durable }) => durable ?? []),
    calls: entries.flatMap((entry) => entry.calls ?? []),
  };
}

const eventsOf = (body: string): string[] => body.split('\n').filter(Boolean);

/** Differences between a process that was killed and one that was not, in words. */
async function complaints(folder: string, before: Journal): Promise<string[]> {
  const wrong: string[] = [];
  const stored = [...before.stored];
  const rig = new KillRig(folder, (key, body) => void stored.push({ key, body }), 'next');
  await rig.buffer.recover();
  await until('all is settled', () => rig.delivery.queue.sending.length === 0);
  await rig.stop();

  wrong.push(...rig.log.lines.filter(({ level }) => level === 'error').map(({ message }) => `it says: ${message}`));
  const spool = join(folder, 'spool');
  const left = existsSync(spool) ? readdirSync(spool, { recursive: true }) : [];
  if (left.length > 0) wrong.push(`${left.join()} is left`);
  const [keys, bodies] = [new Map<string, Set<string>>(), new Map<string, string>()];
  for (const { key, body } of stored) {
    if ((bodies.get(key) ?? body) !== body) wrong.push(`key ${key} stood for two bodies`);
    bodies.set(key, body);
    for (const event of eventsOf(body)) keys.set(event, (keys.get(event) ?? new Set()).add(key));
  }
  for (const [event, under] of keys) if (under.size > 1) wrong.push(`${event} is stored under ${under.size} keys`);
  const letters = rig.letters.files().flatMap(({ id }) => rig.letters.read(id) ?? []);
  if (letters.some(({ event }) => !isPoison(event))) wrong.push('an event that is not at fault is a dead letter');
  if (letters.length > 1) wrong.push('a dead letter is there twice');
  for (const name of before.durable) {
    for (let n = 0; n < TAKEN[name as keyof typeof TAKEN]; n++) {
      const event = `{"batch":"${name}","n":${n},"p":""}`;
      if (!keys.has(event) && !letters.some((letter) => letter.event === event)) wrong.push(`${event} is lost`);
    }
  }
  return wrong;
}

test('disk buffer and dead letters lose nothing that was acknowledged, wherever between two steps the process is killed', async () => {
  const whole = makeTree({});
  const { ended, calls, stored } = await live(whole, 0);
  expect(ended).toBe(0);
  expect(stored.flatMap(({ body }) => eventsOf(body))).toHaveLength(8);
  expect(await complaints(whole, { ended, calls, stored, durable: Object.keys(TAKEN) })).toEqual([]);
  expect(new Set(calls)).toEqual(
    new Set([
      'open',
      'writev',
      'fsync',
      'rename',
      'unlink',
      'mkdirSync',
      'openSync',
      'writeSync',
      'fsyncSync',
      'closeSync',
      'renameSync',
    ]),
  );
  const wrong: string[] = [];
  for (let nth = 1; nth <= calls.length; nth++) {
    const folder = makeTree({});
    const killed = await live(folder, nth);
    expect(killed.ended, `killed before call ${nth}`).toBe('SIGKILL');
    wrong.push(
      ...(await complaints(folder, killed)).map(
        (each) => `killed before call ${nth} of ${calls.length}, ${calls[nth - 1]}: ${each}`,
      ),
    );
  }
  expect(wrong).toEqual([]);
  console.log(`killed before each of ${calls.length} calls`);
});
