/** The lines of a batch, each one event. */
const LF = 0x0a;

/** Visits the lines of NDJSON as ranges without their newline. */
export function visitLines(ndjson: Buffer, visit: (from: number, to: number) => void): void {
  for (let from = 0; from < ndjson.length;) {
    const found = ndjson.indexOf(LF, from);
    const to = found < 0 ? ndjson.length : found;
    visit(from, to);
    from = to + 1;
  }
}
