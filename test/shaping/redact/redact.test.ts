import { describe, expect, test } from 'vitest';
import { detectorsOf, redactText, REDACTION_KINDS, type RedactionKind } from '../../../src/shaping/redact/redact.ts';

const redact = (kind: RedactionKind, text: string): string => redactText(text, detectorsOf(new Set([kind])));

const joined = (...parts: readonly string[]): string => parts.join('');

/** Kind, secret, and its surroundings. Secrets are put together here, so that no scanner takes this file for a leak. */
const FOUND: [kind: RedactionKind, secret: string, before?: string, after?: string][] = [
  ['email', 'jane.doe+x@mail.example.co.uk', 'from <', '>, again'],
  ['email', 'ünal@exämple.de', 'an ', '.'],
  ['credit_card', '4111111111111111', 'card=', ' ok'],
  ['credit_card', '4111 1111 1111 1111', 'card ', ' 12'],
  ['credit_card', '5500-0000-0000-0004', '"', '"'],
  ['credit_card', '378282246310005', 'amex ', ','],
  ['credit_card', '3782 822463 10005', '', ' 1234'],
  ['credit_card', '2223003122003222', '{"card":', '}'],
  ['credit_card', '30569309025904', 'diners=', '.'],
  ['credit_card', '3530111333300000', '(', ')'],
  ['credit_card', '6011-1111-1111-1117', 'a, ', ';'],
  ['credit_card', '4000 0000 0000 0000 006', 'is ', '!'],
  ['iban', 'DE89370400440532013000', 'to ', '.'],
  ['iban', 'GB82 WEST 1234 5698 7654 32', '', ' PAID IN FULL'],
  ['phone', '+44 20 7946 0958', 'call ', ' now'],
  ['phone', '(555) 123-4567', 'call ', '.'],
  ['phone', '555-123-4567', '', ''],
  ['ipv4', '192.168.10.254', 'peer ', ':443'],
  ['ipv4', '10.0.0.1', 'from ', '.'],
  ['ipv6', '2001:db8::8a2e:370:7334', '[', ']:443'],
  ['ipv6', '::1', 'on ', ''],
  ['ipv6', 'fe80:0:0:0:204:61ff:fe9d:f156', 'on ', ' up'],
  ['bearer_token', 'abc.DEF-123_~/+==', 'Authorization: Bearer ', '"'],
  ['basic_auth', Buffer.from('user:password').toString('base64'), 'Authorization: Basic ', ''],
  ['basic_auth', 'user:pass', 'postgres://', '@db/app'],
  ['jwt', joined('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dGVzdHNpZw-_'), 'token=', ''],
  ['aws_key', joined('AKIA', 'IOSFODNN7EXAMPLE'), 'id ', ' x'],
  ['aws_key', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'aws_secret_access_key = "', '"'],
  ['gcp_key', joined('AIza', 'SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY'), 'key=', '&x'],
  ['github_token', `ghp_${'a1B2'.repeat(9)}`, '', ' '],
  ['github_token', `github_pat_${'A1b2'.repeat(20)}`, '', '.'],
  ['slack_token', joined('xoxb-', '1234567890-abcdefABCDEF'), '', ''],
  ['slack_token', 'T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX', 'https://hooks.slack.com/services/', ''],
  ['stripe_key', joined('sk_live_', 'a1B2c3D4e5F6g7H8'), 'key ', ''],
  ['private_key', '-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----', 'a\n', '\nb'],
  ['private_key', '-----BEGIN PRIVATE KEY-----\\nMIIB cut off here', 'key ', ''],
];

test.each(FOUND)('%s hides %s', (kind: RedactionKind, secret: string, before = '', after = '') => {
  expect(redact(kind, `${before}${secret}${after}`)).toBe(`${before}[REDACTED:${kind}]${after}`);
  // The key that is cut off goes on to the end.
  if (after !== '' || kind !== 'private_key')
    expect(redact(kind, `${before}${secret}${after}\n${before}${secret}${after}`)).not.toContain(secret);
});

const LEFT: readonly (readonly [RedactionKind, string])[] = [
  ['email', 'user@localhost, @mention, a@b'],
  ['credit_card', '4111111111111112 and 1700000000000000000 and 1234567890123'],
  ['credit_card', 'id 550e8400-e29b-41d4-a716-446655440000'],
  // Symptom: columns of numbers, parts of ids and of hashes were hidden. Cause: groups of any length, of any issuer, beside any character.
  ['credit_card', '- 200 0 0 979 313 265'],
  ['credit_card', 'Supported channels 1 2 3 4 5 6 7 8 9 10 11 12 13 36'],
  ['credit_card', 'blk_-6952295868487656571 terminating'],
  ['credit_card', 'req-97a94302-7980-4793-9333-2254342e1d40'],
  ['credit_card', 'ord=6795061899455057'],
  [
    'credit_card',
    'a4111111111111111 4111111111111111f x_4111111111111111 1.4111111111111111 +4111111111111111 4111111111111111-1 4111111111111111.5',
  ],
  ['credit_card', '4111-1111 1111-1111 and 41111 1111 1111 111 and 9111111111111111 and 4111 11111111 1111'],
  ['email', 'chacha20-poly1305@openssh.com, curve25519-sha256@libssh.org, user@1000.service'],
  ['iban', 'DE89370400440532013001 GB82WEST12345698765433 AB12'],
  ['phone', '2026-11-22 16:08:49 1700000000 12345 v1.2.3'],
  ['ipv4', '1.2.3 256.1.1.1 1.2.3.4.5 v1.2.3.4'],
  ['ipv6', '12:34:56 std::string 16:08:49.123 :: dead:beef'],
  ['bearer_token', 'the bearer of news'],
  ['basic_auth', 'basic science, Basic training, https://host/path@x'],
  ['jwt', 'eyJ.a.b eyJhbGciOi'],
  ['aws_key', 'AKIASHORT'],
  ['gcp_key', 'AIzaShort'],
  ['github_token', 'ghp_short'],
  ['slack_token', 'xoxb-1'],
  ['stripe_key', 'sk_live_1'],
  ['private_key', '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----'],
];

test.each(LEFT)('%s leaves %s', (kind, text) => {
  expect(redact(kind, text)).toBe(text);
});

test('every kind has an example', () => {
  expect(new Set(FOUND.map(([kind]) => kind))).toEqual(new Set(REDACTION_KINDS));
  expect(new Set(LEFT.map(([kind]) => kind))).toEqual(new Set(REDACTION_KINDS));
});

describe('texts of a mebibyte that are hard to look through', () => {
  const SIZE = 2 ** 20;
  const HARD = [
    'a',
    '1',
    '@',
    'a@',
    'a.',
    '1 ',
    '1-',
    ':',
    'a:',
    '1.',
    'eyJ',
    'eyJ-',
    'eyJ.',
    'Bearer ',
    'bearer a',
    '+1',
    '-----BEGIN PRIVATE KEY-----',
    'A',
    'DE89 ',
    '://',
    '://a:',
    'aws_secret_key=',
    'xoxb-',
    '4111 1111 1111 111',
  ];
  test.each(HARD)('of %j are looked through in steps that grow with the text', (unit) => {
    const text = unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE);
    // One that squares would take hours: the test's own limit tells.
    expect(typeof redactText(text, detectorsOf(new Set(REDACTION_KINDS)))).toBe('string');
  });
});
