/** Events on a terminal: lines that one can read, wrapped at words; `-o table` on wish. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linesOfEvents, type Paint, wrap } from '../../src/cli/client/output/event-lines.ts';
import { textWidth } from '../../src/cli/client/output/table.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { BINARY } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { tailraceFor } from './tailrace.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const plain: Paint = (_style, text) => text;

function shown(
  events: readonly Record<string, unknown>[],
  terminal: number | 'none' = 80,
  paint = plain,
  zone = 'UTC',
): string[] {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  onTestFinished(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  const columns = [...new Set(['_sysTime', '_time', ...events.flatMap((event) => Object.keys(event))])];
  const rows = events.map((event) => columns.map((name) => event[name] ?? null));
  return linesOfEvents(
    { name: '', columns, rows },
    { hasDate: false, severity: 0, source: 0 },
    terminal === 'none' ? undefined : terminal,
    NOW,
    paint,
  );
}

test('an event is time, severity, source and message, then its other fields', () => {
  const events = [
    {
      _time: '2026-11-26T03:12:04.128456Z',
      level: 50,
      service: 'gateway',
      msg: 'request errored',
      'err.message': 'no connection',
    },
    { _time: '2026-11-26T03:12:05Z', level: 'INFO', service: 'checkout', msg: 'paid', request_id: 'r-1', amount: 12.5 },
    { _time: '2026-11-26T03:12:06Z', host: 'web-1', method: 'GET', path: '/cart', status: 200 },
  ];
  expect(shown(events)).toEqual([
    '03:12:04.128Z error gateway  request errored  err.message="no connection"',
    '03:12:05.000Z INFO  checkout paid  request_id=r-1 amount=12.5',
    '03:12:06.000Z       web-1    status=200 method=GET path=/cart',
  ]);
});

test('a text is wrapped at words below its own beginning, and a stack trace keeps its lines', () => {
  const message = `could not get a connection from the pool within thirty seconds, and gave up\n\tat com.example.Pool.take(Pool.java:7)`;
  expect(
    shown([{ _time: '2026-11-26T03:12:04Z', level: 'ERROR', service: 'pay', message, host: 'pay-2' }], 60),
  ).toEqual([
    `03:12:04.000Z ERROR pay could not get a connection from the
                        pool within thirty seconds, and gave
                        up
                            at
                        com.example.Pool.take(Pool.java:7)
                        host=pay-2`,
  ]);
  expect(wrap('aaa bbbbbbbbbbbb cc', 5)).toEqual(['aaa', 'bbbbb', 'bbbbb', 'bb cc']);
});

test('times are in the zone of the machine, which they name; a day that is not today is in sight', () => {
  const event = { _time: '2026-11-26T03:19:30.04Z', message: 'x' };
  expect(shown([event], 80, plain, 'America/New_York')).toEqual(['2026-11-25 22:19:30.040-05 x']);
  expect(shown([event], 80, plain, 'Asia/Kolkata')).toEqual(['08:49:30.040+05:30 x']);
  expect(shown([{ ...event, _time: '2026-11-25T03:19:30Z' }, event])).toEqual([
    '2026-11-25 03:19:30.000Z x',
    '2026-11-26 03:19:30.040Z x',
  ]);
});

test('without a terminal an event is one line, whatever is in it', () => {
  expect(shown([{ _time: '2026-11-26T03:12:04Z', message: 'a\n\tb', note: 'x\ny', list: [1, 2] }], 'none')).toEqual([
    '03:12:04.000Z a\\n\\tb  note=x\\ny list=[1,2]',
  ]);
});

test('severity has its colour; time and other fields are dimmed', () => {
  const paint: Paint = (style, text) => `<${String(style)}>${text}</>`;
  const events = [
    { _time: '2026-11-26T03:12:04Z', level: '50', service: 'a', message: 'm', n: 1 },
    { _time: '2026-11-26T03:12:04Z', level: 'warn', service: 'a', message: 'm' },
  ];
  expect(shown(events, 80, paint)).toEqual([
    '<dim>03:12:04.000Z</> <red>error</> <cyan>a</> m  <dim>n=1</>',
    '<dim>03:12:04.000Z</> <yellow>warn</>  <cyan>a</> m',
  ]);
});

test('lines are never wider than the terminal, break at blanks, and hold nothing that it obeys', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.lorem({ maxCount: 30 }),
    fc.constant('漢字'.repeat(30)),
  );
  const event = fc.record({
    _time: fc.constantFrom('2026-11-26T03:12:04Z', '2026-01-01T00:00:00Z'),
    level: text,
    service: text,
    message: text,
    extra: text,
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 3 }), fc.integer({ min: 4, max: 160 }), (events, terminal) => {
      for (const line of shown(events, terminal).flatMap((each) => each.split('\n'))) {
        if (terminal >= 60) expect(textWidth(line)).toBeLessThanOrEqual(terminal);
        // oxlint-disable-next-line no-control-regex
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
      }
    }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1 }),
      fc.integer({ min: 9, max: 40 }),
      (words, width) => {
        expect(wrap(words.join(' '), width).flatMap((line) => line.split(' '))).toEqual(words);
      },
    ),
  );
});

const service = localService('logs');

describe.skipIf(!hasPty)(`a terminal${ptyHint}`, () => {
  const start = (args: readonly string[], columns: number, env: Record<string, string | undefined> = {}) =>
    startOnTerminal(['sh', '-c', `stty cols ${columns} rows 24; exec "$@"`, 'sh', BINARY, 'query', ...args], {
      TAILRACE_URL: service.url,
      TAILRACE_TOKEN: API_TOKEN,
      TZ: 'UTC',
      NO_COLOR: '1',
      ...env,
    });
  const seen = async (
    args: readonly string[],
    columns = 80,
    env: Record<string, string | undefined> = {},
  ): Promise<string> => {
    const terminal = start(args, columns, env);
    await terminal.exited;
    return terminal.raw().replaceAll('\r\n', '\n');
  };

  // Symptom: six characters of each column in the order of the alphabet, the service left out, `search` without any message.
  test('shows events as lines; a summary and chosen fields as a table', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`a_field_${n}`, null]));
    await service.ask('POST', '/v1/ingest/logs', [
      { ...many, _time: '2026-05-01T10:00:00Z', level: 30, service: 'checkout', msg: 'order 7 is paid', kind: 'lines' },
      {
        _time: '2026-05-01T10:00:01Z',
        severity: 'ERROR',
        service: 'payments',
        message: `timeout exceeded when trying to connect to the database of payments, after thirty seconds\n\tat Pool.take (pool.js:7)`,
        kind: 'lines',
      },
      { _time: '2026-05-01T10:00:02Z', method: 'GET', path: '/api/checkout', status: 500, kind: 'lines' },
    ]);
    const query = `['logs'] | where kind == "lines"`;
    expect((await seen([`${query} | sort by _time asc`])).split('\n').slice(0, -2)).toEqual([
      '2026-05-01 10:00:00.000Z info  checkout order 7 is paid  kind=lines',
      '2026-05-01 10:00:01.000Z ERROR payments timeout exceeded when trying to connect',
      '                                        to the database of payments, after',
      '                                        thirty seconds',
      '                                            at Pool.take (pool.js:7)',
      '                                        kind=lines',
      '2026-05-01 10:00:02.000Z                status=500 method=GET path=/api/checkout',
      '                                        kind=lines',
    ]);
    expect(await seen(['search "timeout exceeded"'])).toContain('ERROR payments timeout exceeded when');
    expect(await seen(['-d', 'logs', '{"filter":{"op":"==","field":"kind","value":"lines"}}'])).toContain(
      'info  checkout order 7 is paid',
    );
    expect(await seen([query, '-o', 'table'])).toMatch(/^_time +severity +level +service +message +/m);
    expect(await seen([`${query} | project _time, path`])).toMatch(/^_time +path\n/);
    expect(await seen([`${query} | summarize n = count() by service`])).toMatch(/^service +n\n/);
    expect(await seen([query], 80, { NO_COLOR: undefined })).toContain('\u001B[31mERROR\u001B[39m');
  });

  test('follows events as lines', async () => {
    const terminal = start([`['logs'] | where kind == "live"`, '--follow'], 80);
    await until(
      'an event',
      async () => {
        await service.ask('POST', '/v1/ingest/logs', [
          { level: 'warn', service: 'cart', message: 'slow', kind: 'live' },
        ]);
        return /^\d\d:\d\d:\d\d\.\d{3}Z warn cart slow {2}kind=live\r$/m.test(terminal.raw());
      },
      { everyMs: 300 },
    );
    terminal.signal(2);
    expect(await terminal.exited).toBe(0);
  });
});

test('a pipe gets lines where it asks for them, and else a table', async () => {
  const tailrace = tailraceFor({ TAILRACE_URL: service.url, TAILRACE_TOKEN: API_TOKEN, TZ: 'UTC' });
  await tailrace(['ingest', 'logs'], {
    input: '{"_time":"2026-05-02T10:00:00Z","level":"info","message":"a\\nb","kind":"piped"}',
  });
  const query = `['logs'] | where kind == "piped"`;
  expect((await tailrace(['query', query, '-o', 'lines'])).stdout).toBe(
    '2026-05-02 10:00:00.000Z info a\\nb  kind=piped\n',
  );
  expect((await tailrace(['query', query])).stdout).toMatch(/^_time +kind +level +message +_sysTime\n/);
});
