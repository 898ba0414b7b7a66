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

/** A run of events of one fate. */
const RUN_BYTES: usize = 12;

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
 * Shapes the events in `[p, end)` to `[out, limit)`, which has 64 bytes of slack. Tables get for each event: `ends` where its own bytes end,
 * relative to `out`, and `sent` whether it is written, u32 each; `unsent` its place in DISPOSITIONS, a byte; and `runs` for each run of
 * events of one fate its length and these two, u32 each. `most` bounds the events. Results, u32 each: addresses reached in the input and the
 * output, how many events were handled and how many written, why it stopped, how many runs there are.
 */
export function run(
  p: usize,
  end: usize,
  out: usize,
  limit: usize,
  ends: usize,
  sent: usize,
  unsent: usize,
  runs: usize,
  most: u32,
): void {
  const base = out;
  let event: u32 = 0;
  let written: u32 = 0;
  let stop = STOP_END;
  let runCount: u32 = 0;
  let runFrom: u32 = 0;
  let fate = UNDECIDED;
  while (p < end) {
    if (event == most) {
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
      written++;
    }
    const isSent: u32 = met == TRUE ? 1 : 0;
    if (isSent != fate) {
      if (event) {
        store<u32>(runs, event - runFrom);
        runs += RUN_BYTES;
      }
      fate = isSent;
      runFrom = event;
      runCount++;
      store<u32>(runs, isSent, 4);
      store<u32>(runs, 1 - isSent, 8);
    }
    store<u32>(ends + ((<usize>event) << 2), <u32>(out - base));
    store<u32>(sent + ((<usize>event) << 2), isSent);
    store<u8>(unsent + <usize>event, <u8>(1 - isSent));
    p = next;
    event++;
  }
  if (event) store<u32>(runs, event - runFrom);
  store<u32>(results, <u32>p);
  store<u32>(results, <u32>out, 4);
  store<u32>(results, event, 8);
  store<u32>(results, written, 12);
  store<u32>(results, stop, 16);
  store<u32>(results, runCount, 20);
}
