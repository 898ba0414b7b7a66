/** The line of an event, as the explorer's lists and the terminal show it. */
import { expect, test } from 'vitest';
import { eventLineOf, gravityOf } from '../../src/core/text/event-line.ts';

const lineOf = (event: object) =>
  eventLineOf<unknown>(Object.entries(event), (value) => (typeof value === 'string' ? value : JSON.stringify(value)));

test.each([
  [
    'pino',
    {
      _sysTime: 's',
      _time: 't',
      level: 50,
      hostname: 'gw-2',
      service: 'gateway',
      msg: 'request errored',
      request_id: 'r-1',
      'err.message': 'timeout',
    },
    ['t', 'error', 'gateway', 'request errored', ['err.message', 'hostname', 'request_id']],
  ],
  [
    'Spring Boot',
    { _time: 't', level: 'ERROR', logger: 'c.e.Stock', thread: 'main', message: 'out of stock' },
    ['t', 'ERROR', 'c.e.Stock', 'out of stock', ['thread']],
  ],
  [
    'syslog',
    { _time: 't', host: 'db-1', appname: 'sshd', severity: 'warning', severity_code: 4, message: 'no' },
    ['t', 'warning', 'sshd', 'no', ['host', 'severity_code']],
  ],
  [
    'nginx',
    { _time: 't', bytes: 12, path: '/cart', method: 'GET', status: 200, host: 'web-1' },
    ['t', '', 'web-1', '', ['status', 'method', 'path', 'bytes']],
  ],
  ['the journal', { _time: 't', SYSLOG_IDENTIFIER: 'cron', MESSAGE: 'ran' }, ['t', '', 'cron', 'ran', []]],
  [
    'one with an object as its message, and nulls',
    { _time: 't', message: { a: 1 }, msg: null, level: '', host: 'h' },
    ['t', '', 'h', '', ['message']],
  ],
  ['nothing', {}, ['', '', '', '', []]],
])('a line of %s takes time, severity, source and message, and keeps the rest as pairs', (_, event, wanted) => {
  const { time, severity, source, message, rest } = lineOf(event);
  expect([time, severity, source, message, rest.map(([name]) => name)]).toEqual(wanted);
});

test('severities of all spellings have a colour', () => {
  for (const word of ['error', 'ERROR', 'E', 'err', '50', '60', 'Fatal', 'crit', 'SEVERE'])
    expect([word, gravityOf(word)]).toEqual([word, 'bad']);
  for (const word of ['warn', 'WARNING', 'W', '40']) expect([word, gravityOf(word)]).toEqual([word, 'warn']);
  for (const word of ['info', '30', 'debug', '', '5', 'terror'])
    expect([word, gravityOf(word)]).toEqual([word, undefined]);
});
