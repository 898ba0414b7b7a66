/** What of shaped events goes to one dataset: all others count there as filtered, and have their outcome where they go. */
import { type Shaped, UNSENT } from '../../core/shaping.ts';

const FILTERED = UNSENT.indexOf('filtered');

/** `isOwn`: the sink's own dataset, where events that are not sent at all are settled, too. */
export function partOf(shaped: Shaped, takes: (dataset: string | undefined) => boolean, isOwn: boolean): Shaped {
  const { routes, bytes } = shaped;
  if (!routes) return isOwn ? shaped : { ...shaped, ...nothingOf(shaped) };
  const pieces: Buffer[] = [];
  const events = shaped.sent.length;
  const ends = new Uint32Array(events);
  const sent = new Uint32Array(events);
  const unsent = new Uint8Array(events);
  let length = 0;
  for (let event = 0, n = 0; event < events; event++) {
    let count = 0;
    for (; routes.origins[n] === event; n++) {
      if (!takes(routes.datasets[n])) continue;
      const piece = bytes.subarray(n === 0 ? 0 : routes.ends[n - 1], routes.ends[n]);
      pieces.push(piece);
      length += piece.length;
      count += 1;
    }
    const fate = isOwn ? shaped.unsent[event]! : 0;
    ends[event] = length;
    sent[event] = count;
    unsent[event] = count === 0 && fate === 0 ? FILTERED : fate;
  }
  const own = isOwn ? {} : { withheld: [], errors: 0 };
  return { ...shaped, ...own, bytes: Buffer.concat(pieces), ends, sent, unsent };
}

function nothingOf({ sent }: Shaped): Pick<Shaped, 'bytes' | 'ends' | 'sent' | 'unsent' | 'withheld' | 'errors'> {
  const zeros = new Uint32Array(sent.length);
  return { bytes: Buffer.alloc(0), ends: zeros, sent: zeros, unsent: new Uint8Array(sent.length).fill(FILTERED), withheld: [], errors: 0 };
}
