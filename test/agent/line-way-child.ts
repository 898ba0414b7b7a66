/**
 * An agent in this process that ships one block at a time, under the inspector's precise coverage. Prints the files of src of which a function
 * ran in every round, and in any: `out`, from the write of a file's lines until the socket has them; `back`, from the answer until nothing more
 * comes of it.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { Session } from 'node:inspector';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startAgent } from '../../src/agent/start-agent.ts';
import { loadConfig } from '../../src/config/load/load.ts';
import { silentLog } from '../../src/core/log.ts';

const LINES = 100;
const WARM_ROUNDS = 3;
const ROUNDS = 20;
/** The settlement is saved within 40 ms. */
const SETTLED_MS = 60;
/** How often it is waited for: a busy machine takes longer. */
const MOST_TRIES = 500;

const root = pathToFileURL(join(import.meta.dirname, '../../src/')).href;
const session = new Session();
session.connect();
const ask = (
  method: string,
  params?: object,
): { result?: { url: string; functions: { ranges: { count: number }[] }[] }[] } => {
  let answer = {};
  // In the same process the answer is there when the call returns.
  session.post(method, params, (error, result) => {
    if (error) throw error;
    answer = result ?? {};
  });
  return answer;
};
/** The files whose functions ran since the last call. */
const ran = (): Set<string> => {
  const files = (ask('Profiler.takePreciseCoverage').result ?? []).filter(({ functions }) =>
    functions.some(({ ranges }) => ranges[0]!.count > 0),
  );
  return new Set(files.flatMap(({ url }) => (url.startsWith(root) ? [url.slice(root.length)] : [])));
};

let came = Promise.withResolvers<ServerResponse>();
const server = createServer((request, response) => {
  request.resume().on('end', () => came.resolve(response));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const folder = mkdtempSync(join(tmpdir(), 'tailrace-way-'));
const log = join(folder, 'app.log');
writeFileSync(log, '');
writeFileSync(
  join(folder, 'tailrace.yaml'),
  `data_dir: ${folder}/agent
telemetry: {listen: none}
sources: {app: {type: file, include: ['${log}'], start_at: beginning, scan_interval: 1h}}
sinks: {store: {type: ingest, url: 'http://127.0.0.1:${(server.address() as AddressInfo).port}', dataset: logs, token: t, batch: {max_events: ${LINES}, max_age: 1h}}}
`,
  { mode: 0o600 },
);
const agent = await startAgent({ config: loadConfig(join(folder, 'tailrace.yaml'), {}), once: false, log: silentLog });
ask('Profiler.enable');
ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const ways = { out: [] as Set<string>[], back: [] as Set<string>[] };
for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
  ran();
  appendFileSync(
    log,
    Array.from({ length: LINES }, (_, n) => `${new Date().toISOString()} round ${round} line ${n}\n`).join(''),
  );
  const response = await came.promise;
  const out = ran();
  came = Promise.withResolvers();
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ ingested: LINES, failed: 0, failures: [], processedBytes: 1, blocksCreated: 0, walLength: 1 }),
  );
  const back = new Set<string>();
  for (let tries = 1, held: number | undefined; held !== 0; tries++) {
    if (tries > MOST_TRIES) throw new Error(`a batch is not settled after ${MOST_TRIES * SETTLED_MS} ms`);
    await sleep(SETTLED_MS);
    for (const file of ran()) back.add(file);
    held = agent.observe().sources[0]?.held;
    // What looking ran is not the acknowledgement's way.
    ran();
  }
  if (round < WARM_ROUNDS) continue;
  ways.out.push(out);
  ways.back.push(back);
}
const filesOf = (rounds: readonly Set<string>[]) => {
  const any = [...new Set(rounds.flatMap((files) => [...files]))].sort();
  return { any, every: any.filter((file) => rounds.every((files) => files.has(file))) };
};
process.stdout.write(JSON.stringify({ out: filesOf(ways.out), back: filesOf(ways.back) }));
await agent.stop(AbortSignal.timeout(5000));
server.closeAllConnections();
server.close();
rmSync(folder, { recursive: true });
process.exit(0);
