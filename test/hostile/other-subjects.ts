/** What else meets bytes from outside: syslog messages and their framing, bodies of sinks, answers of services, requests of clients, texts of queries. */
import { findSecrets } from '../../src/agent/preview/find-secrets.ts';
import { parseLongIntegers, rawNumber } from '../../src/json/numbers.ts';
import { printable } from '../../src/config/quote.ts';
import { createZone } from '../../src/core/time/zone.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { readQuery } from '../../src/language/text/query-text.ts';
import { readTransform } from '../../src/language/text/transform-text.ts';
import { parseExact } from '../../src/json/exact-reader.ts';
import { type EventReader, readCsv, readJson, readNdjson } from '../../src/service/ingest/readers.ts';
import { encoderOf } from '../../src/sinks/ingest/encode/encoder.ts';
import { ResponseParser } from '../../src/sinks/ingest/http/response-parser.ts';
import { readProxyHeader } from '../../src/sources/syslog/listen/proxy-protocol.ts';
import { cutFrame } from '../../src/sources/syslog/message/frame.ts';
import type { ParseJson } from '../../src/sources/syslog/message/message-json.ts';
import { encodeEvent } from '../../src/sources/syslog/message/parse.ts';
import { createHeaderReader, HEADS as HANDED_OVER } from '../../src/sources/syslog/message/header.ts';
import { readLocalTime } from '../../src/sources/syslog/message/sent-time.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { bodyOf } from '../../src/sources/syslog/message/bodies.ts';
import { suffixOf } from '../../src/sources/syslog/message/sender.ts';
import { Framer } from '../../src/sources/syslog/receive/framing.ts';
import { hideSecrets } from '../../src/telemetry/hide-secrets.ts';
import { ORIGIN, RECEIVED_AT, TIMEZONE } from '../sources/syslog/receipt.ts';
import { quotedJson, type Subject } from './subject.ts';

const MOST = 4 * 1024 * 1024;
/** Of a read from a socket. */
const READ_BYTES = 64 * 1024;
const PARSE_JSON: readonly ParseJson[] = ['none', 'cee', 'all', 'fields'];
/** Beginnings of a message, each of which reads what follows as another part of it. */
const HEADS = [
  '',
  '<13>',
  '<13>1 ',
  '<13>1 2026-10-11T22:14:15Z h a p m ',
  '<13>1 - - - - - ',
  '<13>1 - - - - - [a b="',
  '<13>1 - - - - - [a b="c"] ',
  '<13>Oct 11 22:14:15 ',
  '<13>Oct 11 22:14:15 host ',
  '<13>Oct 11 22:14:15 host app[1]: ',
  '<13>2026-10-11T22:14:15',
  '<13>Oct 11 22:14:15.',
  '<13>date=',
  '<13>: ',
  '<13>29: ',
  '<13>1 2026-10-11T22:14:15Z h ',
  '<13>[20',
  '<13>id=a time="',
];
/** The same of what `parse` reads in a message. */
const BODIES = [
  '',
  'CEF:0|',
  'CEF:0|a|b|c|d|e|3|',
  'CEF:0|a|b|c|d|e|3|a=',
  'LEEF:1.0|',
  'LEEF:1.0|a|b|c|d|',
  'LEEF:2.0|a|b|c|d|^|',
  'LEEF:2.0|a|b|c|d|x5E|a=',
  'a=',
  'a="',
  'a=b c=',
  'a=1|b=',
  '[a:"',
  '[a:"b"; ',
];

const zone = createZone(TIMEZONE);
const receivedAtMs = Date.parse(RECEIVED_AT);
const suffix = suffixOf(ORIGIN);

const clock = { ...systemClock, now: () => receivedAtMs };

/** In JavaScript, which asks the kernel for headers. */
function messageSubjects(): Subject[] {
  const kernel = createKernel(2 * MOST);
  const readHeader = createHeaderReader(
    kernel.syslog(MOST, 'none', false, HANDED_OVER),
    kernel.reserve(MOST + 64),
    zone,
    clock,
  );
  return PARSE_JSON.flatMap((parseJson) =>
    HEADS.map((head) => ({
      name: `syslog message behind ${JSON.stringify(head)}, parse_json ${parseJson}`,
      run: (text: string) =>
        encodeEvent(
          cutFrame(Buffer.from(head + text), MOST),
          { receivedAtMs, ending: ORIGIN, zone, parseJson, readHeader },
          MOST,
          MOST,
        ),
    })),
  );
}

/** By the kernel, which gives what it cannot read to JavaScript. */
function loopSubjects(): Subject[] {
  const kernel = createKernel(40 * 1024 * 1024);
  const [input, output] = [kernel.reserve(MOST), kernel.reserve(4 * MOST)];
  return PARSE_JSON.filter((parseJson) => parseJson !== 'fields').flatMap((parseJson) => {
    const loops = kernel.syslog(MOST / 2, parseJson, false, HANDED_OVER);
    const readHeader = createHeaderReader(loops, input, zone, clock);
    return ['', '100000 ', ...HEADS].map((head) => ({
      name: `syslog stream behind ${JSON.stringify(head)}, parse_json ${parseJson}`,
      run: (text: string) => {
        const end = input.bytes.write(`${head}${text}\n`);
        loops.receive(receivedAtMs);
        const framing = { isCounting: false };
        for (let at = 0; at < end;) {
          const result = loops.stream(suffix, framing, input, at, end, output, 0, output.bytes.length - 1024);
          at = result.at;
          if (result.stop === 'input') break;
          if (result.stop === 'time') loops.learnTime(readLocalTime(loops.unknownTime(), receivedAtMs, zone));
          else if (result.stop === 'slow')
            encodeEvent(
              cutFrame(loops.message(), MOST),
              { receivedAtMs, ending: ORIGIN, zone, parseJson, readHeader },
              MOST,
              MOST,
            );
        }
      },
    }));
  });
}

function fieldSubjects(): Subject[] {
  return BODIES.map((head) => ({
    name: `fields of a message behind ${JSON.stringify(head)}`,
    run: (text: string) => bodyOf(head + text, 'auto') ?? bodyOf(head + text, 'kv'),
  }));
}

function framingSubjects(): Subject[] {
  return [READ_BYTES, 1024].flatMap((size) =>
    [false, true].map((splits) => ({
      name: `framing of reads of ${size} bytes${splits ? ', in parts' : ''}`,
      run: (text: string) => {
        const [bytes, framer] = [Buffer.from(text), new Framer(splits ? 4096 : MOST, splits)];
        for (let at = 0; at < bytes.length; at += size) {
          framer.held.push(bytes.subarray(at, at + size));
          while (framer.next() !== undefined);
        }
        framer.end();
        while (framer.next() !== undefined);
      },
    })),
  );
}

/** Undefined where it is refused, as it may be. A stack that is full would be the end of a process. */
function tried(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) throw error;
    return undefined;
  }
}

const HTTP_HEADS = [
  '',
  'HTTP/1.1 ',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\r\na: ',
  'HTTP/1.1 200 OK\r\nretry-after: ',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n',
];

function answerSubjects(): Subject[] {
  return HTTP_HEADS.map((head) => ({
    name: `answer behind ${JSON.stringify(head)}`,
    run: (text: string) =>
      tried(() => {
        const parser = new ResponseParser({ head() {}, data() {}, complete() {} });
        const bytes = Buffer.from(head + text);
        for (let at = 0; at < bytes.length; at += READ_BYTES) parser.push(bytes.subarray(at, at + READ_BYTES));
      }),
  }));
}

function bodySubjects(): Subject[] {
  const csv = { columns: undefined, extra: 'extra', header: 'line' } as const;
  const forms = [
    [
      'csv',
      encoderOf({
        encoding: 'csv',
        csv,
        json: { envelope: false },
        labels: {},
        timestampField: undefined,
        timestampFormat: undefined,
      })!,
    ],
    [
      'csv with columns',
      encoderOf({
        encoding: 'csv',
        csv: { ...csv, columns: ['m', 'b'] },
        json: { envelope: false },
        labels: {},
        timestampField: undefined,
        timestampFormat: undefined,
      })!,
    ],
    [
      'array',
      encoderOf({
        encoding: 'json',
        csv,
        json: { envelope: false },
        labels: {},
        timestampField: undefined,
        timestampFormat: undefined,
      })!,
    ],
    [
      'envelopes',
      encoderOf({
        encoding: 'json',
        csv,
        json: { envelope: true },
        labels: { a: 'b' },
        timestampField: '_time',
        timestampFormat: undefined,
      })!,
    ],
  ] as const;
  return forms.map(([name, encode]) => ({
    name: `body of ${name}`,
    run: (text: string) => encode(Buffer.from(`${eventsOf(text).join('\n')}\n`)),
  }));
}

/** Its lines, each as an event: as it is where it is an object, else as a text. */
function eventsOf(text: string): string[] {
  return text.split('\n').map((line) => {
    const isObject = line.startsWith('{') && tried(() => JSON.parse(line)) !== undefined;
    return isObject ? line : `{"_time":"2026-11-22T16:08:49Z","m":${quotedJson(line)}}`;
  });
}

export function otherSubjects(): readonly Subject[] {
  const of = (name: string, run: (text: string) => unknown): Subject => ({
    name,
    run: (text) => tried(() => run(text)),
  });
  return [
    ...messageSubjects(),
    ...loopSubjects(),
    ...fieldSubjects(),
    ...framingSubjects(),
    ...answerSubjects(),
    ...bodySubjects(),
    of('proxy protocol', (text) => readProxyHeader(Buffer.from(`PROXY TCP4 ${text}`))),
    of('ingest of NDJSON', (text) => readAll(readNdjson(Buffer.from(text)))),
    of('ingest of JSON', (text) => readAll(readJson(text))),
    of('ingest of CSV', (text) => readAll(readCsv(text, ',', undefined))),
    of('ingest of CSV with columns', (text) => readAll(readCsv(text, ';', ['a', 'b']))),
    of('exact JSON of the service', parseExact),
    of('exact JSON of the client', (text) => parseLongIntegers(text, rawNumber)),
    of('query', readQuery),
    of('query of a dataset', (text) => readQuery(`['a'] | where ${text}`)),
    of('transform', readTransform),
    of('secrets of a text', findSecrets),
    of('secrets of a page', (text) => hideSecrets({ a: text })),
    of('text on a terminal', printable),
  ];
}

function readAll(reader: EventReader): void {
  for (let index = 0; index < reader.count; index++) tried(() => reader.read(index));
}
