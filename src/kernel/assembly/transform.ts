/**
 * Runs pipelines over the bytes of events (../../shaping/bytes/byte-program.ts lays out their programs): filters each event of a block and writes
 * its changes. The call stops at an event that cannot be decided exactly here; that one is shaped by its values.
 * Owns no memory; events are valid JSON objects, each ending in a newline.
 */
import { setUpCanonical } from './transform/canonical';
import { evaluate, TRUE, UNDECIDED } from './transform/conditions';
import { useEdits, writeEdited } from './transform/edits';
import { close, scanMembers, setUpMembers, useSlots } from './transform/members';
import { behindEvent, findWanted, useWanted } from './transform/wanted';
import { copy } from './transform/without';

const STOP_END: u32 = 0;
const STOP_EVENT: u32 = 1;
const STOP_FULL: u32 = 2;

let results: usize = 0;
let condition: usize = 0;
/** Events that meet the condition go on to their values. */
let isFilter: bool = false;
/** No event is changed, and the names that conditions read begin with one of these two bytes; 0: it is otherwise. */
let firsts: u32 = 0;
/** The most bytes that an event may grow by. */
let growth: usize = 0;

export function setUp(resultsAt: usize, membersAt: usize, foundAt: usize, keysAt: usize, keysBytes: usize): void {
  results = resultsAt;
  setUpMembers(membersAt, foundAt);
  setUpCanonical(keysAt, keysBytes);
}

/** Takes the program at `at` into use. */
export function useProgram(at: usize): void {
  condition = <usize>load<u32>(at);
  isFilter = load<u32>(at, 4) != 0;
  growth = <usize>load<u32>(at, 8);
  const slots = <usize>load<u32>(at, 12);
  const count = load<u32>(at, 16);
  firsts = load<u32>(at, 36);
  useSlots(slots, count, load<u64>(at, 40));
  useWanted(slots, count);
  useEdits(slots, count, load<u32>(at, 20) != 0, <usize>load<u32>(at, 24), <usize>load<u32>(at, 28), load<u32>(at, 32));
}

/**
 * Shapes the events in `[p, end)` to `[out, limit)`, which has 64 bytes of slack. `sent` gets two u32 for each event that is written: its
 * number from `first` on, and its end, relative to `out`; `most` bounds them. Results, u32 each: addresses reached in the input and the
 * output, number of the next event, how many were written, why it stopped.
 */
export function run(p: usize, end: usize, out: usize, limit: usize, sent: usize, most: u32, first: u32): void {
  const base = out;
  let event = first;
  let written: u32 = 0;
  let stop = STOP_END;
  while (p < end) {
    if (written == most) {
      stop = STOP_FULL;
      break;
    }
    const isWhole = firsts != 0 && findWanted(p, <u8>firsts, <u8>(firsts >> 8));
    if (!isWhole && !scanMembers(p)) {
      stop = STOP_EVENT;
      break;
    }
    const next = isWhole ? behindEvent : close + 2;
    const met = condition ? evaluate(condition) : TRUE;
    if (met == UNDECIDED || load<u8>(next - 1) != 0x0a || (met == TRUE && isFilter)) {
      stop = STOP_EVENT;
      break;
    }
    if (met == TRUE) {
      if (out + (next - p) + growth > limit) {
        stop = STOP_FULL;
        break;
      }
      const o = firsts ? copy(out, p, next) : writeEdited(out, p);
      if (o == 0) {
        stop = STOP_EVENT;
        break;
      }
      out = o;
      store<u32>(sent, event);
      store<u32>(sent, <u32>(out - base), 4);
      sent += 8;
      written++;
    }
    p = next;
    event++;
  }
  store<u32>(results, <u32>p);
  store<u32>(results, <u32>out, 4);
  store<u32>(results, event, 8);
  store<u32>(results, written, 12);
  store<u32>(results, stop, 16);
}
