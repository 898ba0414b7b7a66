/** A sink whose address or token a reload replaces in use; has its type's forms. A request in flight ends on the old one. */
import type { BodyForms, Sink } from '../../core/sink.ts';
import { MAX_FORMER_SECRETS } from '../limits.ts';

export interface SwappableSink extends Sink {
  /** Later requests use `next`; requests that wait for another token retry at once. */
  swap(next: Sink): void;
}

interface SinkUse {
  readonly sink: Sink;
  requests: number;
  isOld: boolean;
}

export function createSwappableSink(first: Sink, forms?: Pick<BodyForms<object>, 'encoderOf'>): SwappableSink {
  let current: SinkUse = { sink: first, requests: 0, isOld: false };
  let formerSecrets: readonly string[] = [];
  let swapped = Promise.withResolvers<void>();

  async function closeUnused(use: SinkUse): Promise<void> {
    if (use.isOld && use.requests === 0) await use.sink.close();
  }

  return {
    id: first.id,
    get address() {
      return current.sink.address;
    },
    ...(forms ? { encoderOf: forms.encoderOf } : {}),
    async send(request, signal) {
      const use = current;
      use.requests += 1;
      try {
        return await use.sink.send(request, signal);
      } finally {
        use.requests -= 1;
        void closeUnused(use);
      }
    },
    async tokenChange(signal) {
      const changed = current.sink.tokenChange?.(signal) ?? new Promise<void>(() => {});
      await Promise.race([changed, swapped.promise]);
    },
    secrets: () => [...formerSecrets, ...(current.sink.secrets?.() ?? [])],
    missing: () => current.sink.missing?.(),
    swap(next) {
      const old = current;
      old.isOld = true;
      // What the service answered about them may still be shown.
      formerSecrets = [...(old.sink.secrets?.() ?? []), ...formerSecrets].slice(0, MAX_FORMER_SECRETS);
      current = { sink: next, requests: 0, isOld: false };
      void closeUnused(old);
      swapped.resolve();
      swapped = Promise.withResolvers();
    },
    close: () => current.sink.close(),
  };
}
