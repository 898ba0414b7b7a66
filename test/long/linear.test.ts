/** Every way of shaping on every hostile text, measured from 64 KiB, or 5 ms, up to 1 MiB (test/hostile/linear.test.ts tries a part of it). */
import { expect, test } from 'vitest';
import { excessOf } from '../hostile/growth.ts';
import { ROOMS } from '../hostile/subjects.ts';
import { TEXTS } from '../hostile/texts.ts';

test.each(Object.entries(ROOMS))(
  '%s take linear time on every hostile text',
  { timeout: 6 * 3600 * 1000 },
  async (room, open) => {
    const failures: string[] = [];
    const subjects = await open();
    for (const [n, { name, run }] of subjects.entries()) {
      for (const text of TEXTS) {
        const excess = excessOf(run, text.of);
        if (excess !== undefined) failures.push(`${name} on ${text.name}: ${excess}`);
      }
      if (n % 50 === 49)
        process.stdout.write(`${room}: ${n + 1} of ${subjects.length} tried, ${failures.length} are not linear\n`);
    }
    expect(failures).toEqual([]);
  },
);
