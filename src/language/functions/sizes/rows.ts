/** Sizes in bytes, of one row. */
import { trimEndOf } from '../../../core/text/trim-end.ts';
import type { Evaluate, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1 } from '../../../shaping/rows/call/lift.ts';
import { numberOf } from '../../plan/literals.ts';
import { wholeOf } from '../../../shaping/rows/values/value.ts';
import { MOST_SIZE, namedUnits, SIZE_PATTERN, stepOf, UNITS, unitOf, type SIZES } from './spec.ts';

function format(call: RowCall): Evaluate {
  const digits = numberOf(call, 1, 'a number of digits', 0, 15, 0);
  const step = stepOf(call, 3);
  const fixed = unitOf(call, 2, step);
  return lift1(call.real(0), (value) => {
    const power =
      fixed?.power ??
      Math.max(
        UNITS.findLastIndex((_, n) => Math.abs(value) >= step ** n),
        0,
      );
    const size = value / (fixed?.step ?? step) ** power;
    if (!(Math.abs(size) < MOST_SIZE)) return null;
    const text = size.toFixed(digits);
    return `${digits === 0 ? text : trimEndOf(trimEndOf(text, '0'), '.')} ${fixed?.name ?? UNITS[power]}`;
  });
}

const SIZE = new RegExp(SIZE_PATTERN);

function parse(call: RowCall): Evaluate {
  const units = namedUnits(stepOf(call, 1));
  return lift1(call.string(0), (text) => {
    const [, number, name = ''] = SIZE.exec(text) ?? [];
    const [step, power] = units.get(name.toLowerCase()) ?? [0, 1];
    return number === undefined ? 0n : (wholeOf(Number(number) * step ** power) ?? 0n);
  });
}

export const SIZES_ROWS: RowBuilders<typeof SIZES> = { format_bytes: format, parse_bytes: parse };
