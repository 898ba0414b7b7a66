/**
 * An application whose log is rotated fast: appends numbered lines at a steady rate, and renames the file to `.1` over and
 * over, so that two files are there and each lives for two rotations. Prints how many lines it wrote.
 *
 * Arguments: file, lines a second, milliseconds between rotations, seconds.
 */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';

const TICK_MS = 5;
const TEXT = 'a line of ordinary length, as an application writes it to its log, number 4711';

const [path, rate, rotateEveryMs, seconds] = process.argv
  .slice(2)
  .map((each, n) => (n === 0 ? each : Number(each))) as [string, number, number, number];
const startedMs = performance.now();
let fd = openSync(path, 'a');
let written = 0;
let rotatedMs = startedMs;

function rotate(): void {
  closeSync(fd);
  renameSync(path, `${path}.1`);
  fd = openSync(path, 'a');
}

const timer = setInterval(() => {
  const nowMs = performance.now();
  const elapsedMs = Math.min(nowMs - startedMs, seconds * 1000);
  let lines = '';
  for (const due = Math.floor((elapsedMs * rate) / 1000); written < due; written += 1)
    lines += `n=${written} ${TEXT}\n`;
  writeSync(fd, lines);
  if (elapsedMs >= seconds * 1000) {
    clearInterval(timer);
    console.log(written);
  } else if (nowMs - rotatedMs >= rotateEveryMs) {
    // Late rotations are not made up for: no file lives shorter than it should.
    rotatedMs = nowMs;
    rotate();
  }
}, TICK_MS);
