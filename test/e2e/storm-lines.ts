/** The lines of the storm, numbered, so that stored events tell which bytes of the log arrived. */

/** Line number `seq`, without its newline: 19 to about 120 bytes of ASCII. */
export function lineOf(seq: number): string {
  return `{"seq":${seq},"pad":"${'x'.repeat((seq * 7919) % 97)}"}`;
}

/** The number of a stored event that is a whole line; undefined for a piece of one. */
export function seqOf(event: string): number | undefined {
  const match = /^\{"seq":(\d+),"pad":"x*"[,}]/.exec(event);
  return match ? Number(match[1]) : undefined;
}

/** Where each of the first `lines` lines begins in all that was written, and, last, where the next one would. */
export function startsOf(lines: number): Float64Array {
  const starts = new Float64Array(lines + 1);
  for (let seq = 0; seq < lines; seq += 1) starts[seq + 1] = starts[seq]! + lineOf(seq).length + 1;
  return starts;
}

/** The line that the byte at `position` belongs to. */
export function lineAt(starts: Float64Array, position: number): number {
  let low = 0;
  for (let high = starts.length - 1; low < high;) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
