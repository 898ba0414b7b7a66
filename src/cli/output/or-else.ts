/** What `read` returns, or `otherwise` where it throws: for a question that the machine need not answer. */
export function orElse<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
