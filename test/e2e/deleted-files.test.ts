/** Files that are deleted or emptied while the service is away: their read and unread lines are sent all the same, or counted as lost to the byte. */
import { expect, test } from 'vitest';
import { makeSite, messagesOf, seqOf, sumOf } from '../support/shipping.ts';
import { steps } from '../sources/file/steps.ts';
import { AgentRig, agentScenarios, bytesOf, lines } from './scenario.ts';

// Symptom: lines that were read and not delivered when their file was truncated were lost with a kill. Cause: they count on
// being read again, and are in no file any more. Fix: they go to the disk buffer as those of a deleted file do.
agentScenarios(
  {
    'lines read of a file that is emptied survive a kill': steps`
      away; append app.log ${lines(0, 1000)}; start; until events_held = 1000; cut app.log; spooled = 1000
      kill; back; append app.log ${lines(1000, 1100)}; start; stores ${lines(0, 1100)}`,
    'lines read of a file that is emptied after a shorter copy survive a kill': steps`
      away; append app.log ${lines(0, 500)}; start; until events_held = 500; cp app.log ../copy; append app.log ${lines(500, 1000)}
      until events_held = 1000; cp ../copy app.log.1; cut app.log; spooled = 1000
      kill; back; append app.log ${lines(1000, 1100)}; start; stores ${lines(0, 1100)}`,
  },
  { glob: 'app.log*', sink: 'batch: {max_age: 50ms}' },
);

const large = (from: number, to: number): string[] => lines(from, to).map((line) => `${line} ${'x'.repeat(1000)}`);
const destroyed = large(10_000, 10_500);
agentScenarios(
  {
    // With the memory full nothing more is read.
    'bytes that a truncation destroyed are counted exactly where a scan saw them, and nothing else is missing': steps`
      away; start; write app.log ${large(0, 10_000)}; until backpressure_seconds_total > 0; cp app.log app.log.1
      append app.log ${destroyed}; until source_lag_bytes+source_read_bytes_total = ${bytesOf(large(0, 10_000)) + bytesOf(destroyed)}
      cut app.log; append app.log ${lines(20_000, 20_010)}; until source_lost_bytes_total > 0; back
      stores ${[...large(0, 10_000), ...lines(20_000, 20_010)]}; is source_lost_bytes_total = ${bytesOf(destroyed)}`,
  },
  { glob: 'app.log*', sink: 'batch: {max_age: 50ms}, buffer: {max_memory: 2MiB}' },
);

const padded = (from: number, to: number): string[] => lines(from, to).map((line) => `${line} ${'.'.repeat(80)}`);
agentScenarios(
  {
    'a file that is deleted while the service is away goes into the disk buffer whole, is let go, and survives a kill': steps`
      away; write keep.log ${padded(100_000, 101_000)}; write gone.log ${padded(0, 100_000)}; start
      until backpressure_seconds_total > 0.2; is source_lag_bytes > 1000000; rm gone.log; until events_held > 99999; let-go; balanced
      is source_lost_bytes_total = 0
      // Of a file that is still there: at most what shares a batch with the other.
      append keep.log ${padded(101_000, 102_000)}; kill; spooled > 0; back; start; stores ${padded(0, 102_000)}; spooled = 0
      is source_lost_bytes_total = 0; stop; said 0 are gone`,
    'batches in flight keep their keys over a delete, a kill and a restart': steps`
      away; write a.log ${padded(0, 500)}; start; sends seq=499; rm a.log; spooled = 500; kill; back; start; stores ${padded(0, 500)}
      old-keys`,
  },
  { sink: 'batch: {max_age: 100ms}, concurrency: 2' },
);
agentScenarios(
  {
    'a stop keeps unread lines of deleted files': steps`
      away; write a.log ${padded(0, 60_000)}; start; until backpressure_seconds_total > 0.2; rm a.log; says "file was deleted"; stop; back
      start; stores ${padded(0, 60_000)}`,
  },
  { sink: 'batch: {max_age: 100ms}, buffer: {disk: {max_bytes: 1MiB}}' },
);

test('a deleted file that fits neither disk buffer nor budget is given up, counted to the byte, and logged', async () => {
  const sink = 'batch: {max_age: 100ms}, buffer: {disk: {max_bytes: 1MiB}}, compression: none';
  const rig = new AgentRig(await makeSite(), { sink, source: 'max_deleted_bytes: 1MiB' });
  const all = padded(0, 300_000);
  await rig.play(steps`
    away; write a.log ${all}; start; until backpressure_seconds_total > 0.2; rm a.log; says "deleted file is given up before it was read"
    let-go; is source_lost_bytes_total > 1000000; balanced
  `);
  const lost = await sumOf(rig.agent, 'tailrace_source_lost_bytes_total');
  await rig.play('back; until events_held = 0');
  const stored = messagesOf(rig.site).sort((a, b) => seqOf(a) - seqOf(b));
  expect(stored).toEqual(all.slice(0, stored.length));
  expect(lost).toBe(bytesOf(all.slice(stored.length)));
  await rig.play('stop');
});
