/** Sets where the times' memory is, and its zone and time of reading. */
import { setUpTimeKeys } from './time-keys';
import { setUpForms } from './time/forms';
import { forgetTimes, setUpTime } from './time/time';
import { setUpZone, useOffsets } from './time/zone';
import { setUpNames } from './time/zone-names';

export function setUpTimes(timeAt: usize, zoneAt: usize, formsAt: usize, abbreviationsAt: usize, zonesAt: usize): void {
  setUpTime(timeAt);
  setUpTimeKeys(timeAt + 128);
  setUpZone(zoneAt);
  setUpForms(formsAt);
  setUpNames(abbreviationsAt, zonesAt);
}

/** To be called with each read's time, and where another zone's table of so many offsets is laid out. */
export function setRead(readAtMs: f64, offsets: u32): void {
  useOffsets(offsets);
  forgetTimes(<i64>readAtMs);
}
