import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isScalar, parseDocument, stringify } from 'yaml';
import { textPlaces } from '../../src/config/yaml/text-places.ts';

/** Holds each character of the scalar's value that is no white space and not escaped to the one at its place. */
function checkPlaces(yaml: string): void {
  const node = parseDocument(yaml).getIn(['a', 'transform'], true);
  if (!isScalar(node) || typeof node.value !== 'string' || !node.range) throw new Error(`no text in ${yaml}`);
  const source = yaml.slice(node.range[0], node.range[1]);
  const place = textPlaces(source, node.value);
  for (let index = 0; index < node.value.length; index++) {
    const wanted = node.value[index]!;
    const found = source[place(index)];
    if (/\s/.test(wanted) || found === '\\') continue;
    expect([index, found], yaml).toEqual([index, wanted]);
  }
}

const line = fc
  .stringMatching(/^[a-z|"'\\=:#é ]{0,20}$/)
  .filter((text) => !text.includes(': ') && !text.includes(' #'));

test.for(['BLOCK_LITERAL', 'BLOCK_FOLDED', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'PLAIN'] as const)(
  'place of a character in a text is found in a scalar of type %s',
  (type) => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 6 }), (lines, indent) => {
        const text = lines.join('\n');
        fc.pre(text.trim() !== '');
        checkPlaces(
          stringify(
            { a: { before: 1, transform: text, after: 2 } },
            { indent, defaultStringType: type, lineWidth: 20 },
          ),
        );
      }),
      { numRuns: 1000 },
    );
  },
);

test('place of a character in a block is found behind blank lines, comments in the header, and CRLF', () => {
  checkPlaces('a:\n  transform: |- # of all\n\n      where a\n\n        | where b\n');
  checkPlaces('a:\r\n  transform: |\r\n    where a\r\n    | where b\r\n');
  checkPlaces('a:\n  transform: >\n    where a\n    | where b\n\n    | where c\n');
  checkPlaces('a: {transform: "where a \\\n    | where \\"b\\" \\u00e9 x"}\n');
});
