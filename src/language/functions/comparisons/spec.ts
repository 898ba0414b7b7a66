/** Operators that compare: ==, <, in, between, and what combines conditions. */
import { comparison, membership, ordering, ranged } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const COMPARISONS = {
  '==': { syntax: 'a == b', doc: 'Equal; strings with their case.', args: ['any', 'any'], returns: comparison, compares: true },
  '!=': { syntax: 'a != b', doc: 'Not equal; also `<>`.', args: ['any', 'any'], returns: comparison, compares: true },
  '=~': { syntax: 'a =~ b', doc: 'Equal strings, whatever their case.', args: ['string', 'string'], returns: 'bool', compares: true },
  '!~': { syntax: 'a !~ b', doc: 'Not equal, whatever their case.', args: ['string', 'string'], returns: 'bool', compares: true },
  '<': { syntax: 'a < b', doc: 'Less: numbers, strings, datetimes, timespans.', args: ['any', 'any'], returns: ordering, compares: true },
  '<=': { syntax: 'a <= b', doc: 'Less or equal.', args: ['any', 'any'], returns: ordering, compares: true },
  '>': { syntax: 'a > b', doc: 'Greater.', args: ['any', 'any'], returns: ordering, compares: true },
  '>=': { syntax: 'a >= b', doc: 'Greater or equal.', args: ['any', 'any'], returns: ordering, compares: true },
  between: { syntax: 'a between (low .. high)', doc: 'From low to high, both included.', args: ['any', 'any', 'any'], returns: ranged, compares: true },
  '!between': { syntax: 'a !between (low .. high)', doc: 'Outside of low to high.', args: ['any', 'any', 'any'], returns: ranged, compares: true },
  in: { syntax: 'a in (b, c, …)', doc: 'Equal to one of the values; a `dynamic([…])` counts as its items.', args: ['any'], rest: 'any', returns: membership, compares: true },
  '!in': { syntax: 'a !in (b, c, …)', doc: 'Equal to none of them.', args: ['any'], rest: 'any', returns: membership, compares: true },
  'in~': { syntax: 'a in~ (b, c, …)', doc: 'Equal to one of them, whatever the case.', args: ['any'], rest: 'any', returns: membership, compares: true },
  '!in~': { syntax: 'a !in~ (b, c, …)', doc: 'Equal to none of them, whatever the case.', args: ['any'], rest: 'any', returns: membership, compares: true },
  and: { syntax: 'a and b', doc: 'Both are true.', args: ['bool', 'bool'], rest: 'bool', returns: 'bool' },
  or: { syntax: 'a or b', doc: 'At least one is true.', args: ['bool', 'bool'], rest: 'bool', returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore
