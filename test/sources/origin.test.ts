/** `origin`: where events say that they are from, for lines of text and of JSON. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { Shapes } from '../../src/batcher/fill/batcher.ts';
import { loadShaping, shapeOf } from '../../src/sources/framing/line-shaping.ts';
import { configOf, configWith, sourceOf } from '../config/reading.ts';
import { make } from './made.ts';

const PLACE = { host: 'web-1', file: '/var/log/app.log' };
const TIME = '"_time":"2026-11-22T08:00:00Z"';
const TEXT = 'started';
const JSON_LINE = `{${TIME},"a":1}`;
const OWN = `{${TIME},"host":"mine","a":1}`;

/** The event of a text line without its time, and the bytes of the others. */
async function madeBy(keys: string, agent = ''): Promise<readonly [Record<string, unknown>, string, string]> {
  const { events, lines } = await make(keys, `${TEXT}\n${JSON_LINE}\n${OWN}`, { ...PLACE, agent });
  const { _time, ...text } = events[0]!;
  return [text, lines[1]!, lines[2]!];
}

const both = `"host":"web-1","file":"/var/log/app.log"}`;

test.each([
  ['by default text has both, JSON keeps its bytes', '', { message: TEXT, ...PLACE }, JSON_LINE, OWN],
  [
    'named, both are added to text and JSON',
    'origin: [host, file]',
    { message: TEXT, ...PLACE },
    `{${TIME},"a":1,${both}`,
    `{${TIME},"host":"mine","a":1,"file":"/var/log/app.log"}`,
  ],
  ['host alone', 'origin: [host]', { message: TEXT, host: 'web-1' }, `{${TIME},"a":1,"host":"web-1"}`, OWN],
  [
    'renamed',
    'origin: {host: host.name}',
    { message: TEXT, 'host.name': 'web-1' },
    `{${TIME},"a":1,"host.name":"web-1"}`,
    `{${TIME},"host":"mine","a":1,"host.name":"web-1"}`,
  ],
  ['none', 'origin: []', { message: TEXT }, JSON_LINE, OWN],
  [
    'fields win over it',
    'origin: [host]\nfields: {host: fixed}',
    { message: TEXT, host: 'fixed' },
    `{${TIME},"a":1,"host":"fixed"}`,
    OWN,
  ],
])('origin of lines: %s', async (_, keys, text, json, own) => {
  expect(await madeBy(keys)).toEqual([text, json, own]);
});

test('origin at the top holds for every source that has none of its own', async () => {
  const [text, json] = await madeBy('', 'origin: [host]');
  expect([text, json]).toEqual([{ message: TEXT, host: 'web-1' }, `{${TIME},"a":1,"host":"web-1"}`]);
  expect(await madeBy('origin: []', 'origin: [host]')).toEqual([{ message: TEXT }, JSON_LINE, OWN]);
});

test('origin of a parser’s events replaces what they have by default', async () => {
  const of = async (keys: string) => (await make(`format: logfmt\n${keys}`, 'level=info', PLACE)).events[0];
  expect(await of('')).toMatchObject({ level: 'info', ...PLACE });
  expect(Object.keys((await of('origin: {file: path}'))!).toSorted()).toEqual(['_time', 'level', 'path']);
});

test('origin of sources that read no lines adds the host where an event has none, as `fields` do', () => {
  const sources =
    '  net: {type: syslog, listen: ["udp://127.0.0.1:0"], fields: {b: 2}}\n  journal: {type: journald, origin: {host: agent, file: x}}';
  const config = configOf(configWith({ agent: 'host_name: box\norigin: [host]\nfields: {a: 1}', sources }));
  expect(sourceOf(config, 'net').fields).toEqual({ host: 'box', a: 1, b: 2 });
  expect(sourceOf(config, 'journal').fields).toEqual({ agent: 'box', a: 1 });
});

test('origin is a part of the digest of events, and the large-event path agrees with the kernel', async () => {
  const kernel = createKernel(1024 * 1024);
  const shapes = new Shapes(kernel, 'ndjson', undefined);
  const region = kernel.reserve(1024);
  const length = region.bytes.write(`${JSON_LINE}\n`);
  const found = ['', 'origin: [host]', 'origin: [host, file]', 'origin: {host: h}'].map(async (keys) => {
    const config = configOf(configWith({ source: keys })).sources[0] as FileConfig;
    const { digest, template } = shapes.compile(shapeOf(config, await loadShaping(config), PLACE));
    expect(String(kernel.wrapLarge(template, 0, region, 0, length).event)).toBe(`${(await madeBy(keys))[1]}\n`);
    return digest;
  });
  expect(new Set(await Promise.all(found)).size).toBe(4);
});

describe('name of the host', () => {
  const nameWith = (written: string, env = {}): string =>
    sourceOf(configOf(configWith({ agent: written }), env)).hostName;
  test('is the system’s, or as it is written', () => {
    expect(nameWith('')).toBe(hostname());
    expect(nameWith('host_name: ${NODE_NAME}', { NODE_NAME: 'node-7' })).toBe('node-7');
  });

  test('${HOSTNAME} that is not set is the system’s name', () => {
    expect(nameWith('host_name: x-${HOSTNAME}')).toBe(`x-${hostname()}`);
    expect(nameWith('host_name: ${HOSTNAME}', { HOSTNAME: 'set' })).toBe('set');
    expect(nameWith('host_name: ${HOSTNAME:-other}')).toBe('other');
  });
});

test.each([
  ['origin: [hots]', 'hots'],
  ['origin: {hots: a}', 'hots'],
  ['origin: host', 'must be a list'],
])('origin that is wrong is named: %s', (keys, part) => {
  expect(() => configOf(configWith({ source: keys }))).toThrow(part);
});
