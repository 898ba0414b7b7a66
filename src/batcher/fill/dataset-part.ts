/** What of shaped events goes to one dataset: all others count there as filtered, and have their outcome where they go. */
import type { Shaped, Unsent } from '../../core/shaping.ts';

/** `isOwn`: the sink's own dataset, where events that are not sent at all are settled, too. */
export function partOf(shaped: Shaped, takes: (dataset: string | undefined) => boolean, isOwn: boolean): Shaped {
  const { routes, bytes } = shaped;
  if (!routes) return isOwn ? shaped : { ...shaped, ...nothingOf(shaped) };
  const pieces: Buffer[] = [];
  const ends: number[] = [];
  const sent: number[] = [];
  const unsent: Unsent[] = [];
  let length = 0;
  for (let event = 0, n = 0; event < shaped.sent.length; event++) {
    let count = 0;
    for (; routes.origins[n] === event; n++) {
      if (!takes(routes.datasets[n])) continue;
      const piece = bytes.subarray(n === 0 ? 0 : routes.ends[n - 1], routes.ends[n]);
      pieces.push(piece);
      length += piece.length;
      count += 1;
    }
    const fate = isOwn ? shaped.unsent[event]! : 'none';
    ends.push(length);
    sent.push(count);
    unsent.push(count === 0 && fate === 'none' ? 'filtered' : fate);
  }
  const own = isOwn ? {} : { withheld: [], errors: 0 };
  return { ...shaped, ...own, bytes: Buffer.concat(pieces), ends, sent, unsent };
}

function nothingOf({ sent }: Shaped): Pick<Shaped, 'bytes' | 'ends' | 'sent' | 'unsent' | 'withheld' | 'errors'> {
  const zeros = sent.map(() => 0);
  return { bytes: Buffer.alloc(0), ends: zeros, sent: zeros, unsent: sent.map((): Unsent => 'filtered'), withheld: [], errors: 0 };
}
