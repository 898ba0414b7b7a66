/** Reloads of every kind under load, one after the other. */
import { test } from 'vitest';
import { stormOfReloads } from './reload-rig.ts';

test('a thousand reloads under load, the service up and down, lose nothing, store nothing twice, and take no counter back', () =>
  stormOfReloads(1000));
