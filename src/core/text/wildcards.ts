/**
 * True when `*` of the pattern match any characters, and `?` one if `wildcards` has it. A mismatch goes back to the last `*` alone, so that
 * no pattern costs more than the square of the name's length: a regular expression would try each `*` with each other one.
 */
export function fitsWildcards(name: string, pattern: string, wildcards: '*' | '*?'): boolean {
  let [at, next] = [0, 0];
  let [star, behindStar] = [-1, 0];
  while (at < name.length) {
    const sign = pattern[next];
    if (sign === '*') {
      star = next++;
      behindStar = at;
    } else if (sign === name[at] || (sign === '?' && wildcards === '*?')) {
      at++;
      next++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++behindStar;
    } else return false;
  }
  while (pattern[next] === '*') next++;
  return next === pattern.length;
}
