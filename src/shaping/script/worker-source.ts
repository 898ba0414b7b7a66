/**
 * The program of a script's worker thread, as text: it must run where no file of ours is there to be imported (a single executable). It
 * evaluates the script, then turns events into results as they are asked for.
 */

/** Exit code of a worker that took more memory outside of its heap than it may. */
export const OUT_OF_MEMORY_EXIT = 77;

export const WORKER_SOURCE = `
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const { stripTypeScriptTypes } = require('node:module');
const { getHeapStatistics } = require('node:v8');
const vm = require('node:vm');
const { file, text, progress, maxExternalBytes } = workerData;
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

/** The members of an event that a script gave: JSON text of those that are not what they were. */
const resultOf = (event, before) => {
  if (!isEvent(event)) throw new Refusal('the script gave ' + (Array.isArray(event) ? 'a list' : event === null ? 'null' : 'a value of type ' + typeof event) + ' in place of an event');
  const members = [];
  for (const name of Object.keys(event)) {
    const value = event[name];
    const was = before.get(name);
    if (name === '_time' && was !== undefined && value !== was.value) {
      const isTime = value instanceof Date ? !Number.isNaN(value.getTime()) : typeof value === 'string' && TIME.test(value);
      if (!isTime) { members.push([name, undefined]); continue; }
    }
    if (was !== undefined && was.json === undefined && Object.is(value, was.value)) { members.push([name, undefined]); continue; }
    const json = print(value);
    if (was !== undefined && was.json === json) members.push([name, undefined]);
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

load().then(({ transform, deterministic }) => {
  parentPort.on('message', ({ lines, source, readAtMs }) => {
    const results = [];
    lines.forEach((json, n) => {
      Atomics.store(progress, 0, n);
      const context = { source, readAt: new Date(readAtMs) };
      try {
        results.push(transformOne(transform, json, context));
      } catch (error) {
        results.push(describe(error));
      }
      if (getHeapStatistics().external_memory > maxExternalBytes) process.exit(${OUT_OF_MEMORY_EXIT});
    });
    parentPort.postMessage({ results });
  });
  parentPort.postMessage({ deterministic });
}, (error) => {
  const message = error instanceof Refusal ? error.message : String(error?.message ?? error);
  parentPort.postMessage({ problem: { message, ...placeOf(error) } });
});
`;
