/** A header of RFC 3164 without a priority, as many security devices send it: taken as 13, `user.notice` (RFC 3164, 4.3.3). */
import { broken, common, rare, type Sample } from './sample.ts';

const REASON = 'no <PRI> from 0 to 191 at the beginning';
const body = { host: 'h', appname: 'a', message: 'x' };

export const withoutPriority: Sample[] = [
  common('Oct 11 22:14:15 host su: no priority', {
    _time: '2025-10-11T19:14:15Z',
    host: 'host',
    appname: 'su',
    message: 'no priority',
  }),
  common('Jul  9 07:54:17 gw CEF:0|Trend Micro|Deep Security|20|600|Sign In|3|src=10.0.0.9', {
    _time: '2026-07-09T04:54:17Z',
    host: 'gw',
    message: 'CEF:0|Trend Micro|Deep Security|20|600|Sign In|3|src=10.0.0.9',
  }),
  common('Jul 10 10:59:59.123 192.0.2.9 LEEF:2.0|Vendor|Product|1|42|src=10.0.0.9', {
    _time: '2026-07-10T07:59:59.123Z',
    host: '192.0.2.9',
    message: 'LEEF:2.0|Vendor|Product|1|42|src=10.0.0.9',
  }),
  // As programs write to /dev/log, which names no host.
  common('Jul 10 11:00:00 cron[12]: x', { _time: '2026-07-10T08:00:00Z', appname: 'cron', procid: '12', message: 'x' }),
  common('Feb  5 17:32:18 10.0.0.99 Use the BFG!', {
    _time: '2026-02-05T15:32:18Z',
    host: '10.0.0.99',
    message: 'Use the BFG!',
  }),
  rare('Jul 10 11:00:00 Ωμέγα x', { _time: '2026-07-10T08:00:00Z', message: 'Ωμέγα x' }),
  rare('Jul 10 11:00:00', { _time: '2026-07-10T08:00:00Z' }),
  rare(' Jul 10 11:00:00 h a: x', { ...body, _time: '2026-07-10T08:00:00Z' }),
  rare('Jul 9 11:00:00 h a: x', { ...body, _time: '2026-07-09T08:00:00Z' }),
  rare('Jul 10 2024 11:00:00 h a: x', { ...body, _time: '2024-07-10T08:00:00Z' }),
  rare('Jul 10 11:00:00 2024 h a: x', { ...body, _time: '2024-07-10T08:00:00Z' }),
  rare('Jul 11 11:00:01 h a: x', { ...body, time_error: 'Jul 11 11:00:01' }),
  rare('29: *Jul 10 10:59:59.123: %SYS-5-CONFIG_I: Configured from console', {
    _time: '2026-07-10T07:59:59.123Z',
    appname: '%SYS-5-CONFIG_I',
    message: 'Configured from console',
  }),
  rare('r1: Jul 10 10:59:59: %SYS-5-CONFIG_I: x', {
    _time: '2026-07-10T07:59:59Z',
    host: 'r1',
    appname: '%SYS-5-CONFIG_I',
    message: 'x',
  }),
  rare('Jul 10 2026 10:59:59: %ASA-6-302013: Built', {
    _time: '2026-07-10T07:59:59Z',
    appname: '%ASA-6-302013',
    message: 'Built',
  }),
  rare('2026-07-10T08:00:00Z host app: x', {
    _time: '2026-07-10T08:00:00Z',
    host: 'host',
    appname: 'app',
    message: 'x',
  }),
  rare('2026-07-10T11:00:00.123456+03:00 h a[1]: x', {
    ...body,
    procid: '1',
    _time: '2026-07-10T11:00:00.123456+03:00',
  }),
  rare('2026-07-10T11:00:00 h CEF:0|a|b|1|2|c|3|', {
    _time: '2026-07-10T08:00:00Z',
    host: 'h',
    message: 'CEF:0|a|b|1|2|c|3|',
  }),
  rare('2099-07-10T11:00:00Z h a: x', { ...body, time_error: '2099-07-10T11:00:00Z' }),
  ...[
    // No date, or none that exists.
    'Feb 30 10:00:00 host su: x',
    'Jul 10 24:00:00 host su: x',
    'Jul 10 11:00 host su: x',
    'jul 10 11:00:00 host su: x',
    'July 10 11:00:00 host su: x',
    '2026-02-30T08:00:00Z host app: x',
    'at Oct 11 22:14:15 host su: x',
    '44 Oct 11 22:14:15 host su: x',
    // Lines of programs, not of syslog.
    '2026-07-10 11:00:00,123 main - x',
    '2026-07-10 11:00:00 host app: x',
    '2026-07-10T11:00:00Z ERROR x',
    '2026-07-10T11:00:00Z warn app: x',
    '2026-07-10T11:00:00Z [main] x',
    '2026-07-10T11:00:00Z',
    // A malformed priority.
    '<192>Oct 11 22:14:15 host su: x',
    '<>Oct 11 22:14:15 host su: x',
    '1 2026-07-10T08:00:00Z host app - - - x',
  ].map((text) => broken(text, REASON)),
];
