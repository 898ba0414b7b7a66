/** The known name a mistyped one was meant to be, or none: a wrong guess is worse than no guess. */

/** Longer texts are never compared: they are no typing mistakes, and the cost grows with the square. */
const MAX_LENGTH = 64;

/** The known name nearest to `name`, when it is close: about one mistake for every three letters. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name === '' || name.length > MAX_LENGTH) return undefined;
  const wanted = normalize(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = candidate.length > MAX_LENGTH ? Infinity : editDistance(wanted, normalize(candidate));
    if (distance < bestDistance && distance < candidate.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Suggests a name for an unknown one on the command line. */
export function suggest(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `there are: ${known.join(', ')}` : `did you mean "${near}"?`;
}

/** The same in a configuration, where names are in backticks. `all` introduces the names. */
export function suggestKey(name: string, known: Iterable<string>, all = 'known:'): string {
  const names = [...known];
  const near = nearest(name, names);
  return near === undefined ? `${all} ${names.join(', ')}` : `did you mean \`${near}\`?`;
}

/** `maxBytes`, `max-bytes` and `MAX_BYTES` are `max_bytes` written in another style, not mistakes. */
function normalize(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    before = above;
    above = current;
  }
  return above[b.length] ?? 0;
}
