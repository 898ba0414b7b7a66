/**
 * Where the types of clients, which speak to any service of this API family, differ from ours. `looser`: other services have more
 * values than these, write null for an empty list, or leave the key out. `type`: what a value is that no schema checks.
 */
import { z } from 'zod';

export const CLIENT_TYPES = z.registry<{ readonly looser?: true; readonly type?: string }>();
export const looser = { looser: true } as const;
