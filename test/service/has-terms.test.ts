/** `has` finds whole terms of any letters and digits, in fields with a column of their own and in those of the maps: its short way for ASCII changes no answer. */
import { beforeAll, describe, expect, test } from 'vitest';
import { serviceForSuite, tableOf } from './support.ts';

const TEXTS = [
  'timeout',
  'x timeout y',
  'Timeout!',
  'TIMEOUT\nz',
  'a\ntimeout',
  'timeout_x',
  '9timeout',
  'timeout9',
  'xtimeout',
  'timeouts',
  'étimeout',
  'timeouté',
  'é timeout é',
  '日timeout',
  'timeout日本',
  'timeout²',
  '٣timeout',
  'timeout…',
  '😀timeout',
  'timeout\u0301',
  'xtimeout timeouté timeout',
  'étimeout timeout',
  'ÜBER alles',
  'xüber',
  'über9',
  'a-b',
  'a-bc',
  'é-b',
  'xa-b',
  'é',
  'éé',
  'É!',
  '日',
  '日本',
  '²',
  'a²',
  '(timeout)',
  '"timeout"',
  'time out',
  'a.b',
  'axb',
  '-',
  'none',
];
const TERMS = [
  'timeout',
  'TIMEOUT',
  'über',
  'a-b',
  '-b',
  'a-',
  '-',
  'é',
  '日',
  '²',
  '9',
  'x',
  'a.b',
  '(timeout)',
  'time out',
];
const RANGE = { startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };

/** The texts, by their places, that have the term beside no other letter or digit. */
function wanted(term: string, flags: string): number[] {
  const quoted = term.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`);
  const isWord = (char: string | undefined): boolean => /^[\p{L}\p{N}]$/u.test(char ?? '');
  const characters = Array.from(term);
  const before = isWord(characters[0]) ? String.raw`(?<![\p{L}\p{N}])` : '';
  const after = isWord(characters.at(-1)) ? String.raw`(?![\p{L}\p{N}])` : '';
  const pattern = new RegExp(before + quoted + after, flags);
  return TEXTS.flatMap((text, n) => (pattern.test(text) ? [n] : []));
}

describe.each([
  ['a column of its own', 50],
  ['the maps', 1_000_000_000],
])('a field in %s', (_where, ownColumnSample) => {
  const { client } = serviceForSuite({ limits: { ownColumnSample } }, { texts: [] });
  beforeAll(async () => {
    const events = TEXTS.map((text, n) => ({ _time: '2026-01-01T00:00:00Z', n, text }));
    // The first tell that the texts repeat; the last are stored in their column, if they have one.
    for (let round = 0; round < 6; round++) await client.ingest('texts', events);
  });

  test.each(TERMS.flatMap((term) => ['has', 'has_cs'].map((word) => [word, term] as const)))(
    '%s %j',
    async (word, term) => {
      const apl = `['texts'] | where text ${word} ${JSON.stringify(term)} | summarize c = count() by n | sort by n asc`;
      const { rows } = tableOf(await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl, ...RANGE } }));
      expect(rows).toEqual(wanted(term, word === 'has' ? 'iu' : 'u').map((place) => [place, 6]));
    },
  );
});
