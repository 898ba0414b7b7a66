/**
 * The topics of functions, in the order of the documentation. A topic is one line here and a folder of its name: `spec.ts` says what the functions take
 * and give, `sql.ts` and `rows.ts` how each back end computes them, `test/language/functions/` what they give. `scripts/generate.ts` writes each room's list of its files.
 */
export const TOPICS = [
  { name: 'comparisons', title: 'Comparison and logic', infix: true },
  { name: 'text-matching', title: 'Text', infix: true },
  { name: 'arithmetic', title: 'Arithmetic', infix: true },
  { name: 'conditionals', title: 'Choosing' },
  { name: 'conversions', title: 'Conversion' },
  { name: 'strings', title: 'Text' },
  { name: 'datetimes', title: 'Time' },
  { name: 'rounding', title: 'Rounding' },
  { name: 'math', title: 'Numbers' },
  { name: 'sizes', title: 'Sizes in bytes' },
  { name: 'network', title: 'Networks' },
  { name: 'arrays', title: 'Arrays' },
  { name: 'series', title: 'Arrays of numbers' },
  { name: 'bags', title: 'Objects and sets' },
  { name: 'windows', title: 'Other rows' },
  { name: 'hiding', title: 'Secrets' },
] as const;
