/** Which texts `init` takes for ones that hold a secret, and what its pattern hides of them. */
import { expect, test } from 'vitest';
import { SecretFields } from '../../src/cli/init/find-fields.ts';

/** The message as the transform that is written would leave it. */
function hidden(message: string): string {
  const fields = new SecretFields();
  fields.add({ message });
  const [, pattern] = /secret=\/((?:[^"\\]|\\.)*)\/"/.exec(fields.transform()?.pipeline ?? '') ?? [];
  return pattern === undefined
    ? message
    : message.replaceAll(new RegExp(JSON.parse(`"${pattern}"`).slice(4), 'gi'), '[…]');
}

// Symptom: sudo's working directory and MySQL's "using password: YES" were hidden. Cause: any value behind such a word was a secret.
test.each([
  ['sudo: vagrant : TTY=pts/0 ; PWD=/srv/vagrant ; USER=root ; COMMAND=/bin/ls'],
  ["Access denied for user 'root'@'192.0.2.1' (using password: NO)"],
  ["Access denied for user 'root'@'localhost' (using password: YES)"],
  ['password=no, token: yes'],
  ['wtoken = AppWindowToken{9f4ef63 token=Token{a64f992'],
])('init leaves %s', (message) => {
  expect(hidden(message)).toBe(message);
});

test.each([
  ['login password=nothing ok', 'login […] ok'],
  ['login password=yesterday&x=1', 'login […]&x=1'],
  ['pwd=hunter2 PWD=/srv', '[…] PWD=/srv'],
  ['token: abc, secret=x', '[…], […]'],
  ['api-key=7f3a (used)', '[…] (used)'],
  ['password: n0pe', '[…]'],
])('init hides %s', (message, wanted) => {
  expect(hidden(message)).toBe(wanted);
});
