/** Compressed files beside the plain ones that they were made of, under the real agent: nothing comes twice, and nothing is left out. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { makeSite } from '../support/shipping.ts';
import { steps } from '../sources/file/steps.ts';
import { AgentRig, agentScenarios } from './scenario.ts';

const READ = 'read_compressed: true';
const lines = (name: string, count = 300): string[] =>
  Array.from({ length: count }, (_, n) => `${name} ${n} ${(n * 2_654_435_761) % 4_294_967_296}`);

agentScenarios(
  {
    'what was read before it was compressed is not read again, also after a restart; what never was is read when asked': steps`
      write app.log ${lines('second')}; pack app.log.3.gz ${lines('never')}; start; stores ${lines('second')}; says compressed; stop
      // As logrotate does it, between the look that read it and the next.
      start ${READ}; says "tailrace runs"; pack app.log.1.gz ${lines('second')}; rm app.log; write app.log ${lines('third')}; count 900
      says "compressed file holds what was read in its plain form"; pack app.log.2.zst ${lines('third')}; stop
      rm app.log; pack app.log.4.zst ${lines('last')}; start ${READ}
      stores ${['second', 'never', 'third', 'last'].flatMap((name) => lines(name))}
      says "compressed file holds what was read in its plain form"`,
  },
  { glob: 'app.log*' },
);

// Symptom: lines that logrotate's `delaycompress` put into a compressed file while no agent ran were not read, and the log called the file
// gone, with lostBytes 0.
test('compressed file with more lines than were read before the stop, and left out, is named at the next start with its unread bytes', async () => {
  const rig = new AgentRig(await makeSite());
  await rig.play(steps`
    write app.log one; start; stores one; stop; write app.log.4.gz ${gzipSync('one and another file\n')}
    write app.log.3.gz ${gzipSync('one\ntwo\nthree\n')}; rm app.log; write app.log four; once; stores one four
  `);
  const said = rig.agent.stderr().match(/.*compressed before it was read to its end.*/g) ?? [];
  expect(said.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'warn', path: rig.path('app.log.3.gz'), file: rig.path('app.log'), offset: 4, unreadBytes: 10 },
  ]);
  // As the line says.
  const all = new AgentRig(rig.site, { glob: '*.log*', source: READ });
  await all.play('once; said 0 compressed before it was read');
  expect(rig.site.service.stored.filter((event) => /"(?:two|three)"/.test(event))).toHaveLength(2);
});

// Symptom: what `gzip >>` or nginx's `access_log … gzip` appended to a compressed file that was read never arrived, nor after a restart, and `--once` ended with 0.
agentScenarios(
  Object.fromEntries(
    ['gz', 'zst'].map((suffix) => [
      `.${suffix} members that are appended to a compressed file arrive once: while the agent runs, after a kill, with --once`,
      steps`
        pack app.log.${suffix} ${lines('first', 500)}; start; count 500; pack+ app.log.${suffix} ${lines('second', 500)}; count 1000
        // Stored, and the agent never heard: the batch is sent again, under its key.
        away; pack+ app.log.${suffix} ${lines('third', 500)}; asked; kill; back; pack+ app.log.${suffix} ${lines('fourth', 500)}; start
        count 2000; stop; pack+ app.log.${suffix} ${lines('fifth', 500)}; once
        stores ${['first', 'second', 'third', 'fourth', 'fifth'].flatMap((name) => lines(name, 500))}`,
    ]),
  ),
  { glob: 'app.log.*', source: READ },
);
