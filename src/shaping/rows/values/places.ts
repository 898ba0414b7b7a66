/** Finds a text in another. */

/** Texts up to this length are found by the engine's own search, one place after the other. */
const SHORT = 32;

/**
 * Every place of `wanted`, overlapping ones too, in linear time (Knuth, Morris, Pratt): texts such as `aa-aa-aa-…` have another long one at each
 * place, and both may come out of an event.
 */
export function* placesOf(text: string, wanted: string): Generator<number, undefined> {
  const first = text.indexOf(wanted);
  if (first < 0) return undefined;
  if (wanted.length <= SHORT) {
    for (let at = first; at >= 0; at = at < text.length ? text.indexOf(wanted, at + 1) : -1) yield at;
    return undefined;
  }
  const borders = bordersOf(wanted);
  for (let [at, matched] = [first, 0]; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (unit === wanted.charCodeAt(matched)) matched++;
    if (matched < wanted.length) continue;
    yield at + 1 - matched;
    matched = borders[matched - 1]!;
  }
  return undefined;
}

/** For each beginning of the text, the length of the longest shorter one that it ends in. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  for (let [at, length] = [1, 0]; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = borders[length - 1]!;
    if (text.charCodeAt(at) === text.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
