/** The text without the characters of `chars` at its end, in linear time: a pattern such as `/0+$/` tries each run of them from each of its places. */
export function trimEndOf(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
