import { expect, test } from 'vitest';
import { hideSecretsIn, secretsInAddress } from '../../src/core/text/hide-secrets.ts';

const TOKEN = 'xaat-a/b+c"d<e&f';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.for([
  ['as it is', TOKEN],
  ['as JSON', JSON.stringify(TOKEN)],
  ['as JSON of PHP', JSON.stringify(TOKEN).replaceAll('/', '\\/')],
  ['in a page', 'xaat-a/b+c&quot;d&lt;e&amp;f'],
  ['in an address', encodeURIComponent(TOKEN)],
  ['in base64', base64(TOKEN)],
  ['twice', `${TOKEN} ${TOKEN}`],
])('a secret is hidden %s', ([, text]) => {
  const hidden = hideSecretsIn(`Bearer ${text}, HTTP 401`, [TOKEN]);
  expect(hidden.replaceAll('"', '')).toMatch(/^Bearer \(hidden\)( \(hidden\))?, HTTP 401$/);
});

test('what a cut left of a secret is hidden, at the end and in the middle', () => {
  for (let length = 4; length <= TOKEN.length; length += 1) {
    expect(hideSecretsIn(`bad ${TOKEN.slice(0, length)}`, [TOKEN])).toBe('bad (hidden)');
    expect(hideSecretsIn(`bad ${TOKEN.slice(0, length)}…; then more`, [TOKEN])).toBe('bad (hidden)…; then more');
  }
  expect(hideSecretsIn('no such dataset', [TOKEN])).toBe('no such dataset');
});

test("a proxy's password is hidden as it is written and as it is sent; users in addresses always are", () => {
  const secrets = secretsInAddress('http://me:p%40ss%2Fword@proxy:3128');
  for (const form of ['p@ss/word', 'p%40ss%2Fword', base64('me:p@ss/word')])
    expect(hideSecretsIn(`a ${form} b`, secrets)).toBe('a (hidden) b');
  expect(hideSecretsIn('cannot reach http://bob:pw@host/x', [])).toBe('cannot reach http://(hidden)@host/x');
  expect([
    ...secretsInAddress('http://proxy:3128'),
    ...secretsInAddress(undefined),
    ...secretsInAddress('http://me@proxy'),
  ]).toEqual([]);
});
