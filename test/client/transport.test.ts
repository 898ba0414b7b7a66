/** The client's way to a service: TLS with authorities and client certificates, and proxies. */
import { readFileSync } from 'node:fs';
import nock from 'nock';
import { expect, onTestFinished } from 'vitest';
import { createClient, type ClientOptions } from '../../src/client/client.ts';
import { openConnection } from '../../src/cli/client/connection.ts';
import {
  type Certificate,
  hasOpenssl,
  makeAuthority,
  makeCertificate,
  readCertificate,
} from '../support/certificates.ts';
import { FakeService, replyWith, test } from '../support/fake-service.ts';
import { startProxy } from '../support/proxy.ts';
import { makeTree } from '../support/temp-tree.ts';

const needs = '(needs: apt-get install openssl)';

function makeAuthorityIn(): { folder: string; authority: Certificate; ca: Buffer } {
  const folder = makeTree({});
  const authority = makeAuthority(folder, 'authority');
  return { folder, authority, ca: readFileSync(authority.cert) };
}

async function startTls(server: Certificate, options: object = {}): Promise<FakeService> {
  const service = await FakeService.start(0, { ...readCertificate(server), ...options });
  service.respond = (_request, response) => replyWith(response, 200, []);
  return service;
}

const listFrom = (options: ClientOptions) => createClient(options).datasets.list();

test.skipIf(!hasOpenssl)(`client trusts the authority that it is given, and no other ${needs}`, async () => {
  const { folder, authority, ca } = makeAuthorityIn();
  const { url } = await startTls(makeCertificate(folder, 'server', authority, { names: 'IP:127.0.0.1' }));
  expect(await listFrom({ url, tls: { ca } })).toEqual([]);
  await expect(listFrom({ url })).rejects.toMatchObject({
    code: 'E_CONNECTION',
    message: expect.stringContaining('set tls.ca to the file') as string,
  });
});

test.skipIf(!hasOpenssl)(`client shows its certificate to a service that wants one ${needs}`, async () => {
  const { folder, authority, ca } = makeAuthorityIn();
  const server = makeCertificate(folder, 'server', authority, { names: 'IP:127.0.0.1' });
  const { url } = await startTls(server, { ca, requestCert: true, rejectUnauthorized: true });
  const own = readCertificate(makeCertificate(folder, 'client', authority, { names: 'DNS:client' }));
  expect(await listFrom({ url, tls: { ca, ...own } })).toEqual([]);
  await expect(listFrom({ url, tls: { ca } })).rejects.toMatchObject({
    code: 'E_CONNECTION',
    message: expect.stringContaining('tls.cert') as string,
  });
});

test.skipIf(!hasOpenssl)(`client goes through a tunnel to a service behind a proxy ${needs}`, async () => {
  const { folder, authority, ca } = makeAuthorityIn();
  const service = await startTls(makeCertificate(folder, 'server', authority, { names: 'DNS:api.example.com' }));
  const proxy = await startProxy(() => service.port, 'me:secret');
  const withUser = proxy.url.replace('//', '//me:secret@');
  expect(await listFrom({ url: 'https://api.example.com', proxy: withUser, tls: { ca } })).toEqual([]);
  expect(proxy.seen).toEqual(['CONNECT api.example.com:443']);
  await expect(listFrom({ url: 'https://api.example.com', proxy: proxy.url, tls: { ca } })).rejects.toMatchObject({
    message: expect.stringContaining('the proxy wants a user and password') as string,
  });
});

test('connection takes the proxy of the environment, but not for this machine’s own services', async ({ service }) => {
  service.respond = (_request, response) => replyWith(response, 200, []);
  const proxy = await startProxy(() => service.port);
  const env = { TAILRACE_TOKEN: 'xaat-1', HTTP_PROXY: proxy.url };
  const list = (url: string, more: Record<string, string> = {}) =>
    openConnection({ url }, { ...env, ...more }).client.datasets.list();
  expect(await list('http://api.example.com')).toEqual([]);
  expect(proxy.seen).toHaveLength(1);
  expect(await list(service.url)).toEqual([]);
  expect(proxy.seen).toHaveLength(1);
  await expect(list('http://no-such-host.invalid', { NO_PROXY: '.invalid' })).rejects.toMatchObject({
    code: 'E_CONNECTION',
  });
  expect(proxy.seen).toHaveLength(1);
});

test('client says why a name cannot be looked up, also where the system fails for a moment only', async () => {
  onTestFinished(() => nock.cleanAll());
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    nock('http://service.example')
      .get('/v1/datasets')
      .replyWithError(Object.assign(new Error(`getaddrinfo ${code} service.example`), { code }));
    await expect(listFrom({ url: 'http://service.example' })).rejects.toMatchObject({
      code: 'E_CONNECTION',
      message: expect.stringContaining(`getaddrinfo ${code} service.example`) as string,
    });
  }
});
