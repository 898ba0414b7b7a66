/**
 * The datasets: their descriptions, tables and fields. The database decides: at start, a dataset without a table (a crash between the two) gets one,
 * and the table of a removed dataset is dropped. A table that the database does not know stays (the database may be an older copy): it is
 * logged, and its number is not used.
 */
import { SERVICE_ALL_FIELDS, SERVICE_DESCRIPTIONS_LENGTH, type ServiceLimits } from '../limits.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Engine } from '../engine/engine.ts';
import { numberColumns, ownFieldsOf, type OwnColumn, type OwnFields } from '../engine/own-columns.ts';
import { datasetOfTable, tableOf } from '../engine/tables.ts';
import { ApiError, badRequest, notFound, quote } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';

/** What people say about a field. */
export interface FieldNote {
  readonly unit: string;
  readonly hidden: boolean;
  readonly description: string;
}
export const NO_NOTE: FieldNote = { unit: '', hidden: false, description: '' };

export interface DatasetRecord {
  readonly id: number;
  readonly name: string;
  readonly table: string;
  readonly created: string;
  readonly who: string;
  /** What clients take it to be for, one of `DATASET_KINDS`. */
  readonly kind?: string;
  description: string;
  /** When it was last changed; empty: never. */
  updated?: string;
  /** Events older than this are deleted; 0: never. */
  retentionDays: number;
  /** Flattened name → type bits. Changed only by `noteFields`. */
  readonly fields: Map<string, number>;
  /** The columns that fields have of their own, for what reads. Changed only by `addColumns`. */
  own: OwnFields;
  /** The same, for what writes: those that every query that runs knows of. */
  written: readonly OwnColumn[];
  /** By flattened name, where there is one. Changed only by `describeField`. */
  readonly notes: Map<string, FieldNote>;
  /** Names of fields that clients call maps. */
  mapFields: readonly string[];
}

type DatasetFacts = Pick<DatasetRecord, 'name' | 'description' | 'created' | 'who' | 'kind' | 'updated'>;

/** A dataset that nothing was stored in yet. */
export const newDataset = (
  id: number,
  { name, description, created, who, kind = '', updated = '' }: DatasetFacts,
): DatasetRecord => ({
  id,
  name,
  table: tableOf(id),
  created,
  who,
  kind,
  description,
  updated,
  retentionDays: 0,
  fields: new Map(),
  notes: new Map(),
  mapFields: [],
  own: new Map(),
  written: [],
});

export type Catalog = Awaited<ReturnType<typeof openCatalog>>;

export async function openCatalog(
  metadata: Metadata,
  engine: Engine,
  log: Log,
  most: Pick<ServiceLimits, 'datasets' | 'allFields'>,
) {
  const { db } = metadata;
  const byName = new Map<string, DatasetRecord>();
  /** Requests that use a dataset, by its number. */
  const uses = new Map<number, Set<Promise<unknown>>>();
  /** Names of datasets that are being made. */
  const making = new Set<string>();
  const byText = db.prepare('select id from datasets where name = ?');
  const insert = db.prepare('insert into datasets (name, description, created, who, kind) values (?, ?, ?, ?, ?)');
  const setNote = db.prepare('insert or replace into field_notes values (?, ?, ?, ?, ?)');
  const setField = db.prepare('insert into fields values (?, ?, ?) on conflict do update set types = excluded.types');

  for (const row of db.prepare('select * from datasets order by id').all()) {
    const id = row['id'] as number;
    const fields = db.prepare('select name, types from fields where dataset = ?').all(id);
    byName.set(row['name'] as string, {
      ...newDataset(id, row as unknown as DatasetFacts),
      retentionDays: row['retention_days'] as number,
      fields: new Map(fields.map((field) => [field['name'] as string, field['types'] as number])),
      notes: new Map(db.prepare('select * from field_notes where dataset = ?').all(id).map(noteOf)),
      mapFields: JSON.parse(row['map_fields'] as string) as string[],
    });
  }
  await alignTables(metadata, engine, [...byName.values()], log);
  const ownColumns = await engine.ownColumns();
  for (const dataset of byName.values()) {
    dataset.written = ownColumns.get(dataset.table) ?? [];
    dataset.own = ownFieldsOf(dataset.written);
  }

  let fieldCount = [...byName.values()].reduce((sum, { fields }) => sum + fields.size, 0);
  let described = [...byName.values()].reduce((sum, dataset) => sum + descriptionsLength(dataset), 0);
  /** Throws an `ApiError` 400 when the descriptions would grow beyond what memory holds. */
  const noteLength = (before: number, after: number): void => {
    if (after > before && described + after - before > SERVICE_DESCRIPTIONS_LENGTH)
      throw badRequest(
        `descriptions have ${described} of ${SERVICE_DESCRIPTIONS_LENGTH} characters already: shorten some`,
      );
    described += after - before;
  };
  /** Runs `write`, which changes a description from one length to another. */
  const noted = <T>(before: number, after: number, write: () => T): T => {
    noteLength(before, after);
    try {
      return write();
    } catch (error) {
      described += before - after;
      throw error;
    }
  };

  /** Removes the dataset in one commit, then drops the table. If that fails, the next start drops it. */
  const forget = async (id: number): Promise<void> => {
    metadata.transaction(() => {
      for (const table of ['fields', 'field_notes', 'virtual_fields', 'keys'])
        db.prepare(`delete from ${table} where dataset = ?`).run(id);
      db.prepare('delete from datasets where id = ?').run(id);
      db.prepare('insert into dropped values (?)').run(id);
    });
    await drop(metadata, engine, id).catch((error: unknown) =>
      log.warn(
        { table: tableOf(id), error: messageOf(error) },
        'cannot drop the table of a removed dataset: retrying at the next start',
      ),
    );
  };

  const catalog = {
    list: (): DatasetRecord[] => [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    /** Throws an `ApiError` 404. */
    get(name: string): DatasetRecord {
      const dataset = byName.get(name);
      if (!dataset) throw notFound(`dataset ${quote(name)} not found`);
      return dataset;
    },
    /** Throws an `ApiError` 400 for a bad name, 409 when it exists. */
    async create(name: string, description: string, who: string, kind: string): Promise<DatasetRecord> {
      if (!/^[A-Za-z0-9-]{1,128}$/.test(name))
        throw badRequest(`dataset name ${quote(name)}: wanted 1 to 128 characters of A-Z, a-z, 0-9 and -`);
      if (byName.size >= most.datasets)
        throw badRequest(
          `there are ${byName.size} datasets already, the most that this service keeps with its memory (serve --memory)`,
        );
      if (byName.has(name) || making.has(name)) throw new ApiError(409, `dataset ${quote(name)} exists already`);
      const created = new Date().toISOString();
      making.add(name);
      try {
        // One of an attempt that failed, on a full disk.
        for (const { id } of byText.all(name)) await forget(id as number);
        const id = noted(0, description.length, () =>
          Number(insert.run(name, description, created, who, kind).lastInsertRowid),
        );
        const dataset = newDataset(id, { name, description, created, who, kind });
        try {
          await engine.createTable(dataset.table);
        } catch (error) {
          noteLength(description.length, 0);
          await forget(id).catch(() => undefined);
          throw error;
        }
        byName.set(name, dataset);
        return dataset;
      } finally {
        making.delete(name);
      }
    },
    update(
      dataset: DatasetRecord,
      {
        description = dataset.description,
        retentionDays = dataset.retentionDays,
        mapFields = dataset.mapFields,
      }: { readonly description?: string; readonly retentionDays?: number; readonly mapFields?: readonly string[] },
    ): void {
      const set = db.prepare(
        'update datasets set description = ?, retention_days = ?, map_fields = ?, updated = ? where id = ?',
      );
      const updated = new Date().toISOString();
      noted(dataset.description.length, description.length, () =>
        set.run(description, retentionDays, JSON.stringify(mapFields), updated, dataset.id),
      );
      Object.assign(dataset, { description, retentionDays, mapFields, updated });
    },
    /** Waits for the requests that use the dataset, then removes everything of it. */
    async remove(dataset: DatasetRecord): Promise<void> {
      byName.delete(dataset.name);
      making.add(dataset.name);
      try {
        const running = uses.get(dataset.id);
        if (running) await Promise.allSettled(running);
        uses.delete(dataset.id);
        await forget(dataset.id);
      } catch (error) {
        byName.set(dataset.name, dataset);
        throw error;
      } finally {
        making.delete(dataset.name);
      }
      noteLength(descriptionsLength(dataset), 0);
      fieldCount -= dataset.fields.size;
    },
    /** Runs `work` on the dataset; it is not removed meanwhile. Throws an `ApiError` 404. */
    async use<T>(name: string, work: (dataset: DatasetRecord) => Promise<T>): Promise<T> {
      const dataset = catalog.get(name);
      const running = uses.get(dataset.id) ?? new Set();
      uses.set(dataset.id, running);
      const use = work(dataset);
      running.add(use);
      try {
        return await use;
      } finally {
        running.delete(use);
      }
    },
    /** How many more fields all datasets may have. */
    fieldsLeft: (): number => Math.max(0, Math.min(SERVICE_ALL_FIELDS, most.allFields) - fieldCount),
    /** Adds type bits to fields, in memory and in the database (call it inside a transaction where there is one). */
    noteFields(dataset: DatasetRecord, fields: ReadonlyMap<string, number>): void {
      for (const [name, bits] of fields) {
        const before = dataset.fields.get(name);
        const after = (before ?? 0) | bits;
        if (after === before) continue;
        setField.run(dataset.id, name, after);
        metadata.afterCommit(() => {
          if (before === undefined) fieldCount++;
          dataset.fields.set(name, after);
        });
      }
    },
    /** Gives fields of the dataset columns of their own. Call it while the dataset is in use. */
    async addColumns(dataset: DatasetRecord, wanted: readonly Omit<OwnColumn, 'name'>[]): Promise<void> {
      // Columns of an attempt that failed half-way stay, with their numbers.
      const known = (await engine.ownColumns()).get(dataset.table) ?? [];
      const added = numberColumns(
        known,
        wanted.filter(({ map, field }) => !known.some((column) => column.map === map && column.field === field)),
      );
      const columns = [...known, ...added];
      await engine.addColumns(dataset.table, columns);
      dataset.own = ownFieldsOf(columns);
      // Running queries know only the maps: write to the columns once they are done.
      const running = [...(uses.get(dataset.id) ?? [])];
      void Promise.allSettled(running).then(() => void (dataset.written = columns));
    },
    /** Changes the description of a field; undefined keeps a part. */
    describeField(
      dataset: DatasetRecord,
      name: string,
      changes: { readonly [Key in keyof FieldNote]?: FieldNote[Key] | undefined },
    ): void {
      const { notes } = dataset;
      const before = notes.get(name) ?? NO_NOTE;
      const { unit = before.unit, hidden = before.hidden, description = before.description } = changes;
      noted(before.description.length, description.length, () =>
        setNote.run(dataset.id, name, unit, hidden ? 1 : 0, description),
      );
      notes.set(name, { unit, hidden, description });
    },
  };
  return catalog;
}

const descriptionsLength = ({ description, notes }: DatasetRecord): number =>
  [...notes.values()].reduce((sum, note) => sum + note.description.length, description.length);

/** The service's own fields of every dataset. */
export const OWN_FIELDS = ['_sysTime', '_time'];

function noteOf(row: Record<string, unknown>): [name: string, note: FieldNote] {
  const { name, unit, hidden, description } = row as {
    name: string;
    unit: string;
    hidden: number;
    description: string;
  };
  return [name, { unit, hidden: hidden === 1, description }];
}

async function drop(metadata: Metadata, engine: Engine, id: number): Promise<void> {
  await engine.dropTable(tableOf(id));
  metadata.db.prepare('delete from dropped where id = ?').run(id);
}

async function alignTables(
  metadata: Metadata,
  engine: Engine,
  datasets: readonly DatasetRecord[],
  log: Log,
): Promise<void> {
  const { db } = metadata;
  for (const row of db.prepare('select id from dropped').all()) await drop(metadata, engine, row['id'] as number);
  const tables = new Set(await engine.tables());
  for (const { table } of datasets) if (!tables.delete(table)) await engine.createTable(table);
  if (tables.size === 0) return;
  log.warn({ tables: [...tables].join(', ') }, 'the engine has tables of no known dataset: leaving them alone');
  // Skip the numbers of these tables: a new dataset would find one filled.
  const last = Math.max(...[...tables].map((table) => datasetOfTable(table) ?? 0));
  const known = db.prepare("select seq from sqlite_sequence where name = 'datasets'").get()?.['seq'] as
    | number
    | undefined;
  if (known === undefined) db.prepare("insert into sqlite_sequence values ('datasets', ?)").run(last);
  else db.prepare("update sqlite_sequence set seq = max(seq, ?) where name = 'datasets'").run(last);
}
