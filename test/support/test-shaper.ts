/** A shaper for tests of the batcher's room: a rule says what becomes of each event. */
import {
  type EventsIn,
  type Shaped,
  type Shaper,
  DISPOSITIONS,
  type Disposition,
  type Withheld,
} from '../../src/core/shaping.ts';

export interface Shaping {
  readonly out: readonly string[];
  readonly disposition?: Disposition;
  /** Siblings that must not be sent. */
  readonly withheld?: readonly string[];
}

export interface TestShaper extends Shaper {
  /** What it was asked to shape, in order: `stream offset event`. */
  readonly seen: string[];
}

export function testShaper(
  rule: (event: string, about: { readonly offset: number; readonly readAtMs: number }) => Shaping,
  { isDeterministic = true, digest = 'test', isAsync = false } = {},
): TestShaper {
  const seen: string[] = [];
  const shape = (from: EventsIn): Shaped => {
    const { bytes, count, stream, readAtMs } = from;
    const events = bytes.toString().split('\n').slice(0, -1);
    if (events.length !== count) throw new Error(`${count} events were told, ${events.length} came`);
    const out: Buffer[] = [];
    const withheld: Withheld[] = [];
    const [ends, sent, dispositions] = [new Uint32Array(count), new Uint32Array(count), new Uint8Array(count)];
    let end = 0;
    for (const [n, event] of events.entries()) {
      const offset = from.offsetOf(n);
      seen.push(`${stream} ${offset} ${event}`);
      const shaping = rule(event, { offset, readAtMs });
      out.push(Buffer.from(shaping.out.map((each) => `${each}\n`).join('')));
      ends[n] = end += out.at(-1)!.length;
      sent[n] = shaping.out.length;
      dispositions[n] = DISPOSITIONS.indexOf(
        shaping.disposition ?? (shaping.withheld ? 'dead_lettered' : shaping.out.length === 0 ? 'filtered' : 'sent'),
      );
      shaping.withheld?.forEach((text, sub) => withheld.push({ event: n, sub, reason: 'test', text }));
    }
    return {
      bytes: Buffer.concat(out),
      ends,
      sent,
      dispositions,
      withheld,
      errors: withheld.length,
      isRepeatable: true,
    };
  };
  return {
    digest,
    hidesFields: false,
    isDeterministic,
    seen,
    async shape(events) {
      const shaped = shape(events);
      // What a script does: others have overwritten the scratch memory by the time it answers.
      if (isAsync) events.bytes.fill(0);
      if (isAsync) await Promise.resolve();
      return shaped;
    },
  };
}

/** Each event as `{"n":N,"as":WORD}` says: kept, dropped, filtered, held back, or made several of. */
export function shapeAsTold(event: string): Shaping {
  const [, as = 'kept', count = ''] = /"as":"(\w+?)(\d*)"/.exec(event) ?? [];
  if (as === 'filtered') return { out: [] };
  if (as === 'dropped') return { out: [], disposition: 'dropped' };
  if (as === 'withheld') return { out: [], withheld: [event] };
  if (as === 'several')
    return { out: Array.from({ length: Number(count) }, (_, sub) => event.replace('{', `{"sub":${sub},`)) };
  if (as === 'mixed') return { out: [event], withheld: [`${event.slice(0, -1)},"part":2}`] };
  if (as === 'large') return { out: [event.replace('}', `,"pad":"${'x'.repeat(Number(count))}"}`)] };
  return { out: [event] };
}
