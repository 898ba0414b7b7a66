import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { isOwnHost } from '../../src/web/host-check.ts';
import { words } from '../support/words.ts';

test.for([
  ...words`127.0.0.1:9600 127.0.0.1 localhost:9600 LOCALHOST [::1]:9600 192.0.2.7:80 [2001:db8::1] agent.example:9600`,
  hostname(),
])('host check takes %s, which no attacker can point elsewhere', (host) => {
  expect(isOwnHost(host, 'agent.example')).toBe(true);
});

test.for([
  undefined,
  ...words`evil.example evil.example:9600 localhost.evil.example 127.0.0.1.evil.example localhost:9600@evil.example 127.1 localhost:`,
  '',
  ' localhost',
])('host check refuses %s', (host) => {
  expect(isOwnHost(host, 'agent.example')).toBe(false);
});
