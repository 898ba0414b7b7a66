/** Bounds on one query's text and tree. */

/** Characters of a query's text. */
export const SERVICE_QUERY_TEXT = 64 * 1024;
/** Literals, names, functions and operators of one query. */
export const SERVICE_QUERY_NODES = 5000;
/** Arguments of a function, and terms of has_any and has_all: the engine takes milliseconds for each. */
export const SERVICE_QUERY_ARGUMENTS = 512;
export const SERVICE_QUERY_TERMS = 256;
/** Queries inside one query: joined, united, after `in` and in `toscalar`. */
export const SERVICE_QUERY_SUBQUERIES = 32;
/** Rows of `datatable`, and values of `range`. */
export const SERVICE_QUERY_MADE_ROWS = 100_000;
/** How deep expressions may be nested. */
export const SERVICE_QUERY_DEPTH = 100;
/** How deep they may be once names of let are replaced. */
export const SERVICE_QUERY_LET_DEPTH = 300;
/** Operators between the pipes of one query. */
export const SERVICE_QUERY_STAGES = 100;
