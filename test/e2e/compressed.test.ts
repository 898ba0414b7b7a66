/** Compressed files beside the plain ones that they were made of, under the real agent: nothing comes twice, and nothing is left out. */
import { appendFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { makeSite, messagesOf, startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';

test('what was read before it was compressed is not read again, also after a restart; what never was is read when asked', async () => {
  const site = await makeSite();
  const { service, log } = site;
  const lines = (name: string): string => Array.from({ length: 300 }, (_, n) => `${name} ${n}\n`).join('');
  const compress = (name: string, to: string, pack: (bytes: Buffer) => Buffer): void => {
    writeFileSync(to, pack(Buffer.from(lines(name))));
    utimesSync(to, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
  };
  const sources = (more = ''): Record<string, string> => ({
    app: `{type: file, include: ["${site.folder}/logs/app.log*"], scan_interval: 100ms${more}}`,
  });
  writeFileSync(log, lines('second'));
  compress('never read', `${log}.3.gz`, gzipSync);
  let agent = startShipping(site, { sources: sources() });
  await until('the plain one is stored', () => service.stored.length === 300);
  await agent.says('compressed');
  expect(await agent.end()).toBe(0);
  // As logrotate does it, between the look that read it and the next.
  agent = startShipping(site, { sources: sources(', read_compressed: true'), logLevel: 'debug' });
  await agent.says('tailrace runs');
  compress('second', `${log}.1.gz`, gzipSync);
  unlinkSync(log);
  writeFileSync(log, lines('third'));
  await until('the compressed file that was never read is', () => service.stored.length >= 900);
  await until('the other one is known', () => agent.stderr().includes('compressed file holds what was read in its plain form'));
  compress('third', `${log}.2.zst`, zstdCompressSync);
  expect(await agent.end()).toBe(0);
  unlinkSync(log);
  compress('at last', `${log}.4.zst`, zstdCompressSync);
  agent = startShipping(site, { sources: sources(', read_compressed: true'), logLevel: 'debug' });
  await until('the last compressed file is stored', () => service.stored.length >= 1200);
  await until('the one before is known', () => agent.stderr().includes('compressed file holds what was read in its plain form'));
  expect(await agent.end()).toBe(0);
  const names = ['second', 'never read', 'third', 'at last'];
  expect(messagesOf(site).sort()).toEqual(names.flatMap((name) => lines(name).trimEnd().split('\n')).sort());
});

// Symptom: lines that logrotate's `delaycompress` put into a compressed file while no agent ran were not read, and nothing said so: the log
// called the file gone, with lostBytes 0.
test('compressed file that holds more than was read before the stop, and is left out, is named at the next start, with what is unread of it', async () => {
  const site = await makeSite();
  const { service, log } = site;
  const sources = (more = '', names = '*.log'): Record<string, string> => ({
    app: `{type: file, include: ["${site.folder}/logs/${names}"], scan_interval: 100ms${more}}`,
  });
  writeFileSync(log, 'one\n');
  let agent = startShipping(site, { sources: sources() });
  await until('the first is stored', () => service.stored.length === 1);
  expect(await agent.end()).toBe(0);
  const pack = (name: string, text: string): void => writeFileSync(`${log}.${name}`, gzipSync(text));
  pack('4.gz', 'one and another file\n');
  pack('3.gz', 'one\ntwo\nthree\n');
  unlinkSync(log);
  writeFileSync(log, 'four\n');
  agent = startShipping(site, { sources: sources(), args: ['--once'] });
  expect(await agent.exited).toBe(0);
  const said = agent.stderr().match(/.*compressed before it was read to its end.*/g) ?? [];
  expect(said.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'warn', path: `${log}.3.gz`, file: log, offset: 4, unreadBytes: 10 },
  ]);
  expect(service.stored).toHaveLength(2);
  // As the line says.
  agent = startShipping(site, { sources: sources(', read_compressed: true', '*.log*'), args: ['--once'] });
  expect(await agent.exited).toBe(0);
  expect(agent.stderr()).not.toContain('compressed before it was read');
  expect(service.stored.filter((event) => /"(?:two|three)"/.test(event))).toHaveLength(2);
});

// Symptom: what `gzip >>` or nginx's `access_log … gzip` appended to a compressed file that was read never arrived, nor after a restart, and `--once` ended with 0.
test.each([
  ['gzip', 'gz', gzipSync],
  ['zstd', 'zst', zstdCompressSync],
] as const)(
  '%s members that are appended to a compressed file arrive once: while the agent runs, after a kill, with --once',
  async (_, suffix, pack) => {
    const site = await makeSite();
    const { service, log } = site;
    const compressed = `${log}.${suffix}`;
    const lines = (name: string): string[] => Array.from({ length: 500 }, (_line, n) => `${name} ${n} ${(n * 2654435761) % 4294967296}`);
    const names: string[] = [];
    const append = (name: string): void => {
      names.push(name);
      appendFileSync(compressed, pack(lines(name).join('\n') + '\n'));
      utimesSync(compressed, new Date(Date.now() - 60_000 + names.length), new Date(Date.now() - 60_000 + names.length));
    };
    const sources = { app: `{type: file, include: ["${compressed}"], scan_interval: 100ms, read_compressed: true}` };
    const allStored = (): Promise<void> => until('all is stored', () => service.stored.length >= 500 * names.length);
    append('first');
    let agent = startShipping(site, { sources });
    await allStored();
    append('while it runs');
    await allStored();
    // Stored, and the agent never heard: the batch is sent again, under its key.
    let asked = 0;
    service.respond = () => ((asked += 1), { status: 503 });
    append('under way');
    await until('it is asked', () => asked > 0);
    await agent.end('SIGKILL');
    service.respond = () => undefined;
    append('while it is stopped');
    agent = startShipping(site, { sources });
    await allStored();
    expect(await agent.end()).toBe(0);
    append('for once');
    agent = startShipping(site, { sources, args: ['--once'] });
    expect(await agent.exited).toBe(0);
    const messages = messagesOf(site);
    expect(messages.toSorted()).toEqual(names.flatMap(lines).toSorted());
    expect(service.misusedKeys).toEqual([]);
  },
);
