/** Chooses the fields of a dataset that get columns of their own (`engine/own-columns`): now and then it samples events as they come in. */
import { messageOf } from '../../core/errors.ts';
import { SERVICE_OWN_COLUMNS, SERVICE_OWN_PAUSE } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import type { Catalog, DatasetRecord } from '../datasets/catalog.ts';
import { FieldTally } from './field-tally.ts';

export type OwnFieldChooser = ReturnType<typeof chooseOwnFields>;

interface Sample {
  tally: FieldTally;
  /** Events to come before it begins. */
  pause: number;
}

/** Counts `sample` events of each dataset, then again after a pause. */
export function chooseOwnFields(catalog: Catalog, log: Log, sample: number) {
  const samples = new Map<number, Sample>();
  return {
    /** What to count the fields of a request with; undefined between two samples. */
    tallyOf({ id, written }: DatasetRecord): FieldTally | undefined {
      if (written.length >= SERVICE_OWN_COLUMNS) return undefined;
      let current = samples.get(id);
      if (!current) samples.set(id, (current = { tally: new FieldTally(), pause: 0 }));
      return current.pause > 0 ? undefined : current.tally;
    },
    /** Call it when a request's events are stored: with enough events seen, adds columns. Never fails: without them all stays in the maps. */
    async choose(dataset: DatasetRecord, events: number): Promise<void> {
      const current = samples.get(dataset.id);
      if (!current) return;
      if (current.pause > 0) {
        current.pause -= events;
        return;
      }
      const { tally } = current;
      if (tally.rows < sample) return;
      samples.set(dataset.id, { tally: new FieldTally(), pause: sample * SERVICE_OWN_PAUSE });
      const wanted = tally.common(SERVICE_OWN_COLUMNS - dataset.written.length);
      if (wanted.length === 0) return;
      try {
        await catalog.addColumns(dataset, wanted);
        log.info({ dataset: dataset.name, columns: wanted.length }, 'common fields have columns of their own now');
      } catch (error) {
        log.warn(
          { dataset: dataset.name, error: messageOf(error) },
          'common fields could not be given columns of their own',
        );
      }
    },
  };
}
