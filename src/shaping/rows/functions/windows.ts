/** Functions that look at other rows: a transform sees one event alone. */
import type { WINDOWS } from '../../../language/functions/windows.ts';
import type { Build, Builders } from '../call/call.ts';

const refuse =
  (name: string): Build =>
  (call) => {
    throw call.fail(0, `${name} works in queries only, which see many events`);
  };

export const WINDOW_ROWS: Builders<typeof WINDOWS> = {
  row_number: refuse('row_number'),
  prev: refuse('prev'),
  next: refuse('next'),
  row_cumsum: refuse('row_cumsum'),
};
