/** Operators that compare: ==, <, in, between, and what combines conditions. */
import { comparison, membership, ordering, ranged } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const COMPARISONS = {
  '==': { syntax: 'a == b', doc: 'True if both are equal; texts with their case.', args: ['any', 'any'], returns: comparison, compares: true },
  '!=': { syntax: 'a != b', doc: 'True if they differ; also written `<>`.', args: ['any', 'any'], returns: comparison, compares: true },
  '=~': { syntax: 'a =~ b', doc: 'True if the texts are equal, ignoring case.', args: ['string', 'string'], returns: 'bool', compares: true },
  '!~': { syntax: 'a !~ b', doc: 'True if the texts differ, ignoring case.', args: ['string', 'string'], returns: 'bool', compares: true },
  '<': { syntax: 'a < b', doc: 'True if a is less than b: numbers, texts, datetimes, timespans.', args: ['any', 'any'], returns: ordering, compares: true },
  '<=': { syntax: 'a <= b', doc: 'True if a is less than or equal to b.', args: ['any', 'any'], returns: ordering, compares: true },
  '>': { syntax: 'a > b', doc: 'True if a is greater than b.', args: ['any', 'any'], returns: ordering, compares: true },
  '>=': { syntax: 'a >= b', doc: 'True if a is greater than or equal to b.', args: ['any', 'any'], returns: ordering, compares: true },
  between: { syntax: 'a between (low .. high)', doc: 'True if a lies between low and high, both included.', args: ['any', 'any', 'any'], returns: ranged, compares: true },
  '!between': { syntax: 'a !between (low .. high)', doc: 'True if a lies outside low and high.', args: ['any', 'any', 'any'], returns: ranged, compares: true },
  in: { syntax: 'a in (b, c, …)', doc: 'True if a equals one of the values; a `dynamic([…])` stands for its items.', args: ['any'], rest: 'any', returns: membership, compares: true },
  '!in': { syntax: 'a !in (b, c, …)', doc: 'True if a equals none of the values.', args: ['any'], rest: 'any', returns: membership, compares: true },
  'in~': { syntax: 'a in~ (b, c, …)', doc: 'True if a equals one of the values, ignoring case.', args: ['any'], rest: 'any', returns: membership, compares: true },
  '!in~': { syntax: 'a !in~ (b, c, …)', doc: 'True if a equals none of the values, ignoring case.', args: ['any'], rest: 'any', returns: membership, compares: true },
  and: { syntax: 'a and b', doc: 'True if both are true.', args: ['bool', 'bool'], rest: 'bool', returns: 'bool' },
  or: { syntax: 'a or b', doc: 'True if at least one is true.', args: ['bool', 'bool'], rest: 'bool', returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore
