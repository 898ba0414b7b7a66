/** The agent where address space is limited: memory of WebAssembly is gigabytes of it, whatever it holds. */
import { expect, test } from 'vitest';
import { BINARY, startCommand } from '../support/program.ts';
import { configure, makeSite, range, storedSeqs, writeLines } from '../support/shipping.ts';

// Symptom: with `ulimit -v` at 34 GB a batch was held until a restart, at 24 GB the log blamed a file's permissions. Cause: memory was
// taken when it was first needed. Fix: all of it is taken at the start, which names the shortage.
test.each([2, 8, 16, 24, 34, 44])(
  'a run in %i GB of address space delivers, or says at its start that they are too few',
  async (gigabytes) => {
    const site = await makeSite();
    writeLines(site, 100);
    const config = configure(site, { sink: 'compression: gzip' });
    const agent = startCommand('sh', [
      '-c',
      `ulimit -v ${gigabytes}000000; exec "$0" run --config "$1" --once`,
      BINARY,
      config,
    ]);
    if ((await agent.exited) === 0) expect(storedSeqs(site)).toEqual(range(100));
    else
      expect(agent.stderr()).toMatch(
        /bytes of memory could not be reserved\n {2}fix: Allow more address space \(ulimit -v\)/,
      );
    expect(agent.stderr()).not.toContain('permissions');
  },
);
