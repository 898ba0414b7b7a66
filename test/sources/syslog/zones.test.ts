/**
 * Zones, years and halves of a day behind a sender's clock. Symptom: `CET` of Cisco's marks was read in the configured zone, `UTC` or `PM.421` became the
 * host. Cause: the name was taken off and thrown away, or taken for the host.
 */
import { afterAll, expect, test } from 'vitest';
import { createRig, eventsOf } from './rig.ts';
import { RECEIVED_AT } from './receipt.ts';

const rig = createRig();
afterAll(() => expect(rig.isFull()).toBe(false));

// Received in Athens on 2026-07-10 at 08:00 UTC.
const CASES: [message: string, event: Record<string, unknown>][] = [
  ['84027: Jul 10 07:54:17.375 CET: %SYS-5-CONFIG_I: x', { _time: '2026-07-10T06:54:17.375Z' }],
  ['84027: Jul 10 07:54:17.375 CEST: %SYS-5-CONFIG_I: x', { _time: '2026-07-10T05:54:17.375Z' }],
  ['84027: Jul 09 23:54:17 EST: %SYS-5-CONFIG_I: x', { _time: '2026-07-10T04:54:17Z' }],
  ['84027: Jul 09 23:54:17 PDT: %SYS-5-CONFIG_I: x', { _time: '2026-07-10T06:54:17Z' }],
  ['84027: Jul 10 07:54:17 UTC: %SYS-5-CONFIG_I: x', { _time: '2026-07-10T07:54:17Z' }],
  ['84027: Jul 10 07:54:17 IST: %SYS-5-CONFIG_I: x', { _time: RECEIVED_AT, time_error: 'Jul 10 07:54:17 IST' }],
  ['84027: Jul 10 07:54:17 HOME: %SYS-5-CONFIG_I: x', { _time: RECEIVED_AT, time_error: 'Jul 10 07:54:17 HOME' }],
  [
    'Jul 10 07:54:17 UTC host1 sshd[1]: x',
    { _time: '2026-07-10T07:54:17Z', host: 'host1', appname: 'sshd', message: 'x' },
  ],
  ['Jul 10 07:54:17 WEST host1 sshd[1]: x', { _time: '2026-07-10T06:54:17Z', host: 'host1', appname: 'sshd' }],
  ['Jul 10 07:54:17 IST host1 sshd[1]: x', { _time: RECEIVED_AT, time_error: 'Jul 10 07:54:17 IST', host: 'host1' }],
  ['Jul 10 07:54:17 MYFW sshd[1]: x', { _time: '2026-07-10T04:54:17Z', host: 'MYFW', appname: 'sshd' }],
  ['Jul 10 07:54:17 CAT sshd[1]: x', { _time: '2026-07-10T04:54:17Z', host: 'CAT', appname: 'sshd' }],
  ['Jul 10 07:54:17 CRON[7]: x', { _time: '2026-07-10T04:54:17Z', appname: 'CRON', message: 'x' }],
  [
    '2026-07-10T07:54:17.003-07:00 CRON: %ASA-6-302013: x',
    { _time: '2026-07-10T07:54:17.003-07:00', appname: 'CRON', message: '%ASA-6-302013: x' },
  ],
  ['Jul 10 07:54:17 CRON: x', { _time: '2026-07-10T04:54:17Z', appname: 'CRON', message: 'x' }],
  [
    '17: Jul 10 07:54:17.422 UTC : %UC_AUDITLOG-5-X: y',
    { _time: '2026-07-10T07:54:17.422Z', message: expect.stringMatching(/^%UC|^y/) },
  ],
  ['8103: Jul 10 2026 01:54:17 AM.421 UTC : %UC_X: y', { _time: '2026-07-10T01:54:17.421Z' }],
  ['8103: Jul 09 2026 01:54:17 PM.421 UTC : %UC_X: y', { _time: '2026-07-09T13:54:17.421Z' }],
  ['Jul 09 12:54:17 PM host1 a: y', { _time: '2026-07-09T09:54:17Z', host: 'host1' }],
  ['2026-07-10 07:54:17 CET host1 a: y', { _time: '2026-07-10T06:54:17Z', host: 'host1' }],
  ['Jul 10 07:54:17 UTC 2026 host1 a: y', { _time: '2026-07-10T07:54:17Z', host: 'host1' }],
  // A date without a year that would be ahead comes from a clock that is ahead, not from last year.
  ['Jul 12 07:54:17 host1 a: y', { _time: RECEIVED_AT, time_error: 'Jul 12 07:54:17', host: 'host1' }],
  ['Aug 09 07:54:17 host1 a: y', { _time: RECEIVED_AT, time_error: 'Aug 09 07:54:17', host: 'host1' }],
  ['Aug 11 07:54:17 host1 a: y', { _time: '2025-08-11T04:54:17Z', host: 'host1' }],
];

test.each(CASES)('syslog: %s', async (text, event) => {
  const messages = [Buffer.from(`<189>${text}`)];
  const taken = await rig.take(messages, 'framed');
  expect(taken).toEqual(eventsOf(messages, 'framed'));
  expect(JSON.parse(taken[0]!)).toMatchObject(event);
  const { time_error: error } = JSON.parse(taken[0]!) as Record<string, unknown>;
  expect(error).toBe(event['time_error']);
});
