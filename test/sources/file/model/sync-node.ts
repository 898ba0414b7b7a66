/** As `at-once.ts` says, for a process of its own: to be imported first. */
import crypto from 'node:crypto';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';
import { withCallbacks, withGunzip, withPromises } from './at-once.ts';

Object.assign(fs, withCallbacks({}));
Object.assign(promises, withPromises({}));
// Not to be assigned to.
for (const [name, value] of Object.entries(withGunzip({})))
  Object.defineProperty(zlib, name, { value, enumerable: true });
// Streams get their ids in the same order each time.
let ids = 0;
Object.assign(crypto, {
  randomBytes: (bytes: number) => Buffer.from((ids += 1).toString(16).padStart(bytes * 2, '0'), 'hex'),
});
syncBuiltinESMExports();

// Work that yields after some milliseconds yields at the same calls each time, and files and streams are as old as their order says.
let [elapsed, now] = [0, Date.now()];
performance.now = () => (elapsed += 0.001);
Date.now = () => (now += 1);
