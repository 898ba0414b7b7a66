/**
 * Symptom: a step that touched a field printed its neighbours anew: `1e400` became null, `1.10` 1.1, a key that stood twice was dropped. Cause: the
 * object around it was printed from its values. Fix: the object's text is edited; what did not change keeps its bytes.
 */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createScriptStage } from '../../../src/shaping/script/script-stage.ts';
import { readScript } from '../../../src/shaping/script/script-file.ts';
import { ScriptRunner } from '../../../src/shaping/script/script-runner.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { outcomeOf, stagesOf } from './agreement.ts';

const SIBLINGS = '"e":1e400, "n" : 1.10,"big":12345678901234567890,"k":1,"k":{ "x" : 2.0 },"12":1,"0":"\\u00e9\\/"';

/** All ways agree. */
function shaped(pipeline: string, line: string): string {
  const [bytes, values, objects] = stagesOf(pipeline).map((stage) => outcomeOf(stage, [line]).lines.join('').trimEnd());
  expect({ bytes, values }).toEqual({ bytes: objects, values: objects });
  return objects!;
}

test.each([
  ['project-away req.secret', `{"req":{"secret":1,${SIBLINGS}},"a":1e400}`, `{"req":{${SIBLINGS}},"a":1e400}`],
  ['project-away req.secret', `{"req":{${SIBLINGS},"secret":1}}`, `{"req":{${SIBLINGS}}}`],
  ['project-away req.s*', `{"req":{"secret":1,${SIBLINGS}}}`, `{"req":{${SIBLINGS}}}`],
  ['project-keep req.n, req.e', `{"req":{${SIBLINGS}},"a":1}`, '{"req":{"e":1e400, "n" : 1.10}}'],
  [
    'extend req.secret = mask(req.secret)',
    `{"req":{"secret":"abc",${SIBLINGS}}}`,
    `{"req":{"secret":"***",${SIBLINGS}}}`,
  ],
  ['extend req.new = 1', `{"req":{${SIBLINGS}}}`, `{"req":{${SIBLINGS},"new":1}}`],
  [
    'project-away req.in.secret',
    `{"req":{"in":{"secret":1,${SIBLINGS}},${SIBLINGS}}}`,
    `{"req":{"in":{${SIBLINGS}},${SIBLINGS}}}`,
  ],
  ['project-away req.secret', '{"req":1e400}', '{"req":1e400}'],
  ['project-rename b = a', '{"a":1e400}', '{"b":1e400}'],
  ['extend a = toreal("inf")', '{"a":1,"b":2}', '{"b":2}'],
])('%s keeps the bytes of what it does not touch: %s', (pipeline, line, wanted) => {
  expect(shaped(pipeline, line)).toBe(wanted);
});

test.each([
  ['extend t = tostring(id)', '"12345678901234567891"'],
  ['extend t = strcat("id ", id, "-", id)', '"id 12345678901234567891-12345678901234567891"'],
  ['extend t = tostring(list[1])', '"9007199254740993"'],
  ['extend t = strcat_array(list, ",")', '"-12345678901234567891,9007199254740993"'],
  ['extend t = mask(id, 3)', '"*****************891"'],
])('integer keeps its digits where it becomes text: %s', (pipeline, wanted) => {
  const line = '{"id":12345678901234567891,"list":[-12345678901234567891,9007199254740993]}';
  expect(shaped(pipeline, line)).toBe(line.replace(/\}$/, `,"t":${wanted}}`));
});

test('dedupe tells integers apart that a float does not', () => {
  const lines = ['{"id":12345678901234567890}', '{"id":12345678901234567891}', '{"id":12345678901234567890}'];
  expect(outcomeOf(stagesOf('dedupe by id within 10s')[0]!, lines).origins).toEqual([0, 1]);
});

test('script keeps the bytes of what it does not touch', async () => {
  const folder = makeTree({});
  const file = `${folder}/shape.mjs`;
  writeFileSync(
    file,
    'export default (event) => { delete event.req.secret; event.req.list[0].b = 2; return event; };',
    { mode: 0o600 },
  );
  const runner = await ScriptRunner.start(readScript(file));
  try {
    const stage = createScriptStage({ runner, sha256: '', onError: 'keep', failed() {} });
    const line = `{"a":1e400,"req":{"secret":1,${SIBLINGS},"list":[{"b":1,"c":1.0},[ 1.10 ]]}}\n`;
    const list = {
      bytes: Buffer.from(line),
      count: 1,
      ends: Uint32Array.of(Buffer.byteLength(line)),
      origins: Uint32Array.of(0),
      subs: Uint32Array.of(0),
    };
    const result = await stage.run(list, { source: 'app', stream: 's', readAtMs: 0, offsetOf: () => 0 });
    expect(result.list.bytes.toString()).toBe(`{"a":1e400,"req":{${SIBLINGS},"list":[{"b":2,"c":1.0},[ 1.10 ]]}}\n`);
  } finally {
    await runner.close();
  }
});
