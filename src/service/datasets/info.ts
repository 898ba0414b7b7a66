/** What a dataset holds, as the older endpoint /v1/datasets/{id}/info says it. */
import { z } from 'zod';
import { formatTime, NO_TIME } from '../../core/time/time-text.ts';
import type { Engine } from '../engine/engine.ts';
import type { DatasetRecord } from './catalog.ts';
import { datasetFields, FIELD } from './schemas.ts';

const time = z.iso.datetime();

export const INFO = z.strictObject({
  name: z.string(),
  numBlocks: z.int(),
  numEvents: z.int(),
  numFields: z.int(),
  inputBytes: z.int(),
  inputBytesHuman: z.string(),
  compressedBytes: z.int(),
  compressedBytesHuman: z.string(),
  minTime: time,
  maxTime: time,
  fields: z.array(FIELD),
  who: z.string(),
  created: time,
});

/** Bytes are those of the engine's columns before compression, and those on disk. Deleted events count until their space is freed. */
export async function infoOf(engine: Engine, dataset: DatasetRecord): Promise<z.infer<typeof INFO>> {
  const { name, table, who, created } = dataset;
  const { rows: numEvents, min, max } = await engine.extent(table);
  const timeOf = (ns: bigint): string => (numEvents === 0 ? NO_TIME : formatTime(ns));
  const { parts, uncompressedBytes, compressedBytes } = await engine.storage(table);
  const fields = datasetFields(dataset);
  return {
    name,
    numBlocks: parts,
    numEvents,
    numFields: fields.length,
    inputBytes: uncompressedBytes,
    inputBytesHuman: inWords(uncompressedBytes),
    compressedBytes,
    compressedBytesHuman: inWords(compressedBytes),
    minTime: timeOf(min),
    maxTime: timeOf(max),
    fields,
    who,
    created,
  };
}

function inWords(bytes: number): string {
  const step = Math.min(4, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const amount = bytes / 1000 ** step;
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${['B', 'kB', 'MB', 'GB', 'TB'][step]}`;
}
