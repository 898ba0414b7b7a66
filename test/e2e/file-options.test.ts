/** What the options of the file source make of lines and of their order, under the real agent. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import iconv from 'iconv-lite';
import { expect } from 'vitest';
import { command, QUICK, range, type Site, startShipping, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

/** The messages of each file, by its name without its suffix, in the order in which they were stored. */
function byName({ service }: Site): Record<string, string[]> {
  const messages: Record<string, string[]> = {};
  for (const event of service.stored) {
    const { file, message } = JSON.parse(event) as { file: string; message: string };
    (messages[/([^/]+)\.log$/.exec(file)![1]!] ??= []).push(message);
  }
  return messages;
}

/** One source for each entry, which follows the file of its name. */
function sourcesOf(
  { folder }: Site,
  options: Readonly<Record<string, string>>,
  scanInterval = '100ms',
): Record<string, string> {
  const source = ([id, more]: [string, string]): [string, string] => [
    id,
    `{type: file, include: ["${folder}/logs/${id}.log"], scan_interval: ${scanInterval}, ${more}}`,
  ];
  return Object.fromEntries(Object.entries(options).map(source));
}

// Each is longer than one read of a file.
const LONG = 'never cut '.repeat(40_000);

test('an unfinished line is sent whole after partial_timeout, when its file is rotated, and when it is deleted; its rest once', async ({
  site,
}) => {
  const path = (name: string): string => join(site.folder, 'logs', `${name}.log`);
  // Scans that are an hour apart have no part in it.
  const sources = sourcesOf(site, { waits: 'partial_timeout: 1s' }, '1h');
  Object.assign(
    sources,
    sourcesOf(site, { stays: 'partial_timeout: 1h', rotated: 'partial_timeout: 1h', deleted: 'partial_timeout: 1h' }),
  );
  for (const name of Object.keys(sources)) writeFileSync(path(name), `${name} whole\n${name} ${LONG}`);
  const first = startShipping(site, { sources });
  await until('the whole lines and the timeout’s are stored', () => site.service.stored.length === 5);
  expect(byName(site)).toEqual({
    waits: ['waits whole', `waits ${LONG}`],
    stays: ['stays whole'],
    rotated: ['rotated whole'],
    deleted: ['deleted whole'],
  });
  renameSync(path('rotated'), `${path('rotated')}.1`);
  unlinkSync(path('deleted'));
  await until('what nobody will finish is stored', () => site.service.stored.length === 7);
  await until('the deleted one is let go', () => !holdsDeleted(first.process.pid!));
  expect(await first.end()).toBe(0);
  appendFileSync(path('waits'), 'the rest, late\nnext\n');
  appendFileSync(path('stays'), 'and its rest\n');
  appendFileSync(`${path('rotated')}.1`, 'unexpected\n');
  const again = startShipping(site, { sources });
  await until('the rest is stored', () => site.service.stored.length >= 11);
  expect(await again.end()).toBe(0);
  expect(byName(site)).toEqual({
    waits: ['waits whole', `waits ${LONG}`, 'the rest, late', 'next'],
    stays: ['stays whole', `stays ${LONG}and its rest`],
    rotated: ['rotated whole', `rotated ${LONG}`, 'unexpected'],
    deleted: ['deleted whole', `deleted ${LONG}`],
  });
});

function holdsDeleted(pid: number): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('.log (deleted)');
    } catch {
      return false;
    }
  });
}

test('lines are joined by start and by continue pattern, over a restart, until max_lines, max_event_bytes or the timeout', async ({
  site,
}) => {
  const path = (name: string): string => join(site.folder, 'logs', `${name}.log`);
  const sources = sourcesOf(site, {
    start: 'multiline: {start: "^T", timeout: 1h}',
    continue: 'multiline: {continue: "^ ", timeout: 1h}',
    lines: 'multiline: {start: "^T", max_lines: 3, timeout: 1h}',
    bytes: 'multiline: {start: "^T", timeout: 1h}, max_event_bytes: 1KiB',
    timeout: 'multiline: {start: "^T", timeout: 1s}',
  });
  writeFileSync(path('start'), 'T 1\nmore of 1\nT 2\nmore of 2\n');
  writeFileSync(path('continue'), '1\n of 1\n2\n of 2\n');
  writeFileSync(path('lines'), 'T 1\na\nb\nc\nd\nT 2\n');
  writeFileSync(path('bytes'), `T 1\n${'x'.repeat(700)}\n${'y'.repeat(700)}\nT 2\n`);
  writeFileSync(path('timeout'), 'T 1\nat last\n');
  const first = startShipping(site, { sources });
  await until(
    'what is over is stored',
    () => Object.keys(byName(site)).length === 5 && site.service.stored.length >= 6,
  );
  expect(await first.end()).toBe(0);
  appendFileSync(path('start'), 'still of 2\nT 3\n');
  appendFileSync(path('continue'), ' still of 2\n3\n');
  const again = startShipping(site, { sources });
  await until(
    'what was open is stored',
    () => byName(site)['start']!.length === 2 && byName(site)['continue']!.length === 2,
  );
  expect(await again.end()).toBe(0);
  const { lines, bytes, ...others } = byName(site);
  expect(others).toEqual({
    start: ['T 1\nmore of 1', 'T 2\nmore of 2\nstill of 2'],
    continue: ['1\n of 1', '2\n of 2\n still of 2'],
    timeout: ['T 1\nat last'],
  });
  expect(lines).toEqual(['T 1\na\nb', 'c\nd']);
  expect(bytes).toEqual([`T 1\n${'x'.repeat(700)}`, 'y'.repeat(700)]);
});

const CHARSETS: readonly [charset: string, mark: string, text: string][] = [
  ['latin1', '', 'Grüße'],
  ['windows-1252', '', '“Grüße” – 5 €'],
  ['big5', '', '許功蓋'],
  ['shift_jis', '', 'ソ表予'],
  ['gb18030', '', '日志€'],
  ['koi8-r', '', 'журнал'],
  ['utf-16le', '', 'ਊĊ Grüße'],
  ['utf-16be', '', 'ਊĊ Grüße'],
  ['utf-8', '\ufeff', 'Grüße 😀'],
];

test('files in other charsets are read in UTF-8, and over a restart go on at the byte where they were', async ({
  site,
}) => {
  const path = (name: string): string => join(site.folder, 'logs', `${name}.log`);
  const sources = sourcesOf(
    site,
    Object.fromEntries(CHARSETS.map(([charset]) => [charset, `charset: ${charset}, partial_timeout: 1h`])),
  );
  const sizes: Record<string, number> = {};
  const unfinished: [string, Buffer][] = [];
  for (const [charset, mark, text] of CHARSETS) {
    const whole = iconv.encode(`${mark}${text} 1\r\n${text} 2\n`, charset, { addBOM: false });
    const next = iconv.encode(`${text} 3\n${text} 4\n`, charset, { addBOM: false });
    // In the middle of a character, as a writer's buffer ends.
    writeFileSync(path(charset), Buffer.concat([whole, next.subarray(0, 1)]));
    unfinished.push([charset, next.subarray(1)]);
    sizes[charset] = whole.length;
  }
  const first = startShipping(site, { sources });
  await until('the first lines are stored', () => site.service.stored.length >= 2 * CHARSETS.length);
  expect(await first.end()).toBe(0);
  for (const charset of ['big5', 'utf-16le', 'utf-8']) {
    const explained = await command(site, 'explain', path(charset), '--json');
    const [source] = explained
      .stdout()
      .split(/^(?=\{)/m)
      .map((text) => JSON.parse(text) as { source: string; savedOffset: number })
      .filter((each) => each.source === charset);
    expect(source!.savedOffset).toBe(sizes[charset]);
  }
  for (const [charset, rest] of unfinished) appendFileSync(path(charset), rest);
  const again = startShipping(site, { sources });
  await until('the others are stored', () => site.service.stored.length >= 4 * CHARSETS.length);
  expect(await again.end()).toBe(0);
  expect(byName(site)).toEqual(
    Object.fromEntries(CHARSETS.map(([charset, , text]) => [charset, range(4).map((n) => `${text} ${n + 1}`)])),
  );
});

test('a loud file does not starve a quiet one; with oldest_first, files come one after the other, the oldest first', async ({
  site,
}) => {
  const write = (path: string, lines: number, age: number): void => {
    const file = join(site.folder, 'logs', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      range(lines)
        .map((n) => `${n} ${'x'.repeat(100)}\n`)
        .join(''),
    );
    utimesSync(file, new Date(Date.now() - age), new Date(Date.now() - age));
  };
  // More than a turn, which is 4 MiB.
  write('fair/a-loud.log', 200_000, 3_600_000);
  write('fair/b-quiet.log', 1, 1000);
  write('oldest/a-young.log', 60_000, 1000);
  write('oldest/b-oldest.log', 60_000, 3_600_000);
  write('oldest/c-older.log', 60_000, 60_000);
  const source = (folder: string, more = ''): string =>
    `{type: file, include: ["${site.folder}/logs/${folder}/*.log"]${more}}`;
  const agent = startShipping(site, {
    sources: { fair: source('fair'), oldest: source('oldest', ', order: oldest_first') },
    sink: `${QUICK}, concurrency: 1`,
  });
  await until('all is stored', () => site.service.stored.length === 380_001, { withinMs: 100_000, everyMs: 50 });
  expect(await agent.end()).toBe(0);
  const files = site.service.stored.map((event) => /"file":"[^"]*\/([^/"]+)\.log"/.exec(event)![1]!);
  const [loud, quiet] = [files.lastIndexOf('a-loud'), files.indexOf('b-quiet')];
  expect(quiet).toBeLessThan(loud);
  expect(
    files.filter((file) => file === 'a-loud').length - files.slice(quiet).filter((file) => file === 'a-loud').length,
  ).toBeLessThan(100_000);
  const oldest = files.filter((file) => !['a-loud', 'b-quiet'].includes(file));
  expect(oldest.filter((file, n) => file !== oldest[n - 1])).toEqual(['b-oldest', 'c-older', 'a-young']);
});
