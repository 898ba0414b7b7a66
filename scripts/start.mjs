// `npm start`: sets up what is missing, then runs the demo and hands signals on to it. One process, so that a signal sent
// to npm reaches the demo, which drains.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import './setup.mjs';

const root = join(import.meta.dirname, '..');
const child = spawn(join(root, 'bin', 'tailrace'), ['demo', ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
