/** Compares an archive with its manifests, and these with the agent's ledger, for `tailrace audit`. Reads every file; writes nothing. */
import { basename, join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import type { LedgerBatch, Proof, ProofFault } from '../common/proof.ts';
import { MAX_NAMED_FAULTS } from './reading/limits.ts';
import { listHours } from './reading/folders.ts';
import { hourPath, hourTime, keyOf, MANIFEST } from './reading/names.ts';
import { readHour } from './reading/read-hour.ts';
import { readRemoved } from './removed.ts';

export async function proveArchive(root: string, ledger: readonly LedgerBatch[]): Promise<Proof> {
  const batches = new Map(ledger.map((batch) => [`${batch.dataset}/${batch.key}`, batch]));
  const held = { batches: 0, events: 0, bytes: 0 };
  const count = { listed: 0, unlisted: 0, unfinished: 0 };
  const faults: ProofFault[] = [];
  let faultCount = 0;
  const fault = (path: string, why: string, key = keyOf(basename(path))): void => {
    faultCount += 1;
    if (faults.length < MAX_NAMED_FAULTS) faults.push({ path, ...(key !== undefined && { key }), why });
  };
  for (const hour of await listHours(root, (path, why) => fault(path, why))) {
    const dataset = hour.slice(0, hour.indexOf('/'));
    for await (const part of readHour(join(root, hour))) {
      const name = `${dataset}/${keyOf(basename(part.path)) ?? ''}`;
      const batch = batches.get(name);
      if (part.kind === 'damaged') fault(part.path, part.why);
      else count[part.kind] += 1;
      if (part.kind === 'listed') {
        held.batches += 1;
        held.events += part.entry.events;
        held.bytes += part.entry.bytes;
        if (batch && batch.events !== part.entry.events)
          fault(part.path, `its manifest counts ${part.entry.events} events, and the agent's ledger ${batch.events}`);
      } else if (part.kind === 'unlisted' && batch?.isSettled)
        fault(part.path, 'it counts as delivered, and the manifest has no line for it');
      if (part.kind !== 'unfinished') batches.delete(name);
    }
  }
  const removed = await readRemoved(root).catch((error: unknown): Proof['removed'] => {
    fault(root, `the list of removed hours cannot be read: ${messageOf(error)}`);
    return {};
  });
  for (const { key, dataset, events, isSettled, readAtMs } of batches.values()) {
    const hour = readAtMs === undefined ? undefined : hourPath(dataset, readAtMs);
    const wasRemoved = hour !== undefined && Object.values(removed).some(({ until }) => hourTime(hour) <= until);
    if (!isSettled || wasRemoved) continue;
    fault(
      join(root, hour ?? dataset, MANIFEST),
      `it has no line for a batch of ${events} events that counts as delivered`,
      key,
    );
  }
  const { unlisted, unfinished } = count;
  return { path: root, held, unlisted, unfinished, removed, faults, fault_count: faultCount };
}
