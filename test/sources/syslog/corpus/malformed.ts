/** No priority, or none that is one, and no header of RFC 3164: kept whole, with the reason. */
import { broken, type Sample } from './sample.ts';
import { words } from '../../../support/words.ts';

const REASON = 'no <PRI> from 0 to 191 at the beginning';

export const malformed: Sample[] = [
  ...[
    ...words`hello <192>x <999>x <>x <-1>x <+1>x <0013>x <1234>x <13 < <13x <a>x 13>x (13)x {"a":1} Ωμέγα <é>x`,
    '<1 3>x',
    '< 13>x',
    ' <13>x',
    '\u0001\u0002\u0003',
    'GET / HTTP/1.1',
    '\u0016\u0003\u0001\u0002',
  ].map((text) => broken(text, REASON)),
  broken(Buffer.from('\xff\xfe<\x001\x003\x00>', 'latin1'), REASON),
];
