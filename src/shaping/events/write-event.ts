/** An event after its transform, from the members it had and those that it has now. */
import type { ByteWriter } from '../../core/bytes/byte-writer.ts';
import type { Members } from '../../json/members.ts';
import { type Edit, writeSplicedLine } from '../../json/splice.ts';

/** A member of the result: JSON text, or undefined where the value is the one that the event had. */
export type ResultMember = readonly [name: string, json: string | undefined];

/** The agent adds it again where a transform left it out: nothing is sent without a time. */
const TIME = '_time';

/**
 * Writes the event and a newline. Members for which `isOutside` is true were not read and stay; others that are missing in the
 * result go.
 */
export function writeEvent(
  out: ByteWriter,
  members: Members,
  result: readonly ResultMember[],
  isOutside: (name: string) => boolean = () => false,
): void {
  const left = new Map(result);
  const edits: Edit[] = [];
  for (let n = 0; n < members.count; n++) {
    const name = members.nameOf(n);
    if (isOutside(name)) edits.push('keep');
    else if (left.has(name)) {
      const json = left.get(name);
      edits.push(json === undefined ? 'keep' : { json });
    } else edits.push(name === TIME ? 'keep' : 'remove');
  }
  keepFirstPlaces(members, edits);
  for (let n = 0; n < members.count; n++) left.delete(members.nameOf(n));
  writeSplicedLine(out, members, edits, addedOf(left));
}

/** Writes the event as it was, with one more member, which is left out where the event has one of that name. */
export function writeWith(out: ByteWriter, members: Members, name: string, json: string): void {
  const edits: Edit[] = [];
  let isThere = false;
  for (let n = 0; n < members.count; n++) {
    edits.push('keep');
    isThere ||= members.nameOf(n) === name;
  }
  writeSplicedLine(out, members, edits, isThere ? [] : [[name, json]]);
}

function keepFirstPlaces(members: Members, edits: Edit[]): void {
  const changed = new Set<string>();
  for (let n = 0; n < edits.length; n++) {
    if (typeof edits[n] === 'string') continue;
    const name = members.nameOf(n);
    if (changed.has(name)) edits[n] = 'remove';
    changed.add(name);
  }
}

function* addedOf(left: ReadonlyMap<string, string | undefined>): Generator<readonly [string, string]> {
  for (const [name, json] of left) if (json !== undefined) yield [name, json];
}
