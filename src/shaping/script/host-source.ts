/**
 * The program of the process that a script runs in, as text: it must run where no file of ours is there to be imported (a single
 * executable). It evaluates the script, then turns events into results as they are asked for. Requests come in on one pipe, replies leave
 * on another, and the process ends with the pipe on its standard input, whatever the script is at.
 */

/** Exit codes of a script's process: it took more memory than it may; nobody caught an error. */
export const OUT_OF_MEMORY_EXIT = 77;
export const UNCAUGHT_EXIT = 78;

/** Pipes beside standard input, which the agent holds open as long as it lives. */
export const REQUESTS_FD = 3;
export const REPLIES_FD = 4;

/** The first line that the process gets. */
export interface ScriptSetup {
  readonly file: string;
  readonly text: string;
  readonly maxExternalBytes: number;
  readonly maxRssBytes: number;
  readonly maxResultBytes: number;
  readonly tooLarge: string;
}

export const HOST_SOURCE = `
'use strict';
const { writeFileSync, writeSync } = process.getBuiltinModule('node:fs');
const { stripTypeScriptTypes } = process.getBuiltinModule('node:module');
const { Socket } = process.getBuiltinModule('node:net');
const { getHeapStatistics } = process.getBuiltinModule('node:v8');
const vm = process.getBuiltinModule('node:vm');
const { Worker } = process.getBuiltinModule('node:worker_threads');

// A thread of its own sees the agent's end also while the script keeps this one busy.
new Worker("const { Socket } = require('node:net'); new Socket({ fd: 0 }).on('error', () => {}).on('close', () => process.kill(process.pid, 'SIGKILL')).resume();", { eval: true }).unref();
// Where memory runs out, the system is to end this process and not the agent.
try { writeFileSync('/proc/self/oom_score_adj', '1000'); } catch {}
process.setUncaughtExceptionCaptureCallback(() => process.exit(${UNCAUGHT_EXIT}));

let file, text, maxExternalBytes, maxRssBytes, maxResultBytes, tooLarge;
const FLUSH_CHARACTERS = 256 * 1024;
const FLUSH_MS = 100;
const LONG_NUMBER = /\\d{16}/;
const TIME = /^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2})$/;

const parse = (json) =>
  LONG_NUMBER.test(json)
    ? JSON.parse(json, (key, value, { source }) =>
        typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\\d+$/.test(source) ? BigInt(source) : value)
    : JSON.parse(json);
const print = (value) =>
  JSON.stringify(value, (key, each) => (typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each));

class Refusal extends Error {}

/** Where in the script it happened; what the message says may quote the event. */
const describe = (error) => {
  if (error instanceof Refusal) return error.message;
  const name = error instanceof Error ? error.name : 'a value that is no error';
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  const at = stack.indexOf(file + ':');
  const place = at < 0 ? undefined : /^:(\\d+:\\d+)/.exec(stack.slice(at + file.length));
  return 'the script threw ' + name + (place ? ' at ' + place[1] : '');
};

const isEvent = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The members of an event that a script gave: JSON text of those that are not what they were, the names of those that are. */
const resultOf = (event, before) => {
  if (!isEvent(event)) throw new Refusal('the script gave ' + (Array.isArray(event) ? 'a list' : event === null ? 'null' : 'a value of type ' + typeof event) + ' in place of an event');
  const members = [];
  for (const name of Object.keys(event)) {
    const value = event[name];
    const was = before.get(name);
    if (name === '_time' && was !== undefined && value !== was.value) {
      const isTime = value instanceof Date ? !Number.isNaN(value.getTime()) : typeof value === 'string' && TIME.test(value);
      if (!isTime) { members.push([name]); continue; }
    }
    if (was !== undefined && was.json === undefined && Object.is(value, was.value)) { members.push([name]); continue; }
    const json = print(value);
    if (was !== undefined && was.json === json) members.push([name]);
    else if (json !== undefined && json !== 'null') members.push([name, json]);
  }
  return members;
};

const transformOne = (transform, json, context) => {
  const event = parse(json);
  const before = new Map();
  for (const name of Object.keys(event)) {
    const value = event[name];
    before.set(name, { value, json: typeof value === 'object' && value !== null ? print(value) : undefined });
  }
  const given = transform(event, context);
  if (given === null) return [];
  if (given === undefined) throw new Refusal('the script returned nothing; it must return the event, null or a list of events');
  if (typeof given.then === 'function') throw new Refusal('the script returned a promise; it must return the event itself');
  return Array.isArray(given) ? given.map((each) => resultOf(each, before)) : [resultOf(given, before)];
};

const load = async () => {
  const module = new vm.SourceTextModule(stripTypeScriptTypes(text), { identifier: file });
  await module.link((specifier) => {
    if (specifier === 'tailrace/transform') {
      const define = (transform, options = {}) => ({ transform, deterministic: options.deterministic === true });
      return new vm.SyntheticModule(['defineTransform'], function () { this.setExport('defineTransform', define); });
    }
    const builtin = specifier.startsWith('node:') ? process.getBuiltinModule(specifier) : undefined;
    if (builtin === undefined) throw new Refusal('the script imports "' + specifier + '"; only tailrace/transform and modules of Node (node:...) can be imported');
    return new vm.SyntheticModule([...new Set([...Object.keys(builtin), 'default'])], function () {
      for (const name of Object.keys(builtin)) this.setExport(name, builtin[name]);
      this.setExport('default', builtin);
    });
  });
  await module.evaluate();
  const exported = module.namespace.default;
  const defined = typeof exported === 'function' ? { transform: exported, deterministic: false } : exported;
  if (typeof defined?.transform !== 'function') throw new Refusal('the script has no default export that is a transform; write: export default defineTransform((event) => event)');
  return defined;
};

/** Where a text that is no script fails, as V8 says it on the first line of the stack. */
const placeOf = (error) => {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  const at = stack.indexOf(file + ':');
  const place = at < 0 ? undefined : /^:(\\d+)(?::(\\d+))?/.exec(stack.slice(at + file.length));
  return place ? { line: Number(place[1]), column: Number(place[2] ?? 1) } : { line: 1, column: 1 };
};

/** All of it: the pipe blocks. */
const reply = (replies) => {
  const bytes = Buffer.from(replies);
  for (let at = 0; at < bytes.length; ) at += writeSync(${REPLIES_FD}, bytes, at);
};

const resultText = (transform, json, context) => {
  try {
    const result = JSON.stringify(transformOne(transform, json, context));
    return result.length > maxResultBytes ? JSON.stringify(tooLarge) : result;
  } catch (error) {
    return JSON.stringify(describe(error));
  }
};

/** Replies as soon as there is much to say, or was nothing for a while: the agent takes silence for an event that takes too long. */
const shape = (transform, { source, readAtMs }, lines) => {
  let results = '';
  let since = performance.now();
  const flush = () => {
    // Before the results leave: the agent asks anew for events without a result, and finds the one that takes so much.
    if (getHeapStatistics().external_memory > maxExternalBytes || process.memoryUsage.rss() > maxRssBytes) process.exit(${OUT_OF_MEMORY_EXIT});
    reply(results);
    results = '';
    since = performance.now();
  };
  for (const json of lines) {
    results += resultText(transform, json, { source, readAt: new Date(readAtMs) }) + '\\n';
    if (results.length > FLUSH_CHARACTERS || performance.now() - since > FLUSH_MS) flush();
  }
  if (results !== '') flush();
};

const start = async (setup) => {
  ({ file, text, maxExternalBytes, maxRssBytes, maxResultBytes, tooLarge } = setup);
  try {
    const { transform, deterministic } = await load();
    reply(JSON.stringify({ deterministic }) + '\\n');
    return transform;
  } catch (error) {
    const message = error instanceof Refusal ? error.message : String(error?.message ?? error);
    reply(JSON.stringify({ problem: { message, ...placeOf(error) } }) + '\\n');
  }
};

// A request is a line that says how many bytes of events follow.
let parts = [];
let transform;
const take = async (chunk) => {
  parts.push(chunk);
  if (parts.length > 1 && wanted > parts.reduce((sum, part) => sum + part.length, 0)) return;
  const bytes = Buffer.concat(parts);
  parts = [bytes];
  const end = bytes.indexOf(10);
  if (end < 0) return;
  const request = JSON.parse(bytes.toString('utf8', 0, end));
  wanted = end + 1 + (request.bytes ?? 0);
  if (bytes.length < wanted) return;
  parts = [];
  wanted = 0;
  if (request.file !== undefined) transform = await start(request);
  else shape(transform, request, bytes.toString('utf8', end + 1, bytes.length - 1).split('\\n'));
};
let wanted = 0;
new Socket({ fd: ${REQUESTS_FD} }).on('data', take).on('error', () => {}).on('close', () => process.exit());
`;
