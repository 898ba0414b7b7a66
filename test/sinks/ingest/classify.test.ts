import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HttpOutcome, classify } from '../../../src/client/classify.ts';

// Not GMT, so that a date that is read as one of this machine shows.
process.env['TZ'] = 'Asia/Kolkata';
const NOW = Date.parse('2026-11-21T17:00:00Z');

function answer(status: number, body: unknown = '', headers: Record<string, string> = {}): HttpOutcome {
  return { kind: 'answer', status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const result = (ingested: number, failed: number, more: object = {}) => ({
  ingested,
  failed,
  failures: [],
  processedBytes: 100,
  blocksCreated: 1,
  walLength: 2,
  ...more,
});

/** Every row of "Answers" in docs/delivery.md. */
const rows: [name: string, answer: HttpOutcome, expected: object][] = [
  [
    '200 with all ingested',
    answer(200, result(3, 0)),
    {
      kind: 'delivered',
      stored: 3,
      facts: { ingest_processed_bytes_total: 100, ingest_blocks_created_total: 1, ingest_wal_length: 2 },
    },
  ],
  [
    '200 with failures',
    answer(200, result(2, 1, { failures: [{ timestamp: '2026-01-01T00:00:00Z', error: 'no', index: 1 }] })),
    { kind: 'partial', stored: 2, failed: 1, failures: [{ index: 1, timestamp: '2026-01-01T00:00:00Z', error: 'no' }] },
  ],
  ['200 with all failed', answer(200, result(0, 3)), { kind: 'partial', stored: 0, failed: 3, failures: [] }],
  ['430, a quota', answer(430, { code: 430, message: 'quota' }), { kind: 'retry', reason: 'rate_limited' }],
  ['429', answer(429, { code: 429, message: 'slow down' }), { kind: 'retry', reason: 'rate_limited' }],
  ['408', answer(408), { kind: 'retry', reason: 'timeout' }],
  ['500', answer(500), { kind: 'retry', reason: 'server_error' }],
  ['502', answer(502, '<html>bad gateway</html>'), { kind: 'retry', reason: 'server_error' }],
  ['503', answer(503), { kind: 'retry', reason: 'server_error' }],
  ['599', answer(599), { kind: 'retry', reason: 'server_error' }],
  [
    'a refused connection',
    { kind: 'failure', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
    {
      kind: 'retry',
      reason: 'network',
      detail: 'connect ECONNREFUSED',
      fix: expect.stringMatching(/^check url, and that the service runs/),
    },
  ],
  [
    'a reset connection',
    { kind: 'failure', code: 'UND_ERR_SOCKET', message: 'other side closed' },
    { kind: 'retry', reason: 'network', detail: 'other side closed (UND_ERR_SOCKET)' },
  ],
  ['an unknown failure', { kind: 'failure', code: '', message: 'odd' }, { kind: 'retry', reason: 'network' }],
  ['the own timeout', { kind: 'failure', code: 'E_TIMEOUT', message: 'none' }, { kind: 'retry', reason: 'timeout' }],
  [
    'undici’s connect timeout',
    { kind: 'failure', code: 'UND_ERR_CONNECT_TIMEOUT', message: '' },
    { kind: 'retry', reason: 'timeout' },
  ],
  ['the system’s timeout', { kind: 'failure', code: 'ETIMEDOUT', message: '' }, { kind: 'retry', reason: 'timeout' }],
  ['401', answer(401), { kind: 'pause', reason: 'unauthorized' }],
  ['403', answer(403), { kind: 'pause', reason: 'unauthorized' }],
  ['404', answer(404), { kind: 'pause', reason: 'not_found' }],
  [
    '400 of nginx to a plain request on a port for TLS',
    answer(400, '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>'),
    { kind: 'retry', reason: 'bad_answer', fix: 'write https:// in url' },
  ],
  [
    '400 of Go to the same',
    answer(400, 'Client sent an HTTP request to an HTTPS server.\n'),
    { kind: 'retry', reason: 'bad_answer' },
  ],
  ['413', answer(413), { kind: 'halve' }],
  ['415', answer(415), { kind: 'bisect' }],
  ['301', answer(301, '', { location: 'http://elsewhere/' }), { kind: 'retry', reason: 'bad_answer' }],
  ['307', answer(307), { kind: 'retry', reason: 'bad_answer' }],
  ['201', answer(201, result(3, 0)), { kind: 'retry', reason: 'bad_answer' }],
  ['202', answer(202), { kind: 'retry', reason: 'bad_answer' }],
  ['204', answer(204), { kind: 'retry', reason: 'bad_answer' }],
  ['400', answer(400, { message: 'broken JSON' }), { kind: 'bisect' }],
  ['422', answer(422), { kind: 'bisect' }],
  ['409', answer(409), { kind: 'bisect' }],
];

test.for(rows)('classify of %s is what the contract says', ([, given, expected]) => {
  expect(classify(given, 3, NOW)).toMatchObject(expected);
});

const noResults: [name: string, body: unknown][] = [
  ['nothing', ''],
  ['HTML', '<!doctype html><html><body>Please log in</body></html>'],
  ['truncated JSON', JSON.stringify(result(3, 0)).slice(0, -3)],
  ['null', 'null'],
  ['a list', '[]'],
  ['a number', '3'],
  ['text', '"ok"'],
  ['an empty object', '{}'],
  ['no failed', { ingested: 3 }],
  ['no ingested', { failed: 0 }],
  ['a count as text', { ingested: '3', failed: 0 }],
  ['a negative count', { ingested: 4, failed: -1 }],
  ['a fraction', { ingested: 2.5, failed: 0.5 }],
  ['a number beyond 2^53', '{"ingested":9007199254740993,"failed":0}'],
  ['a number beyond any', '{"ingested":1e400,"failed":0}'],
  ['fewer events than were sent', result(2, 0)],
  ['more events than were sent', result(4, 0)],
  ['counts that do not add up', result(3, 1)],
  ['a sum that is only right modulo 2^53', '{"ingested":9007199254740991,"failed":-9007199254740988}'],
];

test.for(noResults)('classify of 200 with %s never counts as delivered', ([, body]) => {
  expect(classify(answer(200, body), 3, NOW)).toMatchObject({ kind: 'retry', reason: 'bad_answer' });
});

test('classify takes odd numbers beside the counts as zero', () => {
  const body = `{"ingested":3,"failed":0,"processedBytes":1e300,"blocksCreated":"many","walLength":-5}`;
  expect(classify(answer(200, body), 3, NOW)).toEqual({
    kind: 'delivered',
    stored: 3,
    facts: { ingest_processed_bytes_total: 0, ingest_blocks_created_total: 0, ingest_wal_length: 0 },
  });
});

test('classify keeps only the readable ones of the named failures', () => {
  const failures = [
    null,
    7,
    'x',
    { index: -1 },
    { index: 1.5, error: 5 },
    { index: 2, timestamp: 3, error: 'e'.repeat(10_000) },
  ];
  const outcome = classify(answer(200, result(0, 3, { failures })), 3, NOW);
  expect(outcome).toMatchObject({
    kind: 'partial',
    failures: [
      { index: undefined, timestamp: '', error: 'no reason given' },
      { index: undefined, error: 'no reason given' },
      { index: 2, timestamp: '', error: `${'e'.repeat(200)}…` },
    ],
  });
});

const delays: [name: string, headers: Record<string, string>, afterMs: number | undefined][] = [
  ['no header', {}, undefined],
  ['seconds', { 'retry-after': '120' }, 120_000],
  ['seconds with spaces', { 'retry-after': ' 5 ' }, 5000],
  ['a fraction of a second', { 'retry-after': '1.5' }, 1500],
  ['zero', { 'retry-after': '0' }, 0],
  ['a date', { 'retry-after': 'Sat, 21 Nov 2026 17:00:30 GMT' }, 30_000],
  ['a date in the past', { 'retry-after': 'Sat, 21 Nov 2020 17:00:30 GMT' }, 0],
  ['an RFC 850 date', { 'retry-after': 'Saturday, 21-Nov-26 17:01:00 GMT' }, 60_000],
  // Symptom: the wait was hours too long, or none. Cause: a date without a zone was taken for this machine's. Fix: it is GMT (RFC 9110).
  ['an asctime date', { 'retry-after': 'Sat Nov 21 17:01:00 2026' }, 60_000],
  ['an asctime date early in its month', { 'retry-after': 'Tue Dec  1 17:00:00 2026' }, 10 * 86_400_000],
  ['words', { 'retry-after': 'soon' }, undefined],
  // Symptom: the batch was sent again at once. Cause: Date.parse takes "-5" and "try 3" for dates in 2001.
  // Fix: only what begins with a weekday is a date.
  ['a negative number', { 'retry-after': '-5' }, undefined],
  ['words with a number', { 'retry-after': 'try 3' }, undefined],
  ['nothing in it', { 'retry-after': '' }, undefined],
  ['two joined headers', { 'retry-after': '5, 10' }, undefined],
  ['a reset time', { 'x-ratelimit-reset': String(NOW / 1000 + 42) }, 42_000],
  ['a reset time in the past', { 'x-ratelimit-reset': String(NOW / 1000 - 42) }, 0],
  ['a reset time that is none', { 'x-ratelimit-reset': 'later' }, undefined],
  // Symptom: on a machine whose clock is an hour slow, each such answer held the sink for an hour. Cause: the service's time was compared with the
  // machine's. Fix: with its own, where it tells it and they differ by more than the second that it is rounded to.
  [
    'a date of a service that is ahead',
    { 'retry-after': 'Sat, 21 Nov 2026 18:00:30 GMT', date: 'Sat, 21 Nov 2026 18:00:00 GMT' },
    30_000,
  ],
  [
    'a date of a service that is behind',
    { 'retry-after': 'Sat, 21 Nov 2026 16:00:30 GMT', date: 'Sat, 21 Nov 2026 16:00:00 GMT' },
    30_000,
  ],
  [
    'a date of a service that is a moment behind',
    { 'retry-after': 'Sat, 21 Nov 2026 17:00:30 GMT', date: 'Sat, 21 Nov 2026 16:59:59 GMT' },
    30_000,
  ],
  ['a date beside a time that is none', { 'retry-after': 'Sat, 21 Nov 2026 17:00:30 GMT', date: '-5' }, 30_000],
  [
    'a reset time of a service that is ahead',
    { 'x-ratelimit-reset': String(NOW / 1000 + 3642), date: 'Sat, 21 Nov 2026 18:00:00 GMT' },
    42_000,
  ],
  ['both', { 'retry-after': '10', 'x-ratelimit-reset': String(NOW / 1000 + 42) }, 42_000],
  ['both, the other longer', { 'retry-after': '100', 'x-ratelimit-reset': String(NOW / 1000 + 42) }, 100_000],
];

test.for(delays)('classify reads the wait from %s', ([, headers, afterMs]) => {
  for (const status of [429, 408, 503]) {
    const outcome = classify(answer(status, '', headers), 3, NOW);
    expect(outcome.kind === 'retry' && outcome.afterMs).toBe(afterMs);
  }
});

test('classify of an endless number of seconds is still a wait', () => {
  const outcome = classify(answer(429, '', { 'retry-after': '9'.repeat(400) }), 3, NOW);
  expect(outcome.kind === 'retry' && outcome.afterMs).toBeGreaterThan(3_600_000);
});

test('classify quotes the service’s message, on one line and in bounds', () => {
  const outcome = classify(answer(403, { code: 403, message: 'token\n  is   gone' }), 3, NOW);
  expect(outcome).toMatchObject({ detail: 'HTTP 403 token is gone' });
  const long = classify(answer(500, 'x'.repeat(1_000_000)), 3, NOW);
  expect(long.kind === 'retry' && long.detail.length).toBeLessThan(300);
  expect(classify(answer(500, '{"message":{"a":1}}'), 3, NOW)).toMatchObject({ detail: 'HTTP 500' });
});

test('classify never throws, and never says delivered but for a 200 whose counts say so', () => {
  const number = fc.oneof(fc.integer({ min: -1, max: 6 }), fc.double(), fc.constantFrom(null, '3', true));
  const bodies = fc.oneof(
    fc.string(),
    fc.constantFrom('null', '[]', '{}', '"ok"'),
    fc.record({ ingested: number, failed: number }).map((each) => JSON.stringify(each)),
  );
  const headers = fc.dictionary(fc.constantFrom('retry-after', 'x-ratelimit-reset', 'location'), fc.string());
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      bodies,
      headers,
      fc.integer({ min: 1, max: 5 }),
      (status, body, head, n) => {
        const outcome = classify(answer(status, body, head), n, NOW);
        if (outcome.kind === 'retry' && outcome.afterMs !== undefined)
          expect(outcome.afterMs).toBeGreaterThanOrEqual(0);
        if (outcome.kind !== 'delivered') return;
        expect(status).toBe(200);
        expect(JSON.parse(body)).toMatchObject({ ingested: n, failed: 0 });
      },
    ),
    { numRuns: 1000 },
  );
});
