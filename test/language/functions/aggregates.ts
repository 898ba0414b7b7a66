/** What aggregations give. */
import type { FunctionCases } from '../function-cases.ts';
import type { AGGREGATES } from '../../../src/language/functions/aggregates/spec.ts';

const NUMBERS = 'range x from 1 to 4 step 1 | summarize v =';

export const AGGREGATES_CASES: FunctionCases<typeof AGGREGATES> = {
  count: [[`${NUMBERS} count()`, [[4]]]],
  countif: [[`${NUMBERS} countif(x > 1)`, [[3]]]],
  dcount: [[`${NUMBERS} dcount(x % 2)`, [[2]]]],
  sum: [[`${NUMBERS} sum(x)`, [[10]]], [`${NUMBERS} sumif(x, x > 2)`, [[7]]]],
  avg: [[`${NUMBERS} avg(x)`, [[2.5]]]],
  min: [[`${NUMBERS} min(x)`, [[1]]]],
  max: [[`${NUMBERS} max(x)`, [[4]]]],
  percentile: [[`${NUMBERS} percentile(x, 50)`, [[2]], { source: 'nearest rank' }], [`${NUMBERS} percentileif(x, 50, x > 2)`, [[3]]]],
  percentiles_array: [[`${NUMBERS} percentiles_array(x, 25, 75)`, [[[1, 3]]]]],
  topk: [[`${NUMBERS} topk(x % 2, 1)`, [[[{ key: 0, count: 2, error: 0 }]]]]],
  histogram: [[`${NUMBERS} histogram(x, 2)`, [[[{ from: 1, to: 2.5, count: 2 }, { from: 2.5, to: 4, count: 2 }]]]]],
  make_list: [[`${NUMBERS} make_list(x, 2)`, [[[1, 2]]]], [`${NUMBERS} make_list_if(x, x > 2)`, [[[3, 4]]]]],
  make_set: [[`${NUMBERS} make_set(x % 2)`, [[[0, 1]]]], [`${NUMBERS} make_set_if(x, x == 4)`, [[[4]]]]],
  buildschema: [['datatable(v:dynamic)[dynamic({"a": 1}), dynamic({"a": "x", "b": [true]})] | summarize buildschema(v)',
    [[{ a: ['long', 'string'], b: { '`indexer`': 'bool' } }]], { source: 'Kusto, buildschema()' }]],
  stdev: [[`${NUMBERS} stdev(x * 0)`, [[0]]], [`${NUMBERS} stdevif(x * 0, x > 1)`, [[0]]]],
  variance: [[`${NUMBERS} variance(x * 3)`, [[15]]], [`${NUMBERS} varianceif(x, x > 2)`, [[0.5]]]],
  rate: [[`${NUMBERS} round(rate(x) * 0)`, [[0]]]],
  phrases: [['datatable(t:string)["Use title case. First query", "the first  query of 3", "first query, use title case!"] | summarize phrases(t, 2)',
    [[['first query', 'use title case']]], { source: 'APL' }], ['datatable(t:string)["/api/items", "/api/users"] | summarize phrases(t)', [[['api', 'items', 'users']]]],
    ['datatable(t:string)["x"] | summarize phrases(t, 3), phrasesif(t, 3, t == "y")', [[['x'], []]]]],
  spotlight: [['datatable(x:long, k:string, s:string)[1, "a", "p", 2, "a", "p", 3, "b", "p", 4, "a", "q"] | summarize spotlight(x > 2, s, k)',
    [[[{ dimension: 's', delta_score: 0.5, differences: [
      { value: 'p', comparison_count: 1, comparison_share: 0.5, baseline_count: 2, baseline_share: 1, difference: -0.5, frequency_ratio: -0.5 },
      { value: 'q', comparison_count: 1, comparison_share: 0.5, baseline_count: 0, baseline_share: 0, difference: 0.5, frequency_ratio: 1 }] },
    { dimension: 'k', delta_score: 0.5, differences: [
      { value: 'a', comparison_count: 1, comparison_share: 0.5, baseline_count: 2, baseline_share: 1, difference: -0.5, frequency_ratio: -0.5 },
      { value: 'b', comparison_count: 1, comparison_share: 0.5, baseline_count: 0, baseline_share: 0, difference: 0.5, frequency_ratio: 1 }] }]]],
    { source: "APL's agents" }]],
}; // prettier-ignore
