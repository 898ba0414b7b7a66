/**
 * The topics of operators, in the order of the documentation. A topic is one line here and a folder of its name, whose `spec.ts` says how its
 * operators are read and planned. `scripts/generate.ts` writes their list.
 */
export const OPERATOR_TOPICS = [
  'rows',
  'columns',
  'parse',
  'expand',
  'flow',
  'summarize',
  'series',
  'top-nested',
  'join',
  'union',
  'search',
  'shape',
] as const;
