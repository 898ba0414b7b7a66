/** `tailrace dead-letters` as a program, beside an agent and without one. */
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { lockFolder } from '../../src/state/lock.ts';
import {
  command,
  listDeadLetters,
  makeSite,
  range,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';

let site: Site;

/** Ten lines, of which the service refuses 3 and 7 until `respond` is set anew. */
beforeEach(async () => {
  site = await makeSite();
  site.service.respond = ({ events }) =>
    events.some((event) => /"seq":[37],/.test(event)) ? { status: 422 } : undefined;
  writeLines(site, 10);
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(1);
  expect((await listDeadLetters(site)).map(({ seq }) => seq)).toEqual([3, 7]);
});

const files = (): string[] => readdirSync(join(site.folder, 'agent', 'dead-letters'));

test.for([401, 403, 404])(
  'dead-letters replay without an agent ends with 1 and the remedy when the service answers %i',
  async (status) => {
    site.service.respond = () => ({ status, body: '{"message":"not you"}' });
    const replayed = await command(site, 'dead-letters', 'replay');
    expect(replayed.code).toBe(1);
    expect(replayed.stderr()).toContain(
      `HTTP ${status} not you; ${status === 404 ? 'create the dataset' : 'check that the token'}`,
    );
    expect(replayed.stderr()).toContain('the dead letters are kept');
    expect(await listDeadLetters(site)).toHaveLength(2);
    site.service.respond = () => undefined;
    expect((await command(site, 'dead-letters', 'replay')).code).toBe(0);
    expect(storedSeqs(site)).toEqual(range(10));
  },
);

test('dead-letters list names a damaged file, shows the others, and ends with 1', async () => {
  const [first] = files();
  writeFileSync(join(site.folder, 'agent', 'dead-letters', 'torn.ndjson'), '{"id":"torn","sink":');
  appendFileSync(join(site.folder, 'agent', 'dead-letters', first!), '{"half a line');
  const listed = await command(site, 'dead-letters', 'list', '--json');
  expect(listed.code).toBe(1);
  expect(listed.stdout().trim().split('\n')).toHaveLength(files().length - 2);
  expect(listed.stderr()).toContain('torn.ndjson" cannot be read');
  expect(listed.stderr()).toContain(`${first}" cannot be read`);
  expect(listed.stderr()).toContain('fix: repair the file by hand');
});

// Symptom: a refusal could clear the screen of who listed it, or write lines of its own. Cause: the service's words went to the terminal
// as they are. Fix: control characters are shown, not sent; --json keeps them, escaped.
test('dead-letters list shows the service’s words without obeying them', async () => {
  const message = 'no \u001b[2J\u0007 \u202egnol\n x';
  site.service.respond = () => ({ status: 422, body: JSON.stringify({ message }) });
  expect((await command(site, 'dead-letters', 'replay')).code).toBe(1);
  const listed = (await command(site, 'dead-letters', 'list')).stdout();
  expect(listed).toContain('HTTP 422 no \\u001b[2J\\u0007 \\u202egnol x\n');
  expect(listed.trimEnd().split('\n')).toHaveLength(2);
  const [letter] = (await command(site, 'dead-letters', 'list', '--json')).stdout().split('\n');
  expect(JSON.parse(letter!)).toMatchObject({ reason: 'HTTP 422 no \u001b[2J\u0007 \u202egnol x' });
});

test('dead-letters drop removes nothing without ids, unless --all is given', async () => {
  const refused = await command(site, 'dead-letters', 'drop');
  expect(refused.code).toBe(2);
  expect(refused.stderr()).toContain('--all');
  const [first, second] = await listDeadLetters(site);
  // Another command is at work on them (one that replays has no socket to ask).
  const lock = lockFolder(join(site.folder, 'agent'));
  const kept = await command(site, 'dead-letters', 'drop', first!.id);
  expect([kept.code, files().length, kept.stderr()]).toEqual([
    1,
    2,
    expect.stringContaining('is in use by another agent'),
  ]);
  lock.release();
  expect((await command(site, 'dead-letters', 'drop', first!.id)).code).toBe(0);
  expect((await listDeadLetters(site)).map(({ id }) => id)).toEqual([second!.id]);
  expect((await command(site, 'dead-letters', 'drop', '--all')).code).toBe(0);
  expect(files()).toEqual([]);
});
