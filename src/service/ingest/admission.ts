/**
 * How much ingest is under way: requests and bytes are counted before a body is read, and those of a packed body again before it is unpacked,
 * so that memory stays bounded.
 */
import type { FastifyRequest } from 'fastify';
import { FairBudget, tooBusy, type Held } from '../fairness/fair-budget.ts';
import { ingestHolder } from '../fairness/holder.ts';
import { SERVICE_INGESTS_IN_FLIGHT, type ServiceLimits } from '../limits.ts';

export interface Admitted {
  /** Waits until so many bytes of an unpacked body have room, in place of those it waited for before. */
  readonly unpack: (bytes: number) => Promise<void>;
  readonly release: () => void;
}

/** `bodyBytes` is the most that one body may have, `ingestBytes` that of all. */
export function ingestAdmission({ bodyBytes, ingestBytes }: Pick<ServiceLimits, 'bodyBytes' | 'ingestBytes'>) {
  const requests = new FairBudget(SERVICE_INGESTS_IN_FLIGHT);
  const sent = new FairBudget(ingestBytes);
  const unpacked = new FairBudget(ingestBytes, SERVICE_INGESTS_IN_FLIGHT);
  return {
    /** Admits a request until it is released. Throws an `ApiError` 429 when too much is under way, of its token or in all. */
    enter(request: FastifyRequest): Admitted {
      const holder = ingestHolder(request);
      const length = Number(request.headers['content-length'] ?? Number.NaN);
      const one = requests.tryTake(holder, 1);
      const body = one && sent.tryTake(holder, Number.isFinite(length) ? Math.min(length, bodyBytes) : bodyBytes);
      if (!body) {
        one?.release();
        throw tooBusy();
      }
      let content: Held | undefined;
      let isReleased = false;
      return {
        async unpack(bytes) {
          content?.release();
          content = await unpacked.take(holder, bytes);
          if (isReleased) content.release();
        },
        release() {
          isReleased = true;
          for (const held of [one, body, content]) held?.release();
        },
      };
    },
  };
}
