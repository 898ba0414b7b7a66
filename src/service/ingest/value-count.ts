/** How many values a JSON text holds: as objects of JavaScript they take many times the memory of their text. */
const [QUOTE, COMMA, BRACKET, BACKSLASH, BRACE] = [34, 44, 91, 92, 123];

/** Whether a text has more than `most` numbers, texts, arrays and objects. Counts too many in a text that is not JSON. */
export function hasMoreValues(text: string, most: number): boolean {
  // Each takes two characters at least, itself and what separates it.
  if (text.length <= 2 * most) return false;
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
    } else if ((char === COMMA || char === BRACKET || char === BRACE) && ++count > most) return true;
  }
  return false;
}
