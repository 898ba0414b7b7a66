import { chmodSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig, readConfig } from '../../src/config/load/load.ts';
import type { Secret } from '../../src/config/values.ts';
import { readSecret } from '../../src/config/connect/secrets.ts';
import { messageOf, TailraceError } from '../../src/core/errors.ts';
import { makeTree } from '../support/temp-tree.ts';
import { configOf, configWith, problemsOf, sinkOf } from './reading.ts';

/** A secret in a file of these bytes. */
function inFile(content: string | Buffer): Secret {
  const path = join(makeTree({}), 'token');
  writeFileSync(path, content);
  return { kind: 'file', path };
}

function failureOf(secret: Secret): TailraceError {
  try {
    readSecret(secret);
  } catch (error) {
    if (error instanceof TailraceError) return error;
    throw error;
  }
  throw new Error('the secret was read');
}

describe('a secret', () => {
  test('is read from a file without its line break, anew each time', () => {
    for (const text of ['tok-1', 'tok-1\n', 'tok-1\r\n']) expect(readSecret(inFile(text))).toBe('tok-1');
    expect(readSecret({ kind: 'value', value: 'tok-2' })).toBe('tok-2');
    const secret = inFile('old');
    if (secret.kind === 'file') writeFileSync(secret.path, 'new\n');
    expect(readSecret(secret)).toBe('new');
  });

  test.each([
    ['empty', '', 'is empty'],
    ['a line break alone', '\n', 'is empty'],
    ['two line breaks', 'secret-abc\n\n', 'holds a space, a line break'],
    ['a space', 'secret abc', 'holds a space'],
    ['a NUL', 'secret\0abc', 'holds a space, a line break or a character outside ASCII'],
    ['another script', 'secret-é', 'outside ASCII'],
    ['65 KiB', 'secret'.repeat(11_000), 'larger than 64 KiB'],
  ])('of %s is refused without being shown', (_what, content, message) => {
    const error = failureOf(inFile(content));
    expect(error.message).toContain(message);
    expect(`${error.message} ${error.fix}`).not.toContain('secret');
    expect(error.code).toBe(message === 'is empty' ? 'E_SECRET_EMPTY' : 'E_SECRET');
  });

  test('whose file is missing, a folder or a FIFO is refused without waiting', () => {
    const folder = makeTree({});
    const fifo = join(folder, 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    expect(failureOf({ kind: 'file', path: join(folder, 'no') }).message).toContain('ENOENT');
    for (const path of [folder, fifo])
      expect(failureOf({ kind: 'file', path }).message).toContain('is not a regular file');
  });
});

describe('the token of a sink', () => {
  test('comes from a value or a file, not from both', () => {
    expect(sinkOf(configOf(configWith({ sink: 'token: ${T}' }), { T: 'x' })).token).toEqual({
      kind: 'value',
      value: 'x',
    });
    expect(sinkOf(configOf(configWith({}))).token).toBeUndefined();
    expect(problemsOf(configWith({ sink: 'token: ${UNSET}\ntoken_file: f' }))).toEqual([
      '10:12: the environment variable `UNSET` is not set; set UNSET, or use `token_file`',
      '11:5: `token` and `token_file` are both given; keep one of them',
    ]);
  });

  test("is looked for in the credentials folder first, then in the configuration's", () => {
    const root = makeTree({
      'cred/tok': 'a',
      'conf/t.yaml': configWith({ sink: 'token_file: tok' }),
      'conf/u.yaml': configWith({ sink: 'token_file: /abs/tok' }),
    });
    const tokenOf = (file: string, env = {}) => sinkOf(loadConfig(join(root, 'conf', file), env)).token;
    expect(tokenOf('t.yaml', { CREDENTIALS_DIRECTORY: join(root, 'cred') })).toEqual({
      kind: 'file',
      path: join(root, 'cred', 'tok'),
    });
    expect(tokenOf('t.yaml', { CREDENTIALS_DIRECTORY: join(root, 'none') })).toEqual({
      kind: 'file',
      path: join(root, 'conf', 'tok'),
    });
    expect(tokenOf('t.yaml')).toEqual({ kind: 'file', path: join(root, 'conf', 'tok') });
    expect(tokenOf('u.yaml', { CREDENTIALS_DIRECTORY: join(root, 'cred') })).toEqual({
      kind: 'file',
      path: '/abs/tok',
    });
  });

  test.each([
    'token: 12345678',
    'token: "hunter2 x"',
    'token: hunter2é',
    'token: [hunter2]',
    'token: ""',
    'token:',
    'token: "hunter2\\u0007"',
  ])('%s is refused without being shown', (line) => {
    const problems = problemsOf(configWith({ sink: line }));
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toMatch(/hunter2|12345678/);
  });

  test('is warned of when every user can read it in the file', () => {
    const root = makeTree({
      'plain.yaml': configWith({ sink: 'token: hunter2' }),
      'variable.yaml': configWith({ sink: 'token: "${T}"' }),
    });
    const warningsOf = (name: string, mode: number) => {
      chmodSync(join(root, name), mode);
      return readConfig(join(root, name), { T: 'x' }).warnings;
    };
    expect(warningsOf('plain.yaml', 0o644)).toMatchObject([
      { line: 10, column: 12, message: 'the token can be read by every user of this machine' },
    ]);
    expect(warningsOf('plain.yaml', 0o640)).toEqual([]);
    expect(warningsOf('variable.yaml', 0o644)).toEqual([]);
  });
});

test('the text of a failure is never empty', () => {
  expect(messageOf(failureOf({ kind: 'value', value: '' }))).toBe('the configured token is empty');
});
