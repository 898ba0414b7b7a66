/**
 * Makes a dataset of a data folder larger, in the engine alone: copies of its first events, each copy later in time than the one before, with row ids,
 * `seq` and `reqId` of its own. Table, columns, codecs and indexes are those of the service, and the parts are of the kind that merges leave. Arguments: the folder, the
 * least and the greatest `_time` (ns) of the first events, and the first and last copy to make. The last line is the table's size as JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Session } from 'chdb';
import { OWN_COLUMNS_SQL, readColumns } from '../../../src/service/engine/own-columns.ts';
import { tableOf, timeLiteral } from '../../../src/service/engine/tables.ts';

export interface Size {
  readonly rows: number;
  readonly bytes: number;
  readonly parts: number;
}

const TABLE = tableOf(1);
const ROWS_OF_A_COPY = 10n ** 9n;
/** Fresh parts as merged ones are written: without it their maps would have no buckets. */
const BUCKETS_AT_ONCE = 'map_serialization_version_for_zero_level_parts';
const INSERT_SETTINGS =
  'max_threads = 1, max_insert_threads = 1, min_insert_block_size_rows = 3000000, min_insert_block_size_bytes = 0';

const [folder = '', min = '', max = '', first = '', last = ''] = process.argv.slice(2);
const session = new Session(`${folder}/engine`, { connectionArgs: [`--config-file=${folder}/engine.xml`] });
const ask = async (sql: string): Promise<unknown[][]> =>
  (JSON.parse((await session.queryAsync(sql, { format: 'JSONCompact' })).text()) as { data: unknown[][] }).data;

const stored = await ask(
  `select name from system.columns where table = '${TABLE}' and default_kind != 'ALIAS' order by position`,
);
const names = stored.map(([name]) => String(name));
const own = readColumns(await ask(OWN_COLUMNS_SQL)).get(TABLE) ?? [];
const columnOf = (field: string): string | undefined => own.find((column) => column.field === field)?.name;

/** A copy's value of a column. */
function valueOf(name: string, copy: bigint): string {
  const shift = copy * (BigInt(max) - BigInt(min) + 1_000_000n);
  if (name === '_time' || name === '_sysTime') return `${name} + toIntervalNanosecond(${shift})`;
  if (name === '_rowId') return `${name} + ${copy * ROWS_OF_A_COPY}`;
  if (name === columnOf('seq')) return `${name} + ${copy * ROWS_OF_A_COPY}`;
  if (name === columnOf('reqId')) return `lower(hex(toUInt32(cityHash64(${name}, ${copy}))))`;
  return name;
}

const known = await ask(`select count() from system.merge_tree_settings where name = '${BUCKETS_AT_ONCE}'`);
if (Number(known[0]?.[0]) > 0)
  await session.queryAsync(`alter table ${TABLE} modify setting ${BUCKETS_AT_ONCE} = 'with_buckets'`);
for (let copy = BigInt(first); copy <= BigInt(last); copy++) {
  const values = names.map((name) => valueOf(name, copy));
  await session.queryAsync(
    `insert into ${TABLE} (${names.join(', ')}) select ${values.join(', ')} from ${TABLE} where _time <= ${timeLiteral(BigInt(max))} settings ${INSERT_SETTINGS}`,
  );
}
if (Number(known[0]?.[0]) > 0) await session.queryAsync(`alter table ${TABLE} reset setting ${BUCKETS_AT_ONCE}`);
for (let quiet = 0; quiet < 3;) {
  const [merges] = await ask(`select count() from system.merges where table = '${TABLE}'`);
  quiet = Number(merges?.[0]) === 0 ? quiet + 1 : 0;
  await sleep(1000);
}
const [size] = await ask(
  `select sum(rows), sum(bytes_on_disk), count() from system.parts where active and table = '${TABLE}'`,
);
session.close();
const [rows = 0, bytes = 0, parts = 0] = (size ?? []).map(Number);
process.stdout.write(`${JSON.stringify({ rows, bytes, parts } satisfies Size)}\n`);
