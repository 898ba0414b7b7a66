/**
 * Runs one follower in a process of its own and records what it hands over: one `number<TAB>position` record a line, in one write, so that
 * delivery and position survive a kill -9 together. A loss or a repeat after a restart is then the position's fault alone.
 */
import { openSync, writeSync } from 'node:fs';
import { type Job, numberOf, readRecords, replaceFile, type Usage } from './follower.ts';
import { followers } from './followers.ts';

async function main(job: Job): Promise<void> {
  const follow = followers[job.follower];
  if (!follow) throw new Error(`no follower '${job.follower}'`);
  const saved = readRecords(job.out).map(({ position }) => position);
  const out = openSync(job.out, 'a');
  const rssAtStart = process.memoryUsage.rss();
  let rssPeak = rssAtStart;
  setInterval(() => {
    rssPeak = Math.max(rssPeak, process.memoryUsage.rss());
    const usage: Usage = { rssAtStart, rssPeak };
    replaceFile(`${job.out}.usage`, JSON.stringify(usage));
  }, 50);

  process.stdout.write('following\n');
  let taken = 0;
  await follow(job.file, saved, (line, position) => {
    writeSync(out, `${numberOf(line)}\t${position}\n`);
    taken++;
    const { slow } = job;
    if (!slow || taken % slow.lines !== 0) return undefined;
    return new Promise((resolve) => setTimeout(resolve, slow.pauseMs));
  });
}

await main(JSON.parse(process.argv[2] ?? '') as Job);
