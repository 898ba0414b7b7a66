/** Aggregations. Each has a form with `if` at its end, which takes a condition as its last argument. */
import { arrayOfNumbers, countable, firstType, summable } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const AGGREGATES = {
  count: { syntax: 'count()', doc: 'How many rows; with an argument, how many where it has a value.', args: ['any'], optional: 1, returns: 'int' },
  countif: { syntax: 'countif(condition)', doc: 'How many rows where the condition is true.', args: ['bool'], returns: 'int' },
  dcount: { wire: 'distinct', syntax: 'dcount(value)', doc: 'How many different values, exactly.', args: ['any', 'any'], optional: 1, returns: 'int' },
  sum: { syntax: 'sum(number)', doc: 'The sum.', args: ['any'], returns: summable },
  avg: { syntax: 'avg(number)', doc: 'The mean.', args: ['any'], returns: countable },
  min: { syntax: 'min(value)', doc: 'The least value.', args: ['any'], returns: firstType },
  max: { syntax: 'max(value)', doc: 'The greatest value.', args: ['any'], returns: firstType },
  percentile: { wire: 'percentiles', syntax: 'percentile(number, 95)', doc: 'The value at that percentile, exact, by nearest rank.', args: ['any', 'constant'], returns: summable },
  percentiles_array: { aliases: ['percentiles'], wire: 'percentiles', syntax: 'percentiles_array(number, 50, 95)', doc: 'The values at the percentiles, as an array.', args: ['any', 'constant'], rest: 'constant', returns: arrayOfNumbers },
  topk: { syntax: 'topk(value, 10)', doc: 'The most frequent values, as an array of `{key, count, error}`; exact up to 10,000 different ones.', args: ['any', 'constant int'], returns: 'dynamic' },
  histogram: { syntax: 'histogram(number, 30)', doc: 'Counts in that many bins of equal width, as an array of `{from, to, count}`.', args: ['number', 'constant int'], returns: 'dynamic' },
  make_list: { wire: 'makelist', syntax: 'make_list(value, 100)', doc: 'All values, as an array of at most that many.', args: ['any', 'constant int'], optional: 1, returns: 'dynamic' },
  make_set: { wire: 'makeset', syntax: 'make_set(value, 100)', doc: 'The different values in their order, as an array of at most that many.', args: ['any', 'constant int'], optional: 1, returns: 'dynamic' },
  buildschema: { syntax: 'buildschema(value)', doc: 'The types that the values have: `"long"`, or `["long","string"]` of several, an object of those of its keys, and for an array an object with the types of its items under `` `indexer` ``. Nulls do not count; of more than 1,000 different paths and types some are left out.', args: ['any'], returns: 'dynamic' },
  stdev: { syntax: 'stdev(number)', doc: 'The standard deviation of the sample.', args: ['number'], returns: 'real' },
  variance: { syntax: 'variance(number)', doc: 'The variance of the sample.', args: ['number'], returns: 'real' },
  rate: { syntax: 'rate(number)', doc: 'The sum per second of the time that a row stands for; without an argument, rows per second.', args: ['number'], optional: 1, returns: 'real' },
} satisfies FunctionTable; // prettier-ignore
