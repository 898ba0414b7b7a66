/** Functions of queries, with results computed by hand, as literals and as fields of an event. */
import { beforeAll, describe, expect, test } from 'vitest';
import { apl, refused, rows, values } from './ask.ts';
import { CASE_EVENT } from '../../language/function-cases.ts';
import { CASES_BY_TOPIC, plainResult } from '../../support/function-cases.ts';
import { client, dataset } from './under.ts';

describe('functions', () => {
  let events: string;
  let one: string;
  beforeAll(async () => {
    one = await dataset();
    await client.ingest(one, CASE_EVENT);
    events = await dataset();
    await client.ingest(events, [{ list: [3, 'b', 1.5, null], numbers: [5, 3, 9], text: 'x', n: 2 }]);
  });

  /** A few expressions for each query: all at once would be longer than SQL may be. */
  const IN_ONE_QUERY = 8;
  test.each(CASES_BY_TOPIC)('cases of %s', async (_topic, cases) => {
    const here = cases.filter(({ only }) => only !== 'transforms');
    const expressions = here.filter(({ isQuery }) => !isQuery).map(({ text }) => text);
    const found = new Map<string, unknown>();
    for (let from = 0; from < expressions.length; from += IN_ONE_QUERY) {
      const some = expressions.slice(from, from + IN_ONE_QUERY);
      for (const [n, value] of (await values(one, some)).entries()) found.set(some[n]!, value);
    }
    for (const { text } of here.filter(({ isQuery }) => isQuery)) found.set(text, await rows(text));
    expect(here.map(({ text }) => [text, found.get(text)])).toEqual(
      here.map(({ text, result }) => [text, plainResult(result)]),
    );
  });

  test.each([
    ['array_sort_desc(numbers)', [9, 5, 3]],
    ['array_concat(list, numbers)', [3, 'b', 1.5, null, 5, 3, 9]],
    ['array_slice(list, n - 1, -1)', ['b', 1.5, null]],
    ['array_shift_left(numbers, n, text)', [9, 'x', 'x']],
    ['array_index_of(list, strcat("", "b"))', 1],
    ['set_intersect(numbers, list)', [3]],
    ['set_difference(list, numbers)', ['b', 1.5, null]],
    ['set_has_element(numbers, n + 1)', true],
    ['pack("n", n, "list", array_reverse(list), "never", never)', { n: 2, list: [null, 1.5, 'b', 3], never: null }],
    ['bag_merge(pack("a", n), pack("a", text, "b", numbers[0]))', { a: 2, b: 5 }],
    ['zip(numbers, list)[1]', [3, 'b']],
    ['strcat_array(array_sort_asc(array_concat(numbers, range(1, n))), ",")', '1,2,3,5,9'],
    ['array_iff(array_reverse(list), text, n)', [null, 'x', null, 'x']],
    ['array_sum(array_slice(numbers, 0, 1)) + len(list) + len(text)', 13],
    ['array_index_of(array_slice(list, 1, 2), array_index_of(list, array_sum(array_slice(numbers, 1, 1))) + 1.5)', 1],
    ['array_shift_left(numbers, array_length(range(1, 1)), array_slice(list, 0, 0))', [3, 9, [3]]],
    ['set_has_element(array_concat(list, numbers), bag_pack("a", array_reverse(numbers)).a[0])', true],
    ['array_concat(text, numbers)', null],
    ['bag_keys(never)', null],
    ['column_ifexists("text", "else")', 'x'],
    ['column_ifexists("never", n)', 2],
    ['tohex(n)', '2'],
    ['binary_shift_left(n, numbers[1])', 16],
    ['make_datetime(2000 + n, n, n)', '2002-02-02T00:00:00Z'],
    ['translate("x", "yz", text)', 'y'],
    ['parse_csv(strcat(text, ",", n))', ['x', '2']],
    ['ipv6_is_in_range(strcat("fd00::", n), "fd00::/64")', true],
  ])('%s of an event', async (expression, wanted) => {
    expect(await values(events, [expression])).toEqual([wanted]);
  });

  test('they work in conditions, groups and below aggregations', async () => {
    const { tables } = await apl(
      `['${events}'] | where array_length(numbers) == 3 and set_has_element(list, "b") | summarize n = sum(array_sum(numbers)), make_set(len(list)) by kind = array_index_of(list, 1.5)`,
    );
    expect(tables[0]!.columns).toEqual([[2], [17], [[4]]]);
  });

  test('column_ifexists knows which columns a stage left', async () => {
    const { tables } = await apl(
      `['${events}'] | project n | project a = column_ifexists("n", 0), b = column_ifexists("text", "gone")`,
    );
    expect(tables[0]!.columns).toEqual([[2], ['gone']]);
  });

  test.each([
    ['bag_pack("a")', 'bag_pack takes 2 or more arguments, not 1'],
    ['bag_pack("a", 1, "b")', 'wanted pairs of key and value'],
    ['bag_pack("a", 1, "a", 2)', 'the key is given twice'],
    ['bag_pack("a", 1, text, 2)', 'wanted a literal here'],
    ['strcat_array(list, text)', 'strcat_array wants a text in quotes as argument'],
    ['array_slice(list, "a", 1)', 'array_slice wants an integer here, not a string'],
    ['translate(text, "a", text)', 'translate wants a text in quotes as argument'],
    ['tohex(n, 65)', 'wanted a number of digits from 0 to 64'],
    ['format_timespan(1s, "xyz")', 'wanted a format such as d.HH:mm:ss.fff'],
    ['ipv6_is_in_range(text, "fd00::/129")', 'wanted a network such as fd00::/8'],
    ['ipv6_compare(text, text, 129)', 'wanted a number of bits from 0 to 128'],
    ['column_ifexists(text, 1)', 'column_ifexists wants a text in quotes as argument'],
    ['array_sort_up(list)', 'did you mean array_sort_asc'],
    ['hash(text, env("KEY"))', 'hash with a key works in transforms only; in a query write hash(value) or hash_sha256'],
    ['hash(text, 0)', 'hash wants an integer of 1 or more, or its key as env("NAME") or secret_file("/path")'],
    ['hash(text, text)', 'hash wants an integer of 1 or more'],
  ])('%s is refused', async (expression, message) => {
    const { status, body } = await refused(`['${events}'] | extend x = ${expression}`);
    expect([status, body['message']]).toEqual([400, expect.stringContaining(message)]);
  });
});
