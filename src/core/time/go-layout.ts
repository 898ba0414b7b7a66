/**
 * Go's reference layouts (`Mon Jan 2 15:04:05 -0700 MST 2006`), the `timestamp-format` of ingest requests: what in a layout
 * stands for a part of a time, and what is text.
 */

export type LayoutPart = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'token'; readonly token: string };

/** Longest first where one begins another. */
const TOKENS = [
  'January', 'Monday', 'Z07:00:00', '-07:00:00', 'Z070000', '-070000', 'Z07:00', '-07:00', 'Z0700', '-0700',
  '2006', '002', '__2', 'Jan', 'Mon', 'MST', 'Z07', '-07', '01', '02', '03', '04', '05', '06', '15', '_2', 'PM', 'pm', '1', '2', '3', '4', '5',
]; // prettier-ignore
/** The parts of a layout. Never fails: a layout without tokens is text to match. */
export function compileLayout(layout: string): readonly LayoutPart[] {
  const parts: LayoutPart[] = [];
  let literal = '';
  for (let at = 0; at < layout.length;) {
    const token = tokenAt(layout, at);
    if (token === undefined) {
      literal += layout[at++];
      continue;
    }
    if (literal) parts.push({ kind: 'literal', text: literal });
    literal = '';
    parts.push({ kind: 'token', token });
    at += token.length;
  }
  if (literal) parts.push({ kind: 'literal', text: literal });
  return parts;
}

function tokenAt(layout: string, at: number): string | undefined {
  // A fraction: a point or comma, then only zeros or only nines, then no digit (Go: `.000`, `,999`).
  const fraction = /^[.,](0+|9+)(?!\d)/.exec(layout.slice(at, at + 12));
  if (fraction) return fraction[0];
  // `_2006` is an underscore and the year, not `_2` and `006`.
  const token = TOKENS.find((t) => layout.startsWith(t, at) && !(t === '_2' && layout.startsWith('_2006', at)));
  // Go reads `Jan` and `Mon` only where no lower-case letter follows (`Month` is text).
  if ((token === 'Jan' || token === 'Mon') && /[a-z]/.test(layout[at + 3] ?? '')) return undefined;
  return token;
}
