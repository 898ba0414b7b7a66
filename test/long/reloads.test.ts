import { test } from 'vitest';
import { stormOfReloads } from '../agent/reload-rig.ts';

test('a thousand reloads under load, the service up and down, lose nothing and store nothing twice', () => stormOfReloads(1000), 3_600_000);
