/** The kinds of facets that a value may have. */

/** int: Int64. real: Float64. datetime: DateTime64(9, 'UTC'). timespan: Int64 of ns. json: JSON text of an array or object. All nullable. */
export const KINDS = ['int', 'real', 'string', 'bool', 'datetime', 'timespan', 'json'] as const;
export type ValueKind = (typeof KINDS)[number];
