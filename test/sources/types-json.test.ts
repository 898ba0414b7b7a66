/** Types of JSON lines: converted values are printed anew, absent ones go, every other byte stays. */
import { expect, test } from 'vitest';
import { editJson } from '../../src/json/edit.ts';
import { locateField } from '../../src/parsers/values/field-location.ts';
import { dice } from '../support/random.ts';
import { make } from './made.ts';

const READ = '2026-11-22T18:00:00.500Z';
const TYPES =
  'types: {status: int, rt: float, ok: bool, started: datetime, meta: json, req.size: int, id: text}\ntime: {timezone: Europe/Athens}';

test('types: values of JSON lines convert in place, and every other byte stays', async () => {
  const { lines, stats } = await make(
    TYPES,
    [
      '{ "a": 1.0 , "status" : "200", "rt":"0.250","ok":"yes","started":"2026-11-22 16:08:49", "meta":"{\\"a\\": [1]}" ,"req" : { "size": "7", "id" :"7"}}',
      '{"status":200,"rt":1e1,"ok":true,"meta":{"a":1.0},"req":{"size":7},"id":7,"x":"\\u0041"}',
      '{"status":"9007199254740993","started":1795363729123,"req.size":"8","req":{"size":"9"}}',
      '{"started":1795363729123456789}',
      '{"st\\u0061tus":"1"}',
      '{"status":"1","b":2,"status":"3"}',
      'status=200',
    ].join('\n'),
  );
  expect(lines).toEqual([
    `{ "a": 1.0 , "status" : 200, "rt":0.25,"ok":true,"started":"2026-11-22T14:08:49Z", "meta":{"a":[1]} ,"req" : { "size": 7, "id" :"7"},"_time":"${READ}"}`,
    `{"status":200,"rt":1e1,"ok":true,"meta":{"a":1.0},"req":{"size":7},"id":7,"x":"\\u0041","_time":"${READ}"}`,
    `{"status":9007199254740993,"started":"2026-11-22T16:08:49.123Z","req.size":8,"req":{"size":"9"},"_time":"${READ}"}`,
    `{"started":"2026-11-22T16:08:49.123456789Z","_time":"${READ}"}`,
    `{"st\\u0061tus":1,"_time":"${READ}"}`,
    `{"status":3,"b":2,"_time":"${READ}"}`,
    `{"_time":"${READ}","message":"status=200"}`,
  ]);
  expect(stats.typeErrors ?? 0).toBe(0);
});

test('types: - and empty text of JSON lines are absent; what does not convert stays and is counted; null stays', async () => {
  const { lines, stats } = await make(
    TYPES,
    [
      '{"status":"-","a":1}',
      '{"a":1 , "status":" ","rt":"-"}',
      '{"status":"-", "rt":"" ,"a":1,"req":{"size":"-"}}',
      '{"status":"-"}',
      '{"status":"2e3","rt":"NaN","ok":2,"started":"noon","meta":"{","req":{"size":1.5}}',
      '{"status":[1],"rt":{},"ok":null,"started":true,"req":"-","id":"-"}',
    ].join('\n'),
  );
  expect(lines).toEqual([
    `{"a":1,"_time":"${READ}"}`,
    `{"a":1,"_time":"${READ}"}`,
    `{"a":1,"req":{},"_time":"${READ}"}`,
    `{"_time":"${READ}"}`,
    `{"status":"2e3","rt":"NaN","ok":2,"started":"noon","meta":"{","req":{"size":1.5},"_time":"${READ}"}`,
    `{"status":[1],"rt":{},"ok":null,"started":true,"req":"-","_time":"${READ}"}`,
  ]);
  expect(stats.typeErrors).toBe(9);
});

test('types: broken JSON stays as it is, byte for byte, and has its parse_error', async () => {
  const broken = ['{"status":"200"', '{"status":"-"}}', '{"status":"200"} x', '["200"]', '"status"'];
  const { events } = await make(`format: json\n${TYPES}`, broken.join('\n'));
  expect(events.map(({ message }) => message)).toEqual(broken);
  for (const event of events) expect(event).toHaveProperty('parse_error');
});

test('types: JSON lines have their types before their time, and text lines the time they begin with', async () => {
  const auto = await make(
    'types: {ts: int, n: int}\ntime: {timezone: UTC}',
    '{"ts":" 1795363729 ","n":"1"}\n2026-11-22 16:08:49 text',
  );
  expect(auto.lines).toEqual([
    '{"ts":1795363729,"n":1,"_time":"2026-11-22T16:08:49Z"}',
    '{"_time":"2026-11-22T16:08:49Z","message":"2026-11-22 16:08:49 text"}',
  ]);
  const given = await make(
    'types: {n: int}\ntime: {field: req.at, format: unixms}',
    '{"n":"1","req":{"at":1795363729123}}\n{"n":"2"}',
  );
  expect(given.lines).toEqual([
    '{"n":1,"req":{"at":1795363729123},"_time":"2026-11-22T16:08:49.123Z"}',
    `{"n":2,"_time":"${READ}"}`,
  ]);
});

test('formats: JSON among several formats keeps its bytes, and numbers in messages their digits', async () => {
  const { lines } = await make('formats: [json, text]', ' { "a": 1.0, "b":1e3, "a":"\\u0041" } \n{"a":1.0');
  expect(lines).toEqual([
    `{ "a": 1.0, "b":1e3, "a":"\\u0041" ,"_time":"${READ}"}`,
    `{"message":"{\\"a\\":1.0","_time":"${READ}"}`,
  ]);
  const messages = await make(
    'formats: [json, text]\nparse_json: true',
    '{"message":"x {\\"n\\":1.0}"}\ny {"n":-0.50}',
  );
  expect(messages.lines.map((line) => /"n":[^,}]+/.exec(line.replaceAll('\\', ''))?.[0])).toEqual([
    '"n":1.0',
    '"n":-0.50',
  ]);
});

test('types: JSON among several formats, and in messages', async () => {
  const formats = await make(
    'formats: [json, text]\ntypes: {req.size: int, n: float}',
    '{"req":{"size":"7"},"n":null}\ntext',
  );
  expect(formats.events).toEqual([
    { req: { size: 7 }, n: null, _time: READ },
    { message: 'text', _time: READ },
  ]);
  const messages = await make('parse_json: true\ntypes: {n: int}', '{"n":"1"}\nstarted {"n":"2"}');
  expect(messages.events).toMatchObject([{ n: 1 }, { message: 'started {"n":"2"}', n: 2 }]);
});

test('editing a JSON text changes what its parsed form says, on random objects, and no other byte', () => {
  const next = dice(20261123);
  const pick = <T>(all: readonly T[]): T => all[next(all.length)]!;
  const space = (): string => pick(['', '', ' ', '\t ']);
  const leaf = (): string =>
    pick(['1', '-0.50', '"x"', '"\\"},{"', '"\\\\"', 'null', 'true', '[]', '[{"a":"]"},[1]]', '{}', '"{[,"']);
  const object = (depth: number): string => {
    const members = ['a', 'b', 'c', 'd\\"']
      .filter(() => next(3) > 0)
      .map((name) => {
        const value = depth > 0 && next(3) === 0 ? object(depth - 1) : leaf();
        return `${space()}"${name}"${space()}:${space()}${value}${space()}`;
      });
    return `{${members.length === 0 ? space() : members.join(',')}}`;
  };
  for (let n = 0; n < 5000; n++) {
    const text = object(2);
    const event = JSON.parse(text) as Parameters<typeof editJson>[1];
    const changed: (readonly string[])[] = [];
    for (const name of ['a', 'b', 'd"', 'a.b', 'c.a.c']) {
      const place = next(2) === 0 ? locateField(event, name) : undefined;
      if (!place || changed.some((keys) => keys.join().startsWith(place.keys.join()))) continue;
      if (n % 2 === 0) delete place.holder[place.key];
      else place.holder[place.key] = 'new';
      changed.push(place.keys);
    }
    const edited = editJson(text, event, changed);
    expect(JSON.parse(edited), text).toEqual(event);
    if (n % 2 === 0 && changed.length > 0) continue;
    let at = 0;
    for (const piece of edited.split('"new"')) {
      expect(text.indexOf(piece, at), text).toBeGreaterThanOrEqual(at);
      at = text.indexOf(piece, at) + piece.length;
    }
    expect(edited.split('"new"')).toHaveLength(changed.length + 1);
  }
});
