/** Times whose layout tells no offset. */
import { zoneNameIn } from '../../core/time/go-layout.ts';
import type { PathReport } from './path-report.ts';

export function checkZone(path: string, layout: string | undefined, at: PathReport): void {
  const name = layout === undefined ? undefined : zoneNameIn(layout);
  if (name === undefined) return;
  const message = `\`${name}\` in the layout gives a zone's name, which does not tell its offset`;
  const fix =
    'let the program write UTC or an offset (`-0700`), or name the zone in `time: {timezone: …}` of the source';
  at.warnAtValue(path, message, fix);
}
