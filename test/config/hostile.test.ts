/** Whatever a file holds, reading it gives a configuration or reported problems, never another error. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderExample } from '../../scripts/describe/example.ts';
import { readConfig } from '../../src/config/load/load.ts';
import { makeTree } from '../support/temp-tree.ts';
import { words } from '../support/words.ts';

const EXAMPLE = renderExample().replaceAll(/ +# .*$/gm, '');
const ENV = { TAILRACE_TOKEN: 't', A: '1', B: '}\n- x: &y' };
const SNIPPETS = [
  ...words`*a | > { } [ ] " ' # $$ ~ null .nan 0x7fffffffffffffff 1e999 é`,
  '&a ',
  '<<: ',
  '!!binary ',
  '!!int ',
  '? ',
  '- ',
  ': ',
  '\t',
  '---\n',
  '...\n',
  '%YAML 1.1\n',
  '${A}',
  '${B}',
  '${',
  '\0',
  '\uFEFF',
  '\uD800',
  '\r',
  '__proto__: 1\n',
  'constructor: {}\n',
  '\u001b[31m',
  '\u202e',
];

/** The example with pieces cut out, put in, moved or doubled. */
const mutated = fc
  .array(
    fc.record({
      at: fc.nat(EXAMPLE.length),
      cut: fc.oneof(fc.constant(0), fc.nat(30)),
      put: fc.oneof(
        fc.constantFrom(...SNIPPETS),
        fc.string({ maxLength: 8 }),
        fc.tuple(fc.nat(EXAMPLE.length), fc.nat(80)).map(([from, length]) => EXAMPLE.slice(from, from + length)),
      ),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((edits) => edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), EXAMPLE));

/** Fails on any throw, and on a problem without a place in the file. */
function read(file: string, content: string | Uint8Array): 'valid' | 'problems' {
  writeFileSync(file, content);
  const { config, problems } = readConfig(file, ENV);
  expect(config === undefined).toBe(problems.length > 0);
  const lines = Buffer.from(content).toString('utf8').split('\n').length;
  for (const { line, column, message, fix } of problems) {
    expect(line).toBeGreaterThan(0);
    expect(line).toBeLessThanOrEqual(lines);
    expect(column).toBeGreaterThan(0);
    expect(message + (fix ?? '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
  return config === undefined ? 'problems' : 'valid';
}

test('a mutated example gives a configuration or reported problems', () => {
  const file = join(makeTree({}), 't.yaml');
  const seen = { valid: 0, problems: 0 };
  fc.assert(
    fc.property(mutated, (text) => {
      seen[read(file, text)] += 1;
    }),
    { numRuns: 400 },
  );
  // Both sides of the decision were really reached.
  expect(seen.valid).toBeGreaterThan(5);
  expect(seen.problems).toBeGreaterThan(100);
});

test('random bytes and random text give reported problems', () => {
  const file = join(makeTree({}), 't.yaml');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.constantFrom(...SNIPPETS), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
      ),
      (bytes) => {
        expect(read(file, bytes)).toBe('problems');
      },
    ),
    { numRuns: 300 },
  );
});
