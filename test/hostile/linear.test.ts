/**
 * No text costs more than linear time, whatever shapes it: every format, type, preset, charset, function, operator, redaction and part of syslog, as
 * their tables name them. A line of 200 kB held the agent's only thread for 16 s, and under the watchdog for ever: a pattern took the square of its
 * length. Here each meets some of the hostile texts, on 64 KiB first; test/long/linear.test.ts measures all of them up to 1 MiB.
 */
import { describe, expect, test } from 'vitest';
import { excessOf, isSuspect } from './growth.ts';
import { ROOMS } from './subjects.ts';
import { TEXTS, WORST } from './texts.ts';

/** Each subject meets the worst texts, and so many more, other ones than the subject before it. */
const MORE_TEXTS = 2;

test.each(Object.entries(ROOMS))('%s take linear time on hostile texts', async (_room, open) => {
  const failures: string[] = [];
  for (const [n, { name, run }] of (await open()).entries())
    for (const text of [
      ...WORST,
      ...Array.from({ length: MORE_TEXTS }, (_, more) => TEXTS[(n * MORE_TEXTS + more) % TEXTS.length]!),
    ]) {
      const excess = isSuspect(run, text.of) ? excessOf(run, text.of) : undefined;
      if (excess !== undefined) failures.push(`${name} on ${text.name}: ${excess}`);
    }
  expect(failures).toEqual([]);
});

describe('the measure', () => {
  const quadratic = (text: string): number => {
    let found = 0;
    for (let at = 0; at < text.length; at += 16) found += text.indexOf('\u0001', at);
    return found;
  };

  test('finds work that takes the square of its text', () => {
    const textOf = (bytes: number): string => 'a'.repeat(bytes);
    expect(isSuspect((text) => text.replace(/a+b/g, ''), textOf)).toBe(true);
    expect(excessOf(quadratic, textOf)).toMatch(/^slope (?:1\.[6-9]|2)/);
  });

  test('lets linear work pass', () => {
    const textOf = (bytes: number): string => 'a=b '.repeat(bytes / 4);
    expect(excessOf((text) => text.split('').toSorted().length, textOf)).toBeUndefined();
    expect(excessOf((text) => text.length, textOf)).toBeUndefined();
  });
});
