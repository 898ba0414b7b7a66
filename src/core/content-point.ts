/** Points up to which the checksum of a stream's content is known: by them a copy is told that ends before what was read. */

export interface ContentPoint {
  readonly at: number;
  /** Content sum of the bytes from the stream's beginning to `at`. */
  readonly sum: number;
}

/** Adds a point behind the others, of which at most `most` (3 or more) are kept: first and last, and between them ever fewer away from the end. */
export function addPoint(points: ContentPoint[], point: ContentPoint, most: number): void {
  points.push(point);
  thinPoints(points, most);
}

/** Takes out of the points, which are ascending, those that are missed least until there are at most `most`. */
export function thinPoints(points: ContentPoint[], most: number): void {
  while (points.length > most) points.splice(leastMissed(points), 1);
}

/** The point without which the gap between its neighbours is smallest beside its distance from the end. */
function leastMissed(points: readonly ContentPoint[]): number {
  const end = points.at(-1)!.at + 1;
  let least = Infinity;
  let found = 1;
  for (let index = 1; index < points.length - 1; index += 1) {
    const missed = (points[index + 1]!.at - points[index - 1]!.at) / (end - points[index]!.at);
    if (missed >= least) continue;
    least = missed;
    found = index;
  }
  return found;
}
