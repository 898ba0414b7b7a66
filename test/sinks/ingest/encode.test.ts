/** Bodies that the encoders write, judged by parsers that are not ours. */
import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_CSV_COLUMNS } from '../../../src/core/limits.ts';
import { encodeCsv, type CsvOptions } from '../../../src/sinks/ingest/encode/csv.ts';
import { encoderOf, formHeadersOf, formNameOf } from '../../../src/sinks/ingest/encode/encoder.ts';
import { encodeArray, encodeEnvelopes } from '../../../src/sinks/ingest/encode/json.ts';
import { sinkConfig } from '../../support/sink-config.ts';

const ndjson = (...lines: string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''));
const csv = (options: Partial<CsvOptions>, ...lines: string[]): string =>
  encodeCsv(ndjson(...lines), { columns: undefined, extra: 'json', header: true, ...options }).toString('utf8');
const array = (...lines: string[]): string => encodeArray(ndjson(...lines)).toString('utf8');
const envelopes = (options: { timestampField?: string; labels?: string }, ...lines: string[]): string =>
  encodeEnvelopes(ndjson(...lines), { timestampField: undefined, labels: undefined, ...options }).toString('utf8');

/** A JSON value's text as a hostile producer writes it: spaces, escapes of plain characters, numbers of any length. */
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.bigInt().map(String),
  fc.constantFrom('0', '-0', '1.0', '1e5', '-1.50E-7', '9007199254740993', '0.1000000000000000055511151231257827'),
);
const stringText = fc
  .string({
    unit: fc.constantFrom(
      'a',
      'B',
      '"',
      '\\',
      '\n',
      '\r',
      ',',
      ' ',
      'é',
      '\u{1f600}',
      '\u0000',
      '{',
      '}',
      ':',
      '[',
      ']',
      '\ufeff',
    ),
  })
  .chain((text) => fc.boolean().map((escaped) => (escaped ? escapeAll(text) : JSON.stringify(text))));
const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    stringText,
    numberText,
    fc.constantFrom('true', 'false', 'null', '"true"', '"12"', '""'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[ ${items.join(' ,')}]`),
  object: fc.array(fc.tuple(stringText, tie('value')), { maxLength: 3 }).map(objectText),
})).value;
const keyText = fc.oneof(
  fc.constantFrom('"_time"', '"level"', '"message"', '"json"', '"lev\\u0065l"', '" a"', '""'),
  stringText,
);
const eventText = fc.array(fc.tuple(keyText, valueText), { maxLength: 6 }).map(objectText);

function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, value]) => ` ${key} :\t${value}`).join(',')} }`;
}

function escapeAll(text: string): string {
  const units = Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
  );
  return `"${units.join('')}"`;
}

/** The object's members with the text of each value; the last one of a name counts. Split by hand-made events only. */
function membersOf(event: string): Map<string, { text: string; value: unknown }> {
  const members = new Map<string, { text: string; value: unknown }>();
  const inner = event.trim().slice(1, -1);
  let [depth, quoted, from, colon] = [0, false, 0, -1];
  const add = (to: number): void => {
    if (colon < 0) return;
    const text = inner.slice(colon + 1, to).trim();
    members.set(JSON.parse(inner.slice(from, colon)) as string, { text, value: JSON.parse(text) });
  };
  for (let at = 0; at < inner.length; at++) {
    const unit = inner[at]!;
    if (quoted) {
      if (unit === '\\') at++;
      else if (unit === '"') quoted = false;
    } else if (unit === '"') quoted = true;
    else if ('[{'.includes(unit)) depth++;
    else if (']}'.includes(unit)) depth--;
    else if (unit === ':' && depth === 0) colon = at;
    else if (unit === ',' && depth === 0) {
      add(at);
      [from, colon] = [at + 1, -1];
    }
  }
  add(inner.length);
  return members;
}

interface Cell {
  readonly text: string;
  readonly quoted: boolean;
}

function cellsOf(body: string): Cell[][] {
  return parseCsv(body, { cast: (text, { quoting }) => ({ text, quoted: quoting }) }) as unknown as Cell[][];
}

/** The cell of a value; undefined for an empty one. */
function cellOf(member: { text: string; value: unknown } | undefined): Cell | undefined {
  if (!member || member.value === null) return undefined;
  const { text, value } = member;
  if (typeof value === 'string') return { text: Buffer.from(value).toString(), quoted: true };
  return { text, quoted: typeof value === 'object' };
}

const EMPTY: Cell = { text: '', quoted: false };

describe('csv', () => {
  test('writes a header line, strings in quotes, numbers with their digits, nested values as JSON text', () => {
    const event = '{"a":"1","n":9007199254740993.10,"t":true,"z":null,"o":{"k":["x",1]},"s":"say \\"hi\\",\\nbye"}';
    expect(csv({}, event)).toBe('a,n,t,z,o,s\n"1",9007199254740993.10,true,,"{""k"":[""x"",1]}","say ""hi"",\nbye"\n');
  });

  test('infers columns in the order they are first seen, and leaves out what an event lacks', () => {
    expect(csv({}, '{"b":1}', '{"a":2,"b":3}', '{}')).toBe('b,a\n1,\n3,2\n,\n');
  });

  test('keeps keys without a column as one object, drops them only where configured', () => {
    const event = '{"level":"info","b":1e2,"message":"m","c":{"d":"\\""}}';
    const columns = ['message', 'level'];
    expect(csv({ columns }, event, '{"level":"x"}')).toBe(
      'message,level,json\n"m","info","{""b"":1e2,""c"":{""d"":""\\""""}}"\n,"x",\n',
    );
    expect(csv({ columns, extra: 'rest', header: false }, '{"rest":1}')).toBe(',,"{""rest"":1}"\n');
    expect(csv({ columns, extra: undefined }, event)).toBe('message,level\n"m","info"\n');
  });

  test('quotes column names as it must, and keeps those that a reader would trim out of the header', () => {
    expect(csv({}, '{"a,b":1,"q\\"":2,"l\\n":3,"x\\ny":4," s":5}')).toBe(
      '"a,b","q""","x\ny",json\n1,2,4,"{""l\\n"":3,"" s"":5}"\n',
    );
    // A column of that name is there already.
    expect(csv({}, '{"json":1," s":5}')).toBe('json,json_\n1,"{"" s"":5}"\n');
  });

  test('never writes a line that looks empty', () => {
    expect(csv({ columns: ['a'], extra: undefined }, '{"b":1}', '{"a":null}', '{"a":2}')).toBe('a\n""\n""\n2\n');
    expect(csv({}, '{}', '{}')).toBe('_time\n""\n""\n');
  });

  test('names no more columns than a dataset may have, and loses no key beyond them', () => {
    const keys = Array.from({ length: MAX_CSV_COLUMNS + 2 }, (_, n) => `"k${n}":${n}`);
    const [names, row] = cellsOf(csv({}, `{${keys.join(',')}}`));
    expect(names).toHaveLength(MAX_CSV_COLUMNS + 1);
    expect(row!.at(-1)).toEqual({ text: '{"k1024":1024,"k1025":1025}', quoted: true });
  });

  test('comes back whole from a CSV parser, whatever the events hold', () => {
    const options = fc.record({
      columns: fc.option(fc.constant<string[]>(['level', '_time', 'a "b"']), { nil: undefined }),
      extra: fc.option(fc.constantFrom('json', 'rest'), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(eventText, { minLength: 1, maxLength: 5 }), options, (events, { columns, extra }) => {
        const [head, ...rows] = cellsOf(csv({ columns, extra }, ...events));
        const names = head!.map(({ text }) => text);
        expect(new Set(names).size).toBe(names.length);
        expect(rows).toHaveLength(events.length);
        events.forEach((event, index) => {
          const row = rows[index]!;
          const members = membersOf(event);
          const plain =
            columns ??
            names.filter((name) => name.trim() === name && [...events.map(membersOf)].some((each) => each.has(name)));
          for (const [at, name] of names.entries()) {
            if (!plain.includes(name)) continue;
            const wanted = cellOf(members.get(name)) ?? EMPTY;
            expect(row[at]).toEqual(names.length === 1 && wanted === EMPTY ? { text: '', quoted: true } : wanted);
            members.delete(name);
          }
          if (extra === undefined) return;
          const left = plain.includes(names.at(-1)!) ? '' : row.at(-1)!.text;
          const others = left === '' ? new Map() : membersOf(left);
          expect([...others].map(([name, { text }]) => [name, text])).toEqual(
            [...members].map(([name, { text }]) => [name, text]),
          );
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('json', () => {
  test('is the events between brackets, byte for byte', () => {
    expect(array('{"a":1}', '{ "n":9007199254740993 }')).toBe('[{"a":1},{ "n":9007199254740993 }]');
    fc.assert(
      fc.property(fc.array(eventText, { minLength: 1, maxLength: 5 }), (events) => {
        const body = array(...events);
        expect(body).toBe(`[${events.join(',')}]`);
        expect(JSON.parse(body)).toHaveLength(events.length);
      }),
    );
  });

  test('envelope moves _time and copies the rest', () => {
    expect(envelopes({}, '{"_time":"t","n":1.0}', '{"n":12345678901234567890,"_time":1.50,"x":{"_time":3}}')).toBe(
      '[{"time":"t","data":{"n":1.0}},{"time":1.50,"data":{"n":12345678901234567890,"x":{"_time":3}}}]',
    );
    expect(envelopes({}, '{}', '{"_time":null,"a":1}', '{"a":2}')).toBe(
      '[{"data":{}},{"data":{"_time":null,"a":1}},{"data":{"a":2}}]',
    );
    expect(envelopes({}, '{"_time":"old","a":1,"_time":"new"}')).toBe('[{"time":"new","data":{"a":1}}]');
  });

  test('envelope takes the time of timestamp_field, which stays a field, and carries labels', () => {
    expect(envelopes({ timestampField: 'ts', labels: '{"team":"é"}' }, '{"ts":5,"_time":"t"}', '{"_time":"t"}')).toBe(
      '[{"time":5,"data":{"ts":5,"_time":"t"},"labels":{"team":"é"}},{"time":"t","data":{},"labels":{"team":"é"}}]',
    );
  });

  test('envelope holds every member of every event', () => {
    fc.assert(
      fc.property(fc.array(eventText, { minLength: 1, maxLength: 4 }), (events) => {
        const parsed = JSON.parse(envelopes({}, ...events)) as { time?: unknown; data: Record<string, unknown> }[];
        expect(parsed.map(({ data }) => Object.keys(data).length)).toEqual(
          events.map((event) => {
            const members = membersOf(event);
            const time = members.get('_time');
            // Its own spelling alone is the time's: an escaped one is a key like any other.
            return (
              members.size - (time && time.value !== null && parsed[events.indexOf(event)]?.time !== undefined ? 1 : 0)
            );
          }),
        );
      }),
    );
  });
});

describe('form', () => {
  test('NDJSON is sent as it is and keeps the keys it always had', () => {
    const config = sinkConfig('http://h');
    expect(encoderOf(config)).toBeUndefined();
    expect(formNameOf(config)).toBe('ndjson');
    expect(formHeadersOf(config)).toEqual({});
  });

  test('every setting that changes stored events changes the form', () => {
    const forms = [
      {},
      { labels: { a: 1 } },
      { timestampFormat: 'unix' },
      { encoding: 'json' as const },
      { encoding: 'json' as const, json: { envelope: true } },
      { encoding: 'csv' as const },
      { encoding: 'csv' as const, csv: { columns: ['a'], extra: undefined, header: 'line' as const } },
    ].map((changes) => formNameOf(sinkConfig('http://h', changes)));
    expect(new Set(forms).size).toBe(forms.length);
  });

  test('labels are a header of ASCII, or part of the envelope', () => {
    const labels = { team: 'Größe\n\u{1f600}\u007f' };
    const header = formHeadersOf(sinkConfig('http://h', { labels }))['event-labels']!;
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(header)).toEqual(labels);
    expect(formHeadersOf(sinkConfig('http://h', { labels, encoding: 'json', json: { envelope: true } }))).toEqual({});
  });

  test('columns go into the header when asked, and then not into the body', () => {
    const config = sinkConfig('http://h', {
      encoding: 'csv',
      csv: { columns: ['a', 'b'], extra: 'json', header: 'header' },
    });
    expect(formHeadersOf(config)).toEqual({ 'csv-fields': 'a,b,json' });
    expect(Buffer.from(encoderOf(config)!(ndjson('{"b":1,"c":2}'))).toString()).toBe(',1,"{""c"":2}"\n');
  });
});
