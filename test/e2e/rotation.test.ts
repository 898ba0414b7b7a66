/**
 * Rotation as programs and people do it, under the real agent: while it runs, while the service is away, and while the agent is
 * stopped. Every line arrives once, under the path that its file was first matched by.
 */
import { appendFileSync, copyFileSync, mkdirSync, renameSync, symlinkSync, truncateSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSite, metricsOf, type Site, startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';

/** What arrived, as `first path: line`, without the site's folder; sorted. */
function arrived({ service, folder }: Site): string[] {
  const events = service.stored.map((event) => JSON.parse(event) as { file: string; message: string });
  return events.map(({ file, message }) => `${file.slice(join(folder, 'logs').length + 1)}: ${message}`).sort();
}

/** A folder that is written to and rotated; every line is noted with the path that it should arrive under. */
class Rotated {
  readonly expected: string[] = [];
  readonly #root: string;

  constructor({ folder }: Site) {
    this.#root = join(folder, 'logs');
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  /** Appends lines that are to arrive as those of `file`. */
  write(name: string, lines: readonly string[], file = name): void {
    mkdirSync(join(this.path(name), '..'), { recursive: true });
    appendFileSync(this.path(name), lines.map((line) => `${line}\n`).join(''));
    this.expected.push(...lines.map((line) => `${file}: ${line}`));
  }

  rename(from: string, to: string): void {
    mkdirSync(join(this.path(to), '..'), { recursive: true });
    renameSync(this.path(from), this.path(to));
  }
}

const NAMES = ['twice/app.log', 'date/app.log', 'copy/app.log', 'regrown/app.log', 'again/app.log', 'moved/app.log'];

/** Lines of every file, before anything is rotated. */
function begin(site: Site): Rotated {
  const rotated = new Rotated(site);
  for (const name of NAMES) rotated.write(name, [`${name} one`, `${name} two`]);
  rotated.write('dated/app-2026-11-21.log', ['day one']);
  rotated.write('link/first.out', ['first one'], 'link/current.log');
  symlinkSync('first.out', rotated.path('link/current.log'));
  return rotated;
}

/** `isWatched`: an agent looks on, so that what has no name in its folder any more can still be read. */
function rotate(rotated: Rotated, isWatched: boolean): void {
  // Twice before anybody looks, with lines in each generation.
  rotated.write('twice/app.log', ['late in the first']);
  rotated.rename('twice/app.log', 'twice/app.log.1');
  rotated.write('twice/app.log', ['second']);
  rotated.rename('twice/app.log.1', 'twice/app.log.2');
  rotated.rename('twice/app.log', 'twice/app.log.1');
  rotated.write('twice/app.log.2', ['even later in the first'], 'twice/app.log');
  rotated.write('twice/app.log', ['third']);
  // logrotate's dateext, and a program that names its files by the day.
  rotated.write('date/app.log', ['before midnight']);
  rotated.rename('date/app.log', 'date/app.log-20261121');
  rotated.write('date/app.log', ['after midnight']);
  rotated.write('dated/app-2026-11-21.log', ['day one, late']);
  rotated.write('dated/app-2026-11-22.log', ['day two']);
  // The copy's name matches no pattern.
  rotated.write('copy/app.log', ['before the copy']);
  copyFileSync(rotated.path('copy/app.log'), rotated.path('copy/app.log.1'));
  truncateSync(rotated.path('copy/app.log'), 0);
  rotated.write('copy/app.log', ['after the truncation']);
  // Longer than before when it is looked at next.
  truncateSync(rotated.path('regrown/app.log'), 0);
  rotated.write('regrown/app.log', ['anew', 'and longer than what was there before it was truncated']);
  if (isWatched) rotated.write('link/first.out', ['first, late'], 'link/current.log');
  unlinkSync(rotated.path('link/current.log'));
  rotated.write('link/second.out', ['second one'], 'link/current.log');
  symlinkSync('second.out', rotated.path('link/current.log'));
  if (isWatched) rotated.write('again/app.log', ['before the delete']);
  unlinkSync(rotated.path('again/app.log'));
  // With an agent's eye on it, even under the same inode with the same beginning.
  rotated.write('again/app.log', isWatched ? ['again/app.log one', 'again/app.log two', 'in its place'] : ['another file', 'in its place']);
  if (isWatched) rotated.write('moved/app.log', ['before it was moved']);
  rotated.rename('moved/app.log', '../elsewhere/kept');
  rotated.write('moved/app.log', ['in its place']);
}

test.for(['while the agent runs', 'while the service is away', 'while the agent is stopped'] as const)(
  'rotation of every kind %s: every line once',
  async (when) => {
    const site = await makeSite();
    const { service } = site;
    const rotated = begin(site);
    const sources = { app: `{type: file, include: ["${site.folder}/logs/**/*.log"], scan_interval: 100ms}` };
    const isStopped = when === 'while the agent is stopped';
    let agent = startShipping(site, { sources });
    await until('the first lines are stored', () => service.stored.length >= rotated.expected.length);
    if (isStopped) expect(await agent.end()).toBe(0);
    let requests = 0;
    if (when === 'while the service is away') service.respond = () => ((requests += 1), { status: 503 });
    rotate(rotated, !isStopped);
    if (isStopped) agent = startShipping(site, { sources });
    if (when === 'while the service is away') {
      await until('it is asked', () => requests > 0);
      // Once more, with all of the first still held.
      rotated.rename('twice/app.log', 'twice/app.log.3');
      rotated.write('twice/app.log', ['fourth']);
      service.respond = () => undefined;
    }
    await until('every line is stored', () => service.stored.length >= rotated.expected.length);
    const families = await metricsOf(agent);
    expect(await agent.end()).toBe(0);
    expect(arrived(site)).toEqual(rotated.expected.toSorted());
    expect(families.get('tailrace_source_lost_bytes_total')?.samples[0]?.value).toBe(0);
    expect(service.misusedKeys).toEqual([]);
  },
);
