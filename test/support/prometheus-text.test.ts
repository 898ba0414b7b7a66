import { expect, test } from 'vitest';
import { parsePrometheus, valueOf } from './prometheus-text.ts';

const GOOD = `# HELP a_total Some help
# TYPE a_total counter
a_total{x="1",y="q\\"\\\\\\n"} 3
a_total 4.5e+3
# HELP h Times
# TYPE h histogram
h_bucket{le="1"} 1
h_bucket{le="+Inf"} 2
h_sum 7
h_count 2
`;

test('prometheus reader reads labels, values and histograms', () => {
  const families = parsePrometheus(GOOD);
  expect(valueOf(families, 'a_total', { x: '1', y: 'q"\\\n' })).toBe(3);
  expect(valueOf(families, 'a_total')).toBe(4500);
  expect(valueOf(families, 'a_total', { x: '2' })).toBeUndefined();
  expect(families.get('h')?.samples).toHaveLength(4);
});

test('prometheus reader takes every character but a line feed inside of a label', () => {
  const value = 'a\r\u2028\u0000b';
  expect(valueOf(parsePrometheus(`# HELP b b\n# TYPE b gauge\nb{x="${value}"} 1\n`), 'b', { x: value })).toBe(1);
});

test.for([
  ['no final newline', GOOD.trimEnd()],
  ['a sample twice', `${GOOD}# HELP b b\n# TYPE b gauge\nb 1\nb 2\n`],
  ['a sample without a type', 'b 1\n'],
  ['a type without help', '# TYPE b gauge\nb 1\n'],
  ['a family twice', `${GOOD}${GOOD}`],
  ['a counter without _total', '# HELP b b\n# TYPE b counter\nb 1\n'],
  ['an unescaped quote', '# HELP b b\n# TYPE b gauge\nb{a="x"y"} 1\n'],
  ['a value that is no number', '# HELP b b\n# TYPE b gauge\nb undefined\n'],
  ['NaN', '# HELP b b\n# TYPE b gauge\nb NaN\n'],
  ['buckets that shrink', GOOD.replace('le="1"} 1', 'le="1"} 3')],
  ['a count that is not the last bucket', GOOD.replace('h_count 2', 'h_count 3')],
  ['no sum', GOOD.replace('h_sum 7\n', '')],
])('prometheus reader refuses %s', ([, text]) => {
  expect(() => parsePrometheus(text!)).toThrow();
});
