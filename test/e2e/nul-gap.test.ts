/**
 * A program that does not open its log for appending, under real logrotate with `copytruncate` and the real agent: what it writes after
 * each truncation is behind a NUL gap that is longer than an event may be. Every line arrives once.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { valueOf } from '../support/prometheus-text.ts';
import { makeSite, metricsOf, range, type Site, startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { LOGROTATE, Rotation } from './storm-rotation.ts';

const MIB = 1024 * 1024;

/** `cat > log`, which writes where it left off, whatever became of the file. */
class Writer {
  seq = 0;
  readonly #log: string;
  readonly #cat: ReturnType<typeof spawn>;
  #end = 0;

  constructor(log: string) {
    this.#log = log;
    const fd = openSync(log, 'w');
    this.#cat = spawn('cat', { stdio: ['pipe', fd, 'ignore'] });
    closeSync(fd);
    onTestFinished(() => void this.#cat.kill('SIGKILL'));
  }

  /** Resolves once the lines, of `bytes` together, are in the file. */
  async write(count: number, bytes = 0): Promise<void> {
    const pad = 'x'.repeat(Math.floor(bytes / count));
    let text = '';
    for (let n = 0; n < count; n += 1) text += `{"seq":${this.seq++},"pad":"${pad}"}\n`;
    this.#cat.stdin!.write(text);
    this.#end += text.length;
    await until('all of it is in the file', () => statSync(this.#log).size === this.#end);
  }
}

const seqs = ({ service }: Site): number[] =>
  service.stored.map((event) => (JSON.parse(event) as { seq: number }).seq).toSorted((a, b) => a - b);

test.skipIf(LOGROTATE === undefined).for(['*.log', '*.log*'])(
  `lines behind the NUL gaps that copytruncate leaves arrive once, over kills, with %s${LOGROTATE ? '' : ' (apt install logrotate)'}`,
  async (glob) => {
    const site = await makeSite();
    const { log, service, folder } = site;
    const options = { sources: { app: `{type: file, include: ["${folder}/logs/${glob}"], scan_interval: 100ms}` } };
    const rotation = new Rotation(join(folder, 'logrotate'), log, 'copytruncate', ':');
    const writer = new Writer(log);
    const stored = (): Promise<void> => until('every line is stored', () => service.stored.length >= writer.seq);
    let agent = startShipping(site, options);
    await writer.write(3000, 3 * MIB);
    await stored();

    // Looked at, with lines that come before and after the look.
    await rotation.rotate();
    await writer.write(10);
    await stored();
    await writer.write(500, 6 * MIB);

    // Killed while the service takes nothing: the events read are in flight, the rest is not read.
    service.respond = () => ({ status: 503 });
    await rotation.rotate();
    await writer.write(2000, 5 * MIB);
    await agent.says('begins with NUL bytes');
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
    service.respond = () => undefined;
    agent = startShipping(site, options);
    await stored();

    // Rotated while no agent runs.
    expect(await agent.end()).toBe(0);
    await writer.write(20);
    await rotation.rotate();
    await writer.write(10);
    agent = startShipping(site, options);
    await stored();
    await writer.write(10);
    await stored();

    const metrics = await metricsOf(agent);
    expect(valueOf(metrics, 'tailrace_source_lost_bytes_total', { source: 'app' })).toBe(0);
    expect(valueOf(metrics, 'tailrace_source_lag_bytes', { source: 'app' })).toBe(0);
    expect(await agent.end()).toBe(0);
    expect(seqs(site)).toEqual(range(writer.seq));
    expect(service.misusedKeys).toEqual([]);
  },
);
