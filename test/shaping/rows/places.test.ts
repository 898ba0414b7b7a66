import { expect, test } from 'vitest';
import { placesOf } from '../../../src/shaping/rows/values/places.ts';
import { seeded } from '../bytes/agreement.ts';

test('placesOf gives every place, of short texts and of long ones', () => {
  const random = seeded(5);
  const drawn = (length: number): string => Array.from({ length }, () => 'ab'[random(2)]).join('');
  for (let n = 0; n < 3000; n++) {
    const period = drawn(1 + random(4));
    const [text, wanted] = [
      period.repeat(40) + drawn(random(9)),
      period.repeat(random(20)) + period.slice(0, random(4)),
    ];
    const places = Array.from({ length: text.length + 1 }, (_, at) => at).filter((at) => text.startsWith(wanted, at));
    expect([...placesOf(text, wanted)], `${wanted} in ${text}`).toEqual(places);
  }
});
