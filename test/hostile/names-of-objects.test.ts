/**
 * Words that every object of JavaScript has as keys, wherever a text from outside is looked up. Symptoms: `level: "toString"` ended `tailrace query`,
 * `5constructor` in a query was a 500, and a field of `types: bool` with such a text was lost. Cause: tables were plain objects.
 */
import { describe, expect, test } from 'vitest';
import { openText } from '../../src/cli/client/ingest-input.ts';
import { gravityOf, nameSeverity } from '../../src/core/text/event-line.ts';
import { AplError } from '../../src/language/syntax/apl-error.ts';
import { readQuery } from '../../src/language/text/query-text.ts';
import { convertTypes } from '../../src/parsers/values/typed-values.ts';
import { serviceForSuite } from '../service/support.ts';

const WORDS = ['__proto__', ...Object.getOwnPropertyNames(Object.prototype)].filter(
  (word, n, all) => all.indexOf(word) === n,
);

describe.each(WORDS)('the word %s', (word) => {
  test('is a severity as it is', () => {
    expect([nameSeverity(word), gravityOf(word)]).toEqual([word, undefined]);
  });

  test('is no bool, and stays text', () => {
    const event = { done: word };
    expect([convertTypes(event, [['done', 'bool']], () => undefined, 0), event]).toEqual([1, { done: word }]);
  });

  test.each([`logs | where x > 5${word}`, `level:error AND ${word}`, `logs | render ${word}`])(
    'is refused in a query: %s',
    (apl) => {
      const refused = (): unknown => readQuery(apl);
      expect(refused).toThrow(AplError);
      expect(refused).not.toThrow(/native code|\[object/);
    },
  );

  test('is no format of an input', async () => {
    const input = { name: `events.${word}`, open: () => [Buffer.from('{"a":1}\n')] };
    expect((await openText(input as never, undefined, () => undefined)).format).toBe('ndjson');
  });
});

const { client } = serviceForSuite({}, { logs: [{ n: 1 }] });

test.each(WORDS)('a legacy query with the word %s as an operation or aggregation is a 400', async (word) => {
  const bodies = [
    { filter: { op: word, field: 'n', value: 1 } },
    { filter: { op: `not-${word}`, field: 'n', value: 1 } },
    { aggregations: [{ op: word, field: 'n' }] },
  ];
  for (const body of bodies) {
    const { status, text } = await client.call('POST', '/v1/datasets/logs/query', { body });
    expect([status, text]).toEqual([400, expect.not.stringMatching(/native code|\[object/)]);
  }
});
