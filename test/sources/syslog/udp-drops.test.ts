import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UdpDrops } from '../../../src/sources/syslog/receive/udp-drops.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { makeTree } from '../../support/temp-tree.ts';

const HEAD =
  '   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops             \n';
const line = (port: number, inode: number, drops: number): string =>
  `  176: 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 ${inode} 2 0000000000000000 ${drops}        \n`;

test('dropped datagrams are those of the watched sockets, and do not go back when these are closed', async () => {
  const folder = makeTree({});
  const [four, six] = [join(folder, 'udp'), join(folder, 'udp6')];
  const clock = new SteppedClock();
  const drops = new UdpDrops(clock, [four, six]);
  writeFileSync(four, HEAD + line(514, 11, 5) + line(515, 12, 7));
  writeFileSync(six, HEAD + line(516, 13, 100));
  expect(drops.total).toBe(0);
  drops.watch({ inode: 12 });
  drops.watch({ port: 516 });
  expect(drops.total).toBe(107);
  writeFileSync(four, HEAD + line(515, 12, 9));
  await clock.advance(1000);
  expect(drops.total).toBe(109);
  drops.forgetAll();
  writeFileSync(four, HEAD);
  await clock.advance(1000);
  expect(drops.total).toBe(109);
});

test('dropped datagrams are 0 where the system does not count them', () => {
  const drops = new UdpDrops(new SteppedClock(), ['/nowhere/udp']);
  drops.watch({ inode: 1 });
  expect(drops.total).toBe(0);
});
