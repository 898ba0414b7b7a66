/** What the failures of a ClickHouse server become: a server that is away is a 503 with Retry-After, so that clients come again; a bug is not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../src/service/http/api-error.ts';
import { openShard, type Shard } from '../../src/service/engine/shard.ts';
import { FakeService } from '../support/fake-service.ts';

/** A server that answers every statement with the failure in its text, as ClickHouse writes it. */
let service: FakeService;
let shard: Shard;
beforeAll(async () => {
  service = await FakeService.start();
  service.respond = ({ body }, response) => {
    const [, code = '', message = ''] = /^fail (\d+) (.*?)(?:\nFORMAT.*)?$/s.exec(body.toString().trim()) ?? [];
    response
      .writeHead(500, { 'X-ClickHouse-Exception-Code': code })
      .end(`Code: ${code}. DB::Exception: ${message} (version 26.7)`);
  };
  shard = openShard({ host: service.url, user: 'default', password: '', database: 'x' });
});
afterAll(async () => {
  await shard.close();
  await service.stop();
});

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const AWAY: readonly (readonly [number, string, RegExp])[] = [
  [198, 'Not found address of host: shard-2 (DNS_ERROR)', /cannot reach another of its servers/],
  [
    209,
    'Timeout exceeded while reading from socket (shard-2:9000, 300000 ms) (SOCKET_TIMEOUT)',
    /cannot reach another of its servers/,
  ],
  [210, 'Connection refused (shard-2:9000) (NETWORK_ERROR)', /cannot reach another of its servers/],
  [279, 'All connection tries failed. Log: (ALL_CONNECTION_TRIES_FAILED)', /cannot reach another of its servers/],
  [394, 'Query was cancelled (QUERY_WAS_CANCELLED)', /cannot reach another of its servers/],
  [
    32,
    'Attempt to read after eof: while receiving packet from shard-2:9000 (ATTEMPT_TO_READ_AFTER_EOF)',
    /cannot reach another of its servers/,
  ],
  [202, 'Too many simultaneous queries (TOO_MANY_SIMULTANEOUS_QUERIES)', /cannot be reached/],
  [203, 'No free connections (NO_FREE_CONNECTION)', /cannot be reached/],
  [60, 'Table tailrace.ds_1_shard does not exist (UNKNOWN_TABLE)', /lacks tables that it had/],
  [81, 'Database tailrace does not exist (UNKNOWN_DATABASE)', /lacks tables that it had/],
];

describe('a server that is away', () => {
  test.each(AWAY)('is a 503 with Retry-After: code %i, %s', async (code, message, wanted) => {
    for (const work of [shard.select(`fail ${code} ${message}`, {}, {}), shard.run(`fail ${code} ${message}`)]) {
      const error = await failureOf(work);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({
        status: 503,
        headers: { 'Retry-After': '5' },
        message: expect.stringMatching(wanted),
      });
    }
  });

  test.each([
    [47, 'Unknown expression identifier (UNKNOWN_IDENTIFIER)'],
    [241, 'Memory limit exceeded (MEMORY_LIMIT_EXCEEDED)'],
    [32, 'Attempt to read after eof: while reading a part (ATTEMPT_TO_READ_AFTER_EOF)'],
  ])('is not what another failure is taken for: code %i, %s', async (code, message) => {
    expect(await failureOf(shard.select(`fail ${code} ${message}`, {}, {}))).not.toBeInstanceOf(ApiError);
  });
});
