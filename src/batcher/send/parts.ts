/**
 * The parts of a batch. Each is one request; those still to be sent are on disk before the next request. refusals.ts decides whether a part is
 * split, `Shipment.split` cuts it.
 */
import type { DeliveryOptions, Persist } from './delivery-options.ts';
import { storeOf } from '../store.ts';
import type { Shipment } from './shipment.ts';

export interface PartsOptions extends Pick<DeliveryOptions, 'stores'> {
  readonly persist: Persist;
}

/** The first part is done. False when the agent stops before the others are saved. */
export function finishPart(options: PartsOptions, shipment: Shipment, as: 'stored' | 'refused'): Promise<boolean> | boolean {
  const { isWhole } = shipment;
  shipment.finish(as);
  return isWhole || shipment.parts.length === 0 || commitParts(options, shipment);
}

/** Cuts the first part in two. False when the agent stops before these are saved. */
export function splitPart(options: PartsOptions, shipment: Shipment, why: 'size' | 'fault' | 'forbidden'): Promise<boolean> {
  shipment.split(why);
  return commitParts(options, shipment);
}

function commitParts({ persist, stores }: PartsOptions, { batch, parts }: Shipment): Promise<boolean> {
  return persist(
    () => storeOf(stores, batch).commitParts(batch, parts),
    {},
    'cannot save the parts of a split batch, so they are not sent yet',
  );
}
