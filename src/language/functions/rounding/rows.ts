/** Rounding to bins, of one row. */
import { modulo } from '../../../core/time/calendar.ts';
import type { Evaluate, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { DateTime, TimeSpan, wholeOf, wrap64 } from '../../../shaping/rows/values/value.ts';
import { spanOf } from '../arithmetic/rows.ts';
import type { ROUNDING } from './spec.ts';

function bin(call: RowCall): Evaluate {
  const { value: size, type } = call.constant(1);
  if (size === null || !(Number(size) > 0)) throw call.fail(1, 'the size of a bin has to be more than zero');
  const value = call.value(0);
  const ns = typeof size === 'bigint' ? size : 0n;
  return (scope) => {
    const found = value(scope);
    if (found instanceof DateTime) return ns === 0n ? null : new DateTime(wrap64(found.ns - modulo(found.ns, ns)));
    if (type === 'timespan') {
      const span =
        found instanceof TimeSpan
          ? found.ns
          : typeof found === 'bigint'
            ? found
            : typeof found === 'number'
              ? wholeOf(found)
              : null;
      return span === null ? null : spanOf(wrap64(span - modulo(span, ns)));
    }
    if (typeof found === 'bigint' && typeof size === 'bigint') return wrap64(found - modulo(found, size));
    return typeof found === 'bigint' || typeof found === 'number'
      ? Math.floor(Number(found) / Number(size)) * Number(size)
      : null;
  };
}

export const ROUNDING_ROWS: RowBuilders<Omit<typeof ROUNDING, 'bin_auto'>> = { bin };
