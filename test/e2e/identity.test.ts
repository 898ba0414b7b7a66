/** Which file is which, under the real agent: files that begin alike, are empty, take another one's inode, or change their own. */
import { appendFileSync, copyFileSync, readdirSync, readlinkSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Program } from '../support/program.ts';
import { makeSite, messagesOf, metricsOf, type Site, startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';

/** More than what files are recognised by. */
const BANNER = '#'.repeat(1500);

async function isStored(site: Site, lines: readonly string[]): Promise<void> {
  await until('all lines are stored', () => site.service.stored.length >= lines.length);
  expect(messagesOf(site).sort()).toEqual(lines.toSorted());
}

/** Waits until the positions of all that was delivered are saved. */
async function isSaved(site: Site, agent: Program): Promise<void> {
  const families = async () => await metricsOf(agent);
  const value = async (name: string) => (await families()).get(name)?.samples[0]?.value ?? 0;
  const before = await value('tailrace_checkpoint_saves_total');
  writeFileSync(join(site.folder, 'logs', 'mark.log'), 'mark\n');
  await until('a later save', async () => (await value('tailrace_checkpoint_saves_total')) > before + 1, 300_000, 50);
}

/** What the process has open of the site's logs. */
function openLogs({ process }: Program, { folder }: Site): string[] {
  return readdirSync(`/proc/${process.pid}/fd`).flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/${process.pid}/fd/${fd}`);
      return path.startsWith(join(folder, 'logs')) ? [path] : [];
    } catch {
      return [];
    }
  });
}

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'files that are short, empty or alike keep their places over renames and a %s',
  async (signal) => {
    const site = await makeSite();
    const path = (name: string): string => join(site.folder, 'logs', name);
    const files: Record<string, string[]> = {
      'short.log': ['a'],
      'shorter.log': ['b'],
      'empty.log': [],
      'twin-1.log': ['same', 'same'],
      'twin-2.log': ['same', 'same'],
      'banner-1.log': [BANNER, 'of the first'],
      'banner-2.log': [BANNER, 'of the second'],
      'bare-banner.log': [BANNER],
    };
    const write = (name: string, lines: readonly string[]): void => appendFileSync(path(name), lines.map((line) => `${line}\n`).join(''));
    const all = Object.values(files).flat();
    for (const [name, lines] of Object.entries(files)) write(name, lines);
    const first = startShipping(site);
    await isStored(site, all);
    await isSaved(site, first);
    await first.end(signal);
    for (const name of Object.keys(files)) write(name, [`late in ${name}`]);
    const swap = (one: string, other: string): void => {
      renameSync(path(one), path('swapped.log'));
      renameSync(path(other), path(one));
      renameSync(path('swapped.log'), path(other));
    };
    swap('banner-1.log', 'banner-2.log');
    swap('twin-1.log', 'twin-2.log');
    renameSync(path('short.log'), path('short.log.1'));
    write('short.log', ['a']);
    const again = startShipping(site);
    await isStored(site, [...all, 'mark', 'a', ...Object.keys(files).map((name) => `late in ${name}`)]);
    const late = site.service.stored.map((event) => JSON.parse(event) as { file: string; message: string });
    for (const { file, message } of late) if (message.startsWith('late in ')) expect(file).toBe(path(message.slice('late in '.length)));
    expect(await again.end()).toBe(0);
    expect(site.service.misusedKeys).toEqual([]);
  },
);

/**
 * Deletes the file and makes it anew, under the same inode where that is given away again soon. The tries have names that nobody
 * watches (a file that is seen, deleted and written again is rightly read twice), and stay until the end, so that each gets another inode.
 */
function recreate(path: string, content: string): void {
  const { ino } = statSync(path);
  unlinkSync(path);
  const tries: string[] = [];
  do {
    tries.push(join(dirname(path), `try-${tries.length}`));
    writeFileSync(tries.at(-1)!, content);
  } while (statSync(tries.at(-1)!).ino !== ino && tries.length < 500);
  renameSync(tries.pop()!, path);
  for (const other of tries) unlinkSync(other);
}

test('a new file under the inode of a deleted one is read whole, made while the agent has it closed and while it is stopped', async () => {
  const site = await makeSite();
  const lines = ['the first, of which the position is known'];
  writeFileSync(site.log, `${lines[0]}\n`);
  let agent = startShipping(site);
  await isStored(site, lines);
  // A file that stands still costs no descriptor.
  await until('it is closed', () => openLogs(agent, site).length === 0, 300_000, 50);
  const add = (line: string): string => (lines.push(line, 'and more'), `${line}\nand more\n`);
  recreate(site.log, add('the second, longer than the first, so that the old position lies in it'));
  await isStored(site, lines);
  expect(await agent.end()).toBe(0);
  recreate(site.log, add(`the third, made while no agent ran, ${'x'.repeat(200)}`));
  agent = startShipping(site);
  await isStored(site, lines);
  expect(await agent.end()).toBe(0);
});

test('stable_inodes: false reads on by path and content where a file has another inode at every look', async () => {
  const site = await makeSite();
  const sources = { app: `{type: file, include: ["${site.folder}/logs/*.log"], scan_interval: 100ms, stable_inodes: false}` };
  const lines: string[] = [];
  /** The same file with a line more, under another inode. */
  const replace = (line: string): void => {
    lines.push(line);
    if (lines.length > 1) copyFileSync(site.log, `${site.log}.new`);
    appendFileSync(`${site.log}.new`, `${line}\n`);
    renameSync(`${site.log}.new`, site.log);
  };
  replace('one');
  let agent = startShipping(site, { sources });
  await isStored(site, lines);
  for (const line of ['two', 'three']) {
    replace(line);
    await isStored(site, lines);
  }
  expect(await agent.end()).toBe(0);
  replace('four, while no agent ran');
  agent = startShipping(site, { sources });
  await isStored(site, lines);
  expect(await agent.end()).toBe(0);
});
