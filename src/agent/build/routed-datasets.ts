/** The datasets of each sink that `to_dataset` has named so far, as the state keeps them. */
import type { DatasetRegistry } from '../../batcher/fill/router.ts';
import { MAX_ROUTED_DATASETS } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { State } from '../../state/database/store.ts';

/** As the service takes it. */
const DATASET_NAME = /^[A-Za-z0-9-]{1,128}$/;

/** Whether events can go to a dataset of that name. */
export const isDatasetName = (name: string): boolean => DATASET_NAME.test(name);

/** `basesOf`: the owners of the marks of a sink's own datasets (core/checkpoint-owner) in force. */
export function createRoutedDatasets(
  state: Pick<State, 'datasetsOf' | 'addDataset'>,
  log: Log,
  basesOf: (sink: string) => readonly string[],
): DatasetRegistry {
  const refused = new Set<string>();
  /** Names that were refused are not kept without end. */
  const refuse = (sink: string, reason: string): false => {
    if (refused.has(`${sink} ${reason}`)) return false;
    refused.add(`${sink} ${reason}`);
    log.warn(
      { sink, reason },
      "events go to the sink's own dataset, because to_dataset names none that they can go to",
    );
    return false;
  };
  return {
    of: (base) => state.datasetsOf(base),
    add(base, dataset) {
      const sink = sinkOfOwner(base);
      if (!isDatasetName(dataset))
        return refuse(sink, 'a name of a dataset has 1 to 128 letters (A-Z, a-z), digits and `-`');
      const known = new Set(basesOf(sink).flatMap((each) => state.datasetsOf(each)));
      if (!known.has(dataset) && known.size >= MAX_ROUTED_DATASETS)
        return refuse(
          sink,
          `to_dataset named ${MAX_ROUTED_DATASETS} datasets before, which are all that one sink can have`,
        );
      return state.addDataset(base, dataset);
    },
  };
}
