/** Aggregations. Each has a form with `if` at its end, which takes a condition as its last argument. */
import { arrayOfNumbers, countable, firstType, summable } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const AGGREGATES = {
  count: { syntax: 'count()', doc: 'Counts rows; with an argument, those where it has a value.', args: ['any'], optional: 1, returns: 'int' },
  countif: { syntax: 'countif(condition)', doc: 'Counts the rows where the condition is true.', args: ['bool'], returns: 'int' },
  dcount: { wire: 'distinct', syntax: 'dcount(value)', doc: 'Counts the distinct values exactly.', args: ['any', 'any'], optional: 1, returns: 'int' },
  sum: { syntax: 'sum(number)', doc: 'Adds up the values; 0 if there is none.', args: ['any'], returns: summable },
  avg: { syntax: 'avg(number)', doc: 'Returns the mean.', args: ['any'], returns: countable },
  min: { syntax: 'min(value)', doc: 'Returns the smallest value.', args: ['any'], returns: firstType },
  max: { syntax: 'max(value)', doc: 'Returns the largest value.', args: ['any'], returns: firstType },
  percentile: { wire: 'percentiles', syntax: 'percentile(number, 95)', doc: 'Returns the exact value at a percentile, by nearest rank.', args: ['any', 'constant'], returns: summable },
  percentiles_array: { aliases: ['percentiles'], wire: 'percentiles', syntax: 'percentiles_array(number, 50, 95)', doc: 'Returns the values at the percentiles as an array.', args: ['any', 'constant'], rest: 'constant', returns: arrayOfNumbers },
  topk: { syntax: 'topk(value, 10)', doc: 'Returns the most frequent values as an array of `{key, count, error}`; exact up to 10,000 distinct values.', args: ['any', 'constant int'], returns: 'dynamic' },
  histogram: { syntax: 'histogram(number, 30)', doc: 'Counts the values in bins of equal width and returns an array of `{from, to, count}`.', args: ['number', 'constant int'], returns: 'dynamic' },
  make_list: { wire: 'makelist', syntax: 'make_list(value, 100)', doc: 'Collects the values in an array, at most that many.', args: ['any', 'constant int'], optional: 1, returns: 'dynamic' },
  make_set: { wire: 'makeset', syntax: 'make_set(value, 100)', doc: 'Collects the distinct values in a sorted array, at most that many; of arrays the items.', args: ['any', 'constant int'], optional: 1, returns: 'dynamic' },
  buildschema: { syntax: 'buildschema(value)', doc: 'Describes the types of the values: `"long"`, or `["long","string"]` for several; for an object the types by key, for an array those of its items under `` `indexer` ``. Nulls do not count; of more than 1,000 different paths and types some are left out.', args: ['any'], returns: 'dynamic' },
  stdev: { syntax: 'stdev(number)', doc: 'Returns the standard deviation of the sample; 0 for fewer than two numbers.', args: ['number'], returns: 'real' },
  variance: { syntax: 'variance(number)', doc: 'Returns the variance of the sample; 0 for fewer than two numbers.', args: ['number'], returns: 'real' },
  rate: { syntax: 'rate(number)', doc: 'Returns the sum per second of the time that a row stands for; without an argument, rows per second.', args: ['number'], optional: 1, returns: 'real' },
  phrases: { syntax: 'phrases(text, 10)', doc: 'Returns the most frequent phrases of texts as an array, the most frequent first, 10 unless told: words in a row, in lower case, which signs and small words of English (a, of, the) part. Exact up to 10,000 different phrases.', args: ['any', 'constant int'], optional: 1, returns: 'dynamic' },
  spotlight: { columns: true, syntax: 'spotlight(condition, field, …)', doc: 'Compares the rows that meet the condition with the rest: for each field `{dimension, delta_score, differences}`, the largest difference first. `differences` are its values `{value, comparison_count, comparison_share, baseline_count, baseline_share, difference, frequency_ratio}`, of which the 20 that differ most are listed; a share is of all rows of that side, `comparison` being those that meet the condition. `frequency_ratio` is 1 for a value that only those have, -1 for one that only the rest has. Exact up to 10,000 distinct values of a field; it has no form with `if`. `*` stands for all fields.', args: ['bool', 'any'], rest: 'any', returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore

/** Separates two phrases; for the engine and for tests. */
export const PHRASE_GAPS = `[^\\p{L}\\p{N}\\s']+|\\b(?:${['a', 'an', 'and', 'are', 'as', 'at', 'be', 'by', 'for', 'from', 'in', 'is', 'it', 'of', 'on', 'or', 'that', 'the', 'this', 'to', 'was', 'with'].join('|')})\\b`;
