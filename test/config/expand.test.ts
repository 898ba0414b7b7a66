import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expand } from '../../src/config/yaml/expand.ts';
import { configOf, configWith, problemsOf, sinkOf, sourceOf } from './reading.ts';

describe('variables in a text', () => {
  test.each([
    ['plain', 'plain'],
    ['${A}', 'one'],
    ['x-${A}-${B}-y', 'x-one-two-y'],
    ['${EMPTY}', ''],
    ['${EMPTY:-d}', 'd'],
    ['${UNSET:-d e:f}', 'd e:f'],
    ['${UNSET:-}', ''],
    ['$$', '$'],
    ['$${A}', '${A}'],
    ['$$$${A}', '$${A}'],
    ['$$${A}', '$one'],
    ['$A $ a$', '$A $ a$'],
  ])('%s becomes "%s"', (text, expected) => {
    expect(expand(text, { A: 'one', B: 'two', EMPTY: '', UNSET: undefined })).toMatchObject({
      text: expected,
      problems: [],
    });
  });

  test.each(['${', 'a ${A', '${}', '${1A}', '${A-B}', '${A:-${B}}', '${A:?x}'])('%s is a problem', (text) => {
    expect(expand(text, { A: 'one', B: 'two' }).problems).not.toEqual([]);
  });

  test('a variable whose value looks like one is not replaced again', () => {
    expect(expand('${A}', { A: '${B}', B: 'x' }).text).toBe('${B}');
  });

  test('names of built-in object properties are not set', () => {
    expect(expand('${constructor}', {}).problems).toHaveLength(1);
  });

  test('doubling every dollar keeps any text as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(expand(text.replaceAll('$', '$$$$'), {})).toEqual({ text, variables: false, problems: [] });
      }),
    );
  });
});

describe('variables in a configuration', () => {
  test('each unset variable is reported at its place, in any quotes', () => {
    const text = configWith({ source: 'dataset: a${X}', sink: 'org_id: "${Y}-${Z}"\ntimestamp_field: \'${A:-t}\'' });
    expect(problemsOf(text)).toEqual([
      '5:15: the environment variable `X` is not set; set X, or write `${X:-default}`',
      '11:14: the environment variable `Y` is not set; set Y, or write `${Y:-default}`',
      '11:19: the environment variable `Z` is not set; set Z, or write `${Z:-default}`',
    ]);
  });

  test('values cannot change the structure', () => {
    const evil = 'x\n  dataset: other';
    const fields = sourceOf(configOf(configWith({ source: 'fields: {a: "${E}"}' }), { E: '}, b: {' })).fields;
    expect(fields).toEqual({ a: '}, b: {' });
    expect(problemsOf(configWith({ sink: 'org_id: ${E}' }), { E: evil })[0]).toContain(
      'holds a control character or a line break',
    );
  });

  test('numbers, switches and quantities may come from variables, fields stay text', () => {
    const env = { N: '7', T: 'true', S: '64KiB', D: '5s', W: 'zstd' };
    const config = configOf(
      configWith({
        source: 'fields: {n: "${N}"}',
        sink: 'concurrency: ${N}\nbatch: {max_bytes: "${S}"}\ntimeout: ${D}\ncompression: ${W}',
      }),
      env,
    );
    expect(sinkOf(config)).toMatchObject({
      concurrency: 7,
      timeoutMs: 5000,
      compression: 'zstd',
      batch: { maxBytes: 65_536 },
    });
    expect(sourceOf(config).fields).toEqual({ n: '7' });
  });

  test('a number in quotes without a variable is still refused', () => {
    expect(problemsOf(configWith({ sink: 'concurrency: "7"' }))).toEqual([
      '10:18: `concurrency` must be a whole number from 1 to 64, not `7`',
    ]);
  });
});
