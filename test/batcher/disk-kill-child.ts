/**
 * A process that takes batches through the disk buffer, of which one has an event that the service refuses, and is killed before
 * its Nth call that changes the disk. argv: the folder, the journal that the test reads, N (0: not at all).
 */
import { appendFileSync } from 'node:fs';
import { until } from '../support/until.ts';
import { calls, killBefore, uncounted } from '../support/kill-before.ts';
import { KillRig, TAKEN } from './disk-kill-rig.ts';

const [folder, journal, nth] = process.argv.slice(2) as [string, string, string];
const write = (entry: object): void => uncounted(() => appendFileSync(journal, `${JSON.stringify(entry)}\n`));

const rig = new KillRig(folder, (key, body) => write({ key, body }));
killBefore(Number(nth));
for (const [name, events] of Object.entries(TAKEN)) {
  rig.take(name, events);
  await rig.written();
  write({ durable: name });
}
await until('all is settled', () => rig.delivery.queue.sending.length === 0);
await rig.stop();
write({ calls });
process.exit(0);
