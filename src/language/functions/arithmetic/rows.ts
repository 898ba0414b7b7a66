/** + - * / %, of numbers, datetimes and timespans. */
import type { ARITHMETIC } from './spec.ts';
import { added, subtracted } from '../../result-types.ts';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../core/time/time-text.ts';
import type { Evaluate, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2 } from '../../../shaping/rows/call/lift.ts';
import { DateTime, fits64, TimeSpan, wholeOf, wrap64 } from '../../../shaping/rows/values/value.ts';

/** Null where it cannot be held. */
export const timeOf = (ns: bigint): DateTime | null =>
  ns >= MIN_TIME_NS && ns <= MAX_TIME_NS ? new DateTime(ns) : null;
export const spanOf = (ns: bigint | null): TimeSpan | null => (ns === null ? null : new TimeSpan(ns));

/** Integers when both are, else floats. */
function numeric(
  call: RowCall,
  ints: (a: bigint, b: bigint) => bigint | null,
  reals: (a: number, b: number) => number | null,
): Evaluate {
  return lift2(call.number(0), call.number(1), (a, b) =>
    typeof a === 'bigint' && typeof b === 'bigint' ? ints(a, b) : reals(Number(a), Number(b)),
  );
}

function addOrSubtract(call: RowCall, sign: 1n | -1n): Evaluate {
  const [a, b] = call.types;
  const type = (sign === 1n ? added : subtracted)(call.types);
  if (type === 'datetime') {
    const [time, span] = a === 'datetime' ? [0, 1] : [1, 0];
    return lift2(call.time(time), call.span(span), (ns, by) => timeOf(ns + sign * by));
  }
  if (type === 'timespan' && b === 'datetime')
    return lift2(call.time(0), call.time(1), (x, y) => spanOf(wrap64(x - y)));
  if (type === 'timespan') return lift2(call.span(0), call.span(1), (x, y) => spanOf(wrap64(x + sign * y)));
  return sign === 1n
    ? numeric(
        call,
        (x, y) => wrap64(x + y),
        (x, y) => x + y,
      )
    : numeric(
        call,
        (x, y) => wrap64(x - y),
        (x, y) => x - y,
      );
}

function negative(call: RowCall): Evaluate {
  if (call.types[0] === 'timespan') return lift1(call.span(0), (ns) => spanOf(wrap64(-ns)));
  return lift1(call.number(0), (value) => (typeof value === 'bigint' ? wrap64(-value) : -value));
}

function multiply(call: RowCall): Evaluate {
  const [a, b] = call.types;
  if (a !== 'timespan' && b !== 'timespan')
    return numeric(
      call,
      (x, y) => wrap64(x * y),
      (x, y) => x * y,
    );
  const [span, factor] = a === 'timespan' ? [call.span(0), call.number(1)] : [call.span(1), call.number(0)];
  return lift2(span, factor, (ns, by) => spanOf(typeof by === 'bigint' ? wrap64(ns * by) : wholeOf(Number(ns) * by)));
}

/** Integers divide to an integer; a division of integers by zero is null. */
function divide(call: RowCall): Evaluate {
  const [a, b] = call.types;
  if (b === 'timespan') return lift2(call.span(0), call.span(1), (x, y) => (y === 0n ? null : Number(x) / Number(y)));
  if (a === 'timespan')
    return lift2(call.span(0), call.real(1), (x, y) => (y === 0 ? null : spanOf(wholeOf(Number(x) / y))));
  return numeric(
    call,
    (x, y) => (y === 0n ? null : fits64(x / y)),
    (x, y) => x / y,
  );
}

function remainder(call: RowCall): Evaluate {
  if (call.types.includes('timespan'))
    return lift2(call.span(0), call.span(1), (x, y) => (y === 0n ? null : spanOf(x % y)));
  return numeric(
    call,
    (x, y) => (y === 0n ? null : x % y),
    (x, y) => (y === 0 ? null : x % y),
  );
}

export const ARITHMETIC_ROWS: RowBuilders<typeof ARITHMETIC> = {
  '+': (call) => addOrSubtract(call, 1n),
  '-': (call) => (call.count === 1 ? negative(call) : addOrSubtract(call, -1n)),
  '*': multiply,
  '/': divide,
  '%': remainder,
};
