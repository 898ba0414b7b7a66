/** Functions that keep secrets from leaving. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../../core/errors.ts';
import type { HIDING } from './spec.ts';
import { guess } from '../../foreign-names.ts';
import type { Node } from '../../plan/tree.ts';
import {
  detectorsOf,
  isRedactionKind,
  redactText,
  REDACTION_KINDS,
  type Redaction,
  type RedactionKind,
} from '../../../shaping/redact/redact.ts';
import type { Evaluate, Of, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2 } from '../../../shaping/rows/call/lift.ts';
import { compileRegex } from '../../../shaping/rows/call/regex.ts';

/** `/pattern/` or `name=/pattern/`. */
const OWN = /^(?:([A-Za-z0-9_-]{1,64})=)?\/(.+)\/$/s;

function redact(call: RowCall): Evaluate {
  const kinds = new Set<RedactionKind>();
  const own: Redaction[] = [];
  for (let n = 1; n < call.count; n++) {
    const given = String(call.constant(n).value);
    const pattern = OWN.exec(given);
    if (isRedactionKind(given)) kinds.add(given);
    else if (pattern)
      own.push(ownPattern(pattern[1] ?? 'pattern', pattern[2]!, (message, fix) => call.fail(n, message, fix)));
    else throw unknownKind(call, n, given);
  }
  const redactions = [...own, ...detectorsOf(call.count === 1 ? new Set(REDACTION_KINDS) : kinds)];
  return lift1(call.string(0), (text) => redactText(text, redactions));
}

function unknownKind(call: RowCall, n: number, given: string): Error {
  const near = guess(given, REDACTION_KINDS);
  const all = `there are ${REDACTION_KINDS.join(', ')}, and patterns of your own between slashes`;
  return call.fail(n, `unknown kind ${JSON.stringify(given)}`, near === undefined ? all : `${near}; ${all}`);
}

function ownPattern(name: string, pattern: string, fail: (message: string, fix?: string) => Error): Redaction {
  const regex = compileRegex(pattern, fail);
  return { name, detect: (text) => Array.from(regex.matches(text)).filter(({ start, end }) => end > start) };
}

/** The key of a hash, which comes from outside the configuration. */
function secretOf(node: Node, fail: (message: string) => Error): Of<string> {
  if (node.kind !== 'apply') throw fail('wanted env("NAME") or secret_file("/path")');
  const [name] = node.args;
  const given = name?.kind === 'constant' ? String(name.constant.value) : '';
  if (node.spec.name === 'env')
    return ({ context }) => {
      const key = context.env(given);
      if (!key) throw new RangeError(`the environment variable ${given} with the key is not set`);
      return key;
    };
  const key = readSecret(given, fail);
  return () => key;
}

function readSecret(path: string, fail: (message: string) => Error): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fail(`cannot read the key: ${messageOf(error)}`);
  }
  const key = text.split(/\r?\n/, 1)[0]!;
  if (key === '') throw fail(`the first line of ${path} has no key`);
  return key;
}

function hash(call: RowCall): Evaluate {
  if (call.count < 2 || call.node(1).kind === 'constant')
    throw call.fail(
      0,
      'hash wants its key in a transform as env("NAME") or secret_file("/path"): without one, texts can be guessed by their hashes',
    );
  const secret = secretOf(call.node(1), (message) => call.fail(1, message));
  return lift2(call.string(0), secret, (text, key) =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, 32),
  );
}

export const HIDING_ROWS: RowBuilders<typeof HIDING> = {
  redact,
  hash,
  env: (call) => {
    const name = String(call.constant(0).value);
    return ({ context }) => context.env(name) ?? null;
  },
  secret_file: (call) => {
    throw call.fail(0, 'secret_file can only be the key of hash');
  },
};
