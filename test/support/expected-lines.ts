/** The texts that must be stored of a log file, from its bytes alone: by the documented repair, and nothing of the product. */

/** Each line's text: a CR before the newline dropped, invalid UTF-8 as U+FFFD, empty lines left out. */
export function messagesOf(bytes: Uint8Array): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const messages: string[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    const message = decoder.decode(bytes.subarray(start, bytes[end - 1] === 13 && end > start ? end - 1 : end));
    if (message !== '') messages.push(message);
    start = end + 1;
  }
  return messages;
}

/** Makes two multisets comparable: how often each text occurs. */
function countEach(texts: Iterable<unknown>): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Missing and surplus texts, each with its number; both empty when the multisets are equal. */
export function compareCounts(
  expected: Iterable<unknown>,
  actual: Iterable<unknown>,
): { missing: unknown[]; extra: unknown[] } {
  const [wanted, found] = [countEach(expected), countEach(actual)];
  const missing = [...wanted].filter(([text, count]) => (found.get(text) ?? 0) < count);
  const extra = [...found].filter(([text, count]) => (wanted.get(text) ?? 0) < count);
  return { missing, extra };
}
