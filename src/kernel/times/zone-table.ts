/** The offsets of time zones, and their abbreviations, as the kernel has them (assembly/time/zone.ts, zone-names.ts). */
import { ABBREVIATIONS, abbreviationOffset } from '../../core/time/abbreviations.ts';
import { createZone, namedZone } from '../../core/time/zone.ts';

export interface ZoneTable {
  /** IANA name. */
  readonly name: string;
  readonly image: Buffer;
  /** How many offsets it holds. */
  readonly count: number;
}

const ENTRY_BYTES = 16;
const MAX_ENTRIES = 256;
export const ZONE_TABLE_BYTES = MAX_ENTRIES * ENTRY_BYTES;

const DAY_MS = 86_400_000;
/** No zone changes its offset twice within this time. */
const STEP_MS = 14 * DAY_MS;
/** Times before 2000 are not taken. */
const FROM_MS = Date.UTC(1999, 11, 1);
/** From now on; an agent that runs for longer has been reloaded. */
const AHEAD_MS = 10 * 365 * DAY_MS;
/** Zones change their offset on a quarter of an hour. */
const QUARTER_MS = 900_000;

const tables = new Map<string, ZoneTable>();

/** `name` is an IANA zone. Made once for each: it takes thousands of questions to Intl. */
export function zoneTable(name: string): ZoneTable {
  const known = tables.get(name);
  if (known) return known;
  const zone = createZone(name);
  const offsetAt = (ms: number): number => zone.offsetAt(ms);
  const offsets = [{ fromMs: Number.NEGATIVE_INFINITY, offsetMs: offsetAt(FROM_MS) }];
  const end = name === 'UTC' ? FROM_MS : Date.now() + AHEAD_MS;
  for (let at = FROM_MS; at < end && offsets.length < MAX_ENTRIES; at += STEP_MS) {
    const { offsetMs } = offsets.at(-1)!;
    if (offsetAt(at + STEP_MS) === offsetMs) continue;
    let [before, after] = [at, at + STEP_MS];
    while (after - before > QUARTER_MS) {
      const middle = before + Math.floor((after - before) / 2 / QUARTER_MS) * QUARTER_MS;
      if (offsetAt(middle) === offsetMs) before = middle;
      else after = middle;
    }
    offsets.push({ fromMs: after, offsetMs: offsetAt(after) });
  }
  const image = Buffer.alloc(offsets.length * ENTRY_BYTES);
  offsets.forEach(({ fromMs, offsetMs }, n) => {
    image.writeBigInt64LE(n === 0 ? -(2n ** 62n) : BigInt(fromMs / 1000), n * ENTRY_BYTES);
    image.writeBigInt64LE(BigInt(offsetMs / 1000), n * ENTRY_BYTES + 8);
  });
  const table = { name, image, count: offsets.length };
  tables.set(name, table);
  return table;
}

const HASHED = 256;
export const ABBREVIATIONS_BYTES = HASHED * ENTRY_BYTES;
const HASH = 0x9e3779b97f4a7c15n;
const UNKNOWN = -(2n ** 63n);

const abbreviations = new Map<string, Buffer>();

/** The abbreviations' meanings where the zone of that name is configured. */
export function abbreviationImage(zoneName: string): Buffer {
  const known = abbreviations.get(zoneName);
  if (known) return known;
  const image = Buffer.alloc(ABBREVIATIONS_BYTES);
  for (const name of ABBREVIATIONS) {
    const word = Buffer.alloc(8);
    word.write(name, 'latin1');
    let at = Number(BigInt.asUintN(64, word.readBigUInt64LE() * HASH) >> 56n) * ENTRY_BYTES;
    while (image.readBigUInt64LE(at) !== 0n) at = (at + ENTRY_BYTES) % image.length;
    const offset = abbreviationOffset(name, zoneName);
    word.copy(image, at);
    image.writeBigInt64LE(typeof offset === 'number' ? BigInt(offset) : UNKNOWN, at + 8);
  }
  abbreviations.set(zoneName, image);
  return image;
}

/** Zones that lines name, as many as the kernel has at a time. */
export const MAX_NAMED_ZONES = 8;
const NAME_BYTES = 64;
export const NAMED_ZONE_BYTES = NAME_BYTES + ZONE_TABLE_BYTES;

/** The zone of a name in a line, without offsets if it does not exist. */
export function namedZoneImage(name: string): Buffer {
  const zone = namedZone(name);
  const table = zone && zoneTable(zone.name);
  const image = Buffer.alloc(NAME_BYTES + (table?.image.length ?? 0));
  image.writeUInt32LE(name.length, 0);
  image.writeUInt32LE(table?.count ?? 0, 4);
  image.write(name, 8, 'latin1');
  table?.image.copy(image, NAME_BYTES);
  return image;
}
