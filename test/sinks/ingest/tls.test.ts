/** https with certificates of an authority of our own: trusted ones, the errors for others, files that change. */
import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import type { TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test as base } from 'vitest';
import type { TlsFiles } from '../../../src/config/values.ts';
import { readTlsFiles } from '../../../src/config/connect/tls-files.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { messageOf } from '../../../src/core/errors.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import type { Sink } from '../../../src/core/sink.ts';
import {
  type Certificate,
  hasOpenssl,
  makeAuthority,
  makeCertificate,
  readCertificate,
} from '../../support/certificates.ts';
import { FakeService } from '../../support/fake-service.ts';
import { runNode } from '../../support/run-node.ts';
import { sinkConfig } from '../../support/sink-config.ts';
import { makeSink as makeSinkOn, never, sinkRequest } from './rig.ts';
import { until } from '../../support/until.ts';
import { suiteFolder } from '../../support/temp-tree.ts';

const NAMES = 'DNS:localhost,IP:127.0.0.1,IP:::1';
const NONE: TlsFiles = { ca: undefined, cert: undefined, key: undefined };

describe.skipIf(!hasOpenssl)('ingest sink over TLS (needs: apt-get install openssl)', () => {
  const folder = suiteFolder();
  let authority: Certificate;
  let other: Certificate;
  let server: Certificate;

  beforeAll(() => {
    authority = makeAuthority(folder, 'authority');
    other = makeAuthority(folder, 'other');
    server = makeCertificate(folder, 'server', authority, { names: NAMES });
  });

  function makeSink(url: string, tls: Partial<TlsFiles>, clock: Clock = systemClock, log: Log = silentLog): Sink {
    return makeSinkOn(url, { tls: { ...NONE, ...tls }, timeoutMs: 10_000 }, clock, log);
  }

  const send = async (sink: Sink) => (await sink.send(sinkRequest, never)).outcome;
  const test = base.extend('service', () => FakeService.start(0, readCertificate(server)));

  test('trusts the given authority, by name, by IPv4 and by IPv6', async ({ service }) => {
    const v6 = await FakeService.start(0, readCertificate(server), '::1');
    for (const url of [service.url, service.url.replace('127.0.0.1', 'localhost'), v6.url]) {
      expect(await send(makeSink(url, { ca: authority.cert }))).toMatchObject({ kind: 'delivered' });
    }
    expect(v6.url).toContain('//[::1]:');
  });

  test('reaches a plain IPv6 address', async () => {
    const service = await FakeService.start(0, undefined, '::1');
    expect(await send(makeSink(service.url, {}))).toMatchObject({ kind: 'delivered' });
    expect(service.requests[0]!.headers.host).toBe(`[::1]:${service.port}`);
  });

  test('says that an authority is unknown and how to name it', async ({ service }) => {
    for (const ca of [undefined, other.cert]) {
      expect(await send(makeSink(service.url, { ca }))).toMatchObject({
        kind: 'retry',
        reason: 'network',
        detail: expect.stringMatching(
          /^the certificate of 127\.0\.0\.1:\d+ is signed by an authority that is not trusted here: set tls\.ca/,
        ),
      });
    }
    expect(service.requests).toEqual([]);
  });

  test('says that a certificate has expired', async () => {
    const expired = makeCertificate(folder, 'expired', authority, { names: NAMES, expired: true });
    const service = await FakeService.start(0, readCertificate(expired));
    expect(await send(makeSink(service.url, { ca: authority.cert }))).toMatchObject({
      kind: 'retry',
      detail: expect.stringContaining("has expired: renew it, or correct this machine's clock"),
    });
  });

  test('says that a certificate is for another host, and for which', async () => {
    const elsewhere = makeCertificate(folder, 'elsewhere', authority, { names: 'DNS:ingest.example.com' });
    const service = await FakeService.start(0, readCertificate(elsewhere));
    expect(await send(makeSink(service.url, { ca: authority.cert }))).toMatchObject({
      kind: 'retry',
      detail: expect.stringMatching(
        /is for another host \(it names DNS:ingest\.example\.com\): use a name that it holds in url/,
      ),
    });
  });

  test('says that a service speaks no TLS', async () => {
    const plain = await FakeService.start();
    expect(await send(makeSink(plain.url.replace('http:', 'https:'), {}))).toMatchObject({
      kind: 'retry',
      detail: expect.stringMatching(/does not speak TLS: write http:\/\/ in url/),
    });
  });

  // Symptom: "read ECONNRESET" was all that http:// at a port for TLS gave.
  test('says of a plain address whose port speaks TLS that https:// is meant', async ({ service }) => {
    const outcome = await send(makeSink(service.url.replace('https:', 'http:'), {}));
    expect(outcome).toMatchObject({
      kind: 'retry',
      reason: 'network',
      detail: expect.stringMatching(/speaks TLS.*write https:\/\/ in url/),
    });
  });

  test('shows its own certificate, and says when the service wants one or takes another', async () => {
    const client = makeCertificate(folder, 'client', authority, { names: 'DNS:agent' });
    const stranger = makeCertificate(folder, 'stranger', other, { names: 'DNS:agent' });
    const { cert, key } = readCertificate(server);
    const service = await FakeService.start(0, {
      cert,
      key,
      ca: readCertificate(authority).cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    expect(await send(makeSink(service.url, { ca: authority.cert, ...client }))).toMatchObject({ kind: 'delivered' });
    expect(await send(makeSink(service.url, { ca: authority.cert, ...stranger }))).toMatchObject({
      kind: 'retry',
      detail: expect.stringMatching(
        /(does not take the client certificate|closed the connection without an answer, .*: if it wants a client certificate)[:,] check tls\.cert and tls\.key/,
      ),
    });
    // The detail leaves out an absent certificate.
    expect(await send(makeSink(service.url, { ca: authority.cert }))).toMatchObject({
      kind: 'retry',
      detail: expect.stringMatching(/wants a client certificate[:,] none is configured: set tls\.cert and tls\.key/),
    });
    expect(service.requests).toHaveLength(1);
  });

  test.each(['-tls1_2', '-tls1_3'])(
    'says that its certificate is missing or wrong to a server that tells (%s)',
    async (version) => {
      const stranger = makeCertificate(folder, 'stranger', other, { names: 'DNS:agent' });
      const files = ['-cert', server.cert, '-key', server.key, '-CAfile', authority.cert];
      const child = spawn('openssl', [
        's_server',
        '-accept',
        '127.0.0.1:0',
        version,
        '-Verify',
        '1',
        '-verify_return_error',
        ...files,
      ]);
      onTestFinished(() => void child.kill());
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
      await until('openssl listens', () => /ACCEPT [\d.]+:\d+/.test(printed));
      const url = `https://127.0.0.1:${/ACCEPT [\d.]+:(\d+)/.exec(printed)![1]}`;
      const cases = [
        [{}, /none is configured: set tls\.cert and tls\.key \(\S+\)/],
        [stranger, /check tls\.cert and tls\.key \(\S+\)/],
      ] as const;
      for (const [shown, reason] of cases) {
        const outcome = await send(makeSink(url, { ca: authority.cert, ...shown }));
        // TLS 1.3 tells after the handshake, and its last word may be lost with the connection.
        expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringMatching(reason) });
      }
    },
  );

  test('takes renewed files into use for the next request, and ends no request in flight', async () => {
    const first = makeCertificate(folder, 'first', authority, { names: 'DNS:first' });
    const second = makeCertificate(folder, 'second', authority, { names: 'DNS:second' });
    const inUse = { cert: join(folder, 'used.crt'), key: join(folder, 'used.key') };
    copyFileSync(first.cert, inUse.cert);
    copyFileSync(first.key, inUse.key);
    const { cert, key } = readCertificate(server);
    const service = await FakeService.start(0, {
      cert,
      key,
      ca: readCertificate(authority).cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const shown: string[] = [];
    let release = () => {};
    service.respond = (request, response) => {
      shown.push(String((response.socket as TLSSocket).getPeerCertificate().subject.CN));
      if (shown.length > 1) return service.storeAll(request, response);
      release = () => service.storeAll(request, response);
    };
    const sink = makeSink(service.url, { ca: authority.cert, ...inUse });
    const underWay = send(sink);
    await until('the first request is there', () => shown.length === 1);
    renameSync(second.cert, inUse.cert);
    renameSync(second.key, inUse.key);
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
    release();
    expect(await underWay).toMatchObject({ kind: 'delivered' });
    expect(shown).toEqual(['first', 'second']);
  });

  test('names the host that it wants to a server of many', async ({ service }) => {
    const named: unknown[] = [];
    service.respond = (request, response) => {
      named.push((response.socket as TLSSocket & { servername: unknown }).servername);
      service.storeAll(request, response);
    };
    for (const url of [service.url.replace('127.0.0.1', 'localhost'), service.url])
      expect(await send(makeSink(url, { ca: authority.cert }))).toMatchObject({ kind: 'delivered' });
    expect(named).toEqual(['localhost', false]);
  });

  test('begins the next connection with the session of the last one', async ({ service }) => {
    const resumed: boolean[] = [];
    service.respond = (request, response) => {
      resumed.push((response.socket as TLSSocket).isSessionReused());
      response.setHeader('connection', 'close');
      service.storeAll(request, response);
    };
    const sink = makeSink(service.url, { ca: authority.cert });
    for (let requests = 0; requests < 2; requests += 1) expect(await send(sink)).toMatchObject({ kind: 'delivered' });
    expect(resumed).toEqual([false, true]);
  });

  test('keeps what it has loaded while files are broken, and says so once', async () => {
    const path = join(folder, 'changing-ca.crt');
    copyFileSync(authority.cert, path);
    const service = await FakeService.start(0, readCertificate(server));
    const said: string[] = [];
    const sink = makeSink(service.url, { ca: path }, systemClock, {
      ...silentLog,
      error: (_fields, message) => void said.push(message),
    });
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
    writeFileSync(path, '-----BEGIN CERTIFICATE-----\nhalf of it');
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
    expect(said).toEqual(['the changed files of tls cannot be used; those loaded before stay in use']);
    copyFileSync(other.cert, path);
    expect(await send(sink)).toMatchObject({ kind: 'retry', detail: expect.stringContaining('not trusted here') });
  });

  test('waits for files that are not there, and goes on when they are', async ({ service }) => {
    const path = join(folder, 'late.crt');
    const sink = makeSink(service.url, { ca: path });
    expect(await send(sink)).toMatchObject({
      kind: 'retry',
      detail: expect.stringMatching(/cannot read the certificate file .*late\.crt.*ENOENT.*check the path/),
    });
    copyFileSync(authority.cert, path);
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
  });

  test('trusts the authorities of the machine by default', async ({ service }) => {
    const script = `
      import { createIngestSink } from ${JSON.stringify(join(import.meta.dirname, '../../../src/sinks/ingest/sink.ts'))};
      import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '../../../src/core/time/clock.ts'))};
      const sink = createIngestSink(${JSON.stringify(sinkConfig(service.url, { tls: NONE }))}, systemClock);
      const sinkRequest = { key: 'k', dataset: 'logs', events: 1, body: Buffer.from('{}\\n'), encoding: 'identity' };
      const { outcome } = await sink.send(sinkRequest, new AbortController().signal);
      await sink.close();
      console.log(outcome.kind);`;
    const file = join(folder, 'system.ts');
    writeFileSync(file, script);
    expect(await runNode([file], { SSL_CERT_FILE: authority.cert })).toBe('delivered\n');
    expect(await runNode([file], { SSL_CERT_FILE: other.cert })).toBe('retry\n');
  });

  test.each([
    [
      'a key that is not the certificate’s',
      () => ({ ...NONE, cert: server.cert, key: other.key }),
      /does not belong to the certificate/,
    ],
    ['a key in place of a certificate', () => ({ ...NONE, ca: server.key }), /certificate file .* cannot be used/],
    ['text', () => ({ ...NONE, ca: join(folder, 'server.ext') }), /holds no `-----BEGIN CERTIFICATE-----`/],
    ['a folder', () => ({ ...NONE, ca: folder }), /is not a regular file/],
    ['an encrypted key', () => ({ ...NONE, cert: server.cert, key: encrypt(server.key) }), /it is encrypted/],
  ])('files are refused: %s', (_what, files, message) => {
    let said = '';
    try {
      readTlsFiles(files());
    } catch (error) {
      said = messageOf(error);
    }
    expect(said).toMatch(message);
    expect(said).not.toContain('PRIVATE KEY');
  });

  function encrypt(key: string): string {
    const out = join(folder, 'encrypted.key');
    expect(spawnSync('openssl', ['pkey', '-in', key, '-aes128', '-passout', 'pass:x', '-out', out]).status).toBe(0);
    return out;
  }
});
