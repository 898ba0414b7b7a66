/** Root's commands on the data folder of another user, as a person types them beside an agent that systemd runs under a user of its own. */
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { BINARY, type Program, startCommand, startProgram } from '../support/program.ts';
import {
  addressOf,
  command,
  makeSite,
  QUICK,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65_534;
const setpriv = findProgram('setpriv');
/** A checkout below a folder that only its owner may enter is of no use to another user. */
const canBeNobody = isRoot && setpriv !== undefined && canEnter(BINARY);

let site: Site;
let data: string;

beforeEach(async () => {
  site = await makeSite();
  chmodSync(site.folder, 0o755);
  data = join(site.folder, 'agent');
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) chownSync(data, NOBODY, NOBODY);
});

/** What in the data folder its owner could not use, or others could. */
function strangers(folder = data): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const { uid, gid, mode } = lstatSync(join(folder, name));
    return uid !== NOBODY || gid !== NOBODY || (mode & 0o077) !== 0;
  });
}

function canEnter(path: string): boolean {
  const parts = path.split('/').slice(1);
  return parts.every((_, depth) => (statSync(`/${parts.slice(0, depth + 1).join('/')}`).mode & 0o001) !== 0);
}

async function nobody(...args: string[]): Promise<Program & { readonly code: number | NodeJS.Signals }> {
  const config = join(site.folder, 'tailrace.yaml');
  chmodSync(config, 0o644);
  const drop = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--inh-caps=-all', BINARY];
  const program = startCommand(setpriv!, [...drop, ...args, '--config', config]);
  return { ...program, code: await program.exited };
}

/** Ten lines, of which the service refuses 3 and 7. */
async function refuseTwo(): Promise<void> {
  site.service.respond = ({ events }) =>
    events.some((event) => /"seq":[37]\b/.test(event)) ? { status: 422 } : undefined;
  writeLines(site, 10);
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(1);
}

// Symptom: after `dead-letters replay` by root, the agent's own user saw "0 dead letters", and the agent could not replay them.
// Cause: root's files were root's. Fix: what root makes in a data folder gets the folder's owner.
test.skipIf(!isRoot)('root’s run, replay, explain and drop leave a data folder to its owner (needs root)', async () => {
  await refuseTwo();
  expect(readdirSync(data)).toContain('dead-letters');
  expect(strangers()).toEqual([]);
  expect((await command(site, 'dead-letters', 'replay')).code).toBe(1);
  expect(readdirSync(join(data, 'dead-letters')).length).toBeGreaterThan(0);
  expect(strangers()).toEqual([]);
  expect((await command(site, 'explain', site.log)).code).toBe(0);
  expect((await command(site, 'dead-letters', 'drop', '--all')).code).toBe(0);
  expect(strangers()).toEqual([]);
});

test.skipIf(!isRoot)(
  'root’s disk buffer, its broken files and the control socket belong to the folder’s owner (needs root)',
  async () => {
    site.service.respond = () => ({ status: 503 });
    const agent = startShipping(site, {
      sources: { pipe: '{type: stdin}' },
      stdin: 'pipe',
      top: 'shutdown_timeout: 1s',
      sink: `batch: {max_age: 20ms}, ${QUICK}`,
    });
    await addressOf(agent);
    agent.process.stdin!.write('{"seq":1}\n');
    const spool = join(data, 'spool', 'store');
    const batches = (): string[] => safeList(spool).filter((name) => name.endsWith('.batch'));
    await until('a batch on disk', () => batches().length === 1);
    expect(readdirSync(data)).toContain('control.sock');
    expect(strangers().filter((name) => !name.endsWith('.tmp'))).toEqual([]);
    await agent.end('SIGTERM');
    truncateSync(join(spool, batches()[0]!), 10);
    expect((await command(site, 'buffer', 'repair')).code).toBe(0);
    expect(readdirSync(join(spool, 'broken'))).toHaveLength(1);
    expect(strangers()).toEqual([]);
  },
);

test.skipIf(!canBeNobody)(
  'the agent’s user lists and replays what root’s replay left (needs root, util-linux and a checkout for all)',
  async () => {
    await refuseTwo();
    expect((await command(site, 'dead-letters', 'replay')).code).toBe(1);
    const listed = await nobody('dead-letters', 'list', '--json');
    expect([listed.code, listed.stdout().trim().split('\n').length, listed.stderr()]).toEqual([0, 2, '']);
    site.service.respond = () => undefined;
    expect((await nobody('dead-letters', 'replay')).code).toBe(0);
    expect(storedSeqs(site)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  },
);

test.skipIf(!canBeNobody)(
  'dead-letters list says how many files it could not read (needs root, util-linux and a checkout for all)',
  async () => {
    await refuseTwo();
    const folder = join(data, 'dead-letters');
    const [first] = readdirSync(folder);
    chownSync(join(folder, first!), 0, 0);
    chmodSync(join(folder, first!), 0o600);
    const listed = await nobody('dead-letters', 'list');
    expect(listed.code).toBe(1);
    expect(listed.stderr()).toContain('1 file of dead letters could not be read');
    expect(listed.stderr()).toContain(`as root: chown --reference=${folder} ${join(folder, first!)}`);
  },
);

test.skipIf(!canBeNobody)(
  'a user who is neither the owner nor root gets the command to type (needs root, util-linux and a checkout for all)',
  async () => {
    chownSync(data, 0, 0);
    site.service.respond = () => undefined;
    writeLines(site, 1);
    expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
    const refused = await nobody('dead-letters', 'list');
    expect([refused.code, refused.stderr()]).toEqual([
      1,
      expect.stringContaining('fix: run it as the owner of data_dir: sudo tailrace dead-letters list'),
    ]);
  },
);

test.skipIf(!isRoot).for([
  ['serve', '--listen', '127.0.0.1:0'],
  ['migrate', '--to', 'clickhouse://u@127.0.0.1:1/d'],
  ['tokens', 'list'],
])('root is refused the service’s folder of another user, with the line to type (needs root): %s', async (args) => {
  const program = startProgram([...args, '--data', data]);
  expect(await program.exited).toBe(1);
  const name = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.split(':')[2] === String(NOBODY))!
    .split(':')[0];
  expect(program.stderr()).toContain(
    `fix: run the command as that user: runuser -u ${name} -- tailrace ${args.join(' ')} --data ${data}\n`,
  );
  expect(readdirSync(data)).toEqual([]);
});

function safeList(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
