/** `parse`: fields out of CEF, LEEF and pairs; the message stays as it was sent. */
import { expect, test } from 'vitest';
import { encodeEvent } from '../../../src/sources/syslog/message/parse.ts';
import { bodyOf, type ParseBody } from '../../../src/sources/syslog/message/bodies.ts';
import { MAX_BODY_FIELDS, MAX_BODY_PREFIX } from '../../../src/sources/syslog/limits.ts';
import { ORIGIN, RECEIVED_AT, TIMEZONE } from './receipt.ts';
import { createZone } from '../../../src/core/time/zone.ts';
import { createReference } from './reference.ts';
import { createRig } from './rig.ts';

const fieldsOf = (text: string, which: ParseBody = 'auto'): unknown => {
  const body = bodyOf(text, which);
  return body && { ...body.fields, ...(body.error !== undefined && { error: body.error }) };
};
const cef = {
  vendor: 'Elastic',
  product: 'Vaporware',
  product_version: '1.0',
  event_id: '18',
  name: 'Web request',
  event_severity: 'low',
};
const leef = { vendor: 'Microsoft', product: 'MSExchange', product_version: '4.0 SP1', event_id: '15345' };

test.each([
  // A value has blanks and equals signs, and ends where the next key begins; `\=`, `\\`, `\n` in values, `\|` and `\\` in the header.
  [
    'CEF:0|Elastic|Vaporware|1.0|18|Web request|low|eventId=3457 src=192.0.2.4 rt=1577808000000',
    { ...cef, eventId: '3457', src: '192.0.2.4', rt: '1577808000000' },
  ],
  ['CEF: 1|Elastic|Vaporware|1.0|18|Web request|low|', cef],
  ['CEF:0|Elastic|Vaporware|1.0|18|Web request|low', cef],
  [
    'CEF:0|Elastic|Vaporware|1.0|18|Web request|low|msg=two words  and more act=drop',
    { ...cef, msg: 'two words  and more', act: 'drop' },
  ],
  [
    'CEF:0|Elastic|Vaporware|1.0|18|Web request|low|request=https://a/?b=c&d=e cs1Label=Rule cs1=A\\=B\\\\C\\nD',
    { ...cef, request: 'https://a/?b=c&d=e', cs1Label: 'Rule', cs1: 'A=B\\C\nD' },
  ],
  [
    'CEF:0|a\\|b|c\\\\d|1|2|e|3|x[0].y=1 x[0].y=2',
    {
      vendor: 'a|b',
      product: 'c\\d',
      product_version: '1',
      event_id: '2',
      name: 'e',
      event_severity: '3',
      'x[0].y': ['1', '2'],
    },
  ],
  ['gw MIL CEF:0|Elastic|Vaporware|1.0|18|Web request|low|a=', { ...cef, a: '' }],
  ['CEF:0|||1|2|Ωμέγα|3|dst=é', { product_version: '1', event_id: '2', name: 'Ωμέγα', event_severity: '3', dst: 'é' }],
  ['CEF:0|a|b|c', { vendor: 'a', product: 'b', product_version: 'c', error: 'CEF header ends early' }],
  // LEEF 1.0 has tabs, or what senders make of them; 2.0 names its delimiter.
  [
    'LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0\tdst=172.50.123.1\tmsg=a b=c|d',
    { ...leef, src: '192.0.2.0', dst: '172.50.123.1', msg: 'a b=c|d' },
  ],
  [
    'LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0#011dst=172.50.123.1',
    { ...leef, src: '192.0.2.0', dst: '172.50.123.1' },
  ],
  [
    'LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0 dst=172.50.123.1 msg=a b',
    { ...leef, src: '192.0.2.0', dst: '172.50.123.1', msg: 'a b' },
  ],
  [
    'LEEF:2.0|Microsoft|MSExchange|4.0 SP1|15345|^|src=192.0.2.0^msg=a b^c=',
    { ...leef, src: '192.0.2.0', msg: 'a b', c: '' },
  ],
  ['LEEF:2.0|Microsoft|MSExchange|4.0 SP1|15345|0x5E|src=192.0.2.0^sev=5', { ...leef, src: '192.0.2.0', sev: '5' }],
  ['LEEF:2.0|Microsoft|MSExchange|4.0 SP1|15345|x7c|src=192.0.2.0|sev=5', { ...leef, src: '192.0.2.0', sev: '5' }],
  ['LEEF:2.0|Microsoft|MSExchange|4.0 SP1|15345||src=192.0.2.0\tsev=5', { ...leef, src: '192.0.2.0', sev: '5' }],
  ['LEEF:2.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0\tsev=5', { ...leef, src: '192.0.2.0', sev: '5' }],
  ['LEEF:1.0|Microsoft|MSExchange', { vendor: 'Microsoft', product: 'MSExchange', error: 'LEEF header ends early' }],
  // Pairs: quotes, escapes, commas, bars, Check Point's.
  [
    'devname="FG100" srcip=10.1.100.11 msg="a \\"b\\" c=d" policyid=0 empty= user=""',
    { devname: 'FG100', srcip: '10.1.100.11', msg: 'a "b" c=d', policyid: '0', empty: '', user: '' },
  ],
  [
    'date=2026-07-10,time=10:59:59,device_id=FE,tags=a,b',
    { date: '2026-07-10', time: '10:59:59', device_id: 'FE', tags: 'a,b' },
  ],
  [
    'time=1783670399|product=VPN-1 & FireWall-1|action=Drop',
    { time: '1783670399', product: 'VPN-1 & FireWall-1', action: 'Drop' },
  ],
  ['[action:"Drop"; flags:"400644"; rule:"a \\"b\\""]', { action: 'Drop', flags: '400644', rule: 'a "b"' }],
  ['[UFW BLOCK] IN=eth0 OUT= SRC=192.0.2.1 DF PROTO=TCP', { IN: 'eth0', OUT: '', SRC: '192.0.2.1', PROTO: 'TCP' }],
  ['a=1 a=2 b="not closed', { a: ['1', '2'], b: 'not closed' }],
  ['__proto__=1 constructor=2', { ['__proto__']: '1', constructor: '2' }],
  // A message of no such form has no fields.
  ['user=root failed to log in', undefined],
  ['a plain text with x=1 y=2', undefined],
  ['', undefined],
])('fields of %s', (text, wanted) => expect(fieldsOf(text)).toEqual(wanted));

test('each form is read where it was asked for, and no other', () => {
  const texts = { cef: 'CEF:0|a|b|c|d|e|3|x=1', leef: 'LEEF:1.0|a|b|c|d|x=1', kv: 'text x=1' };
  for (const [which, text] of Object.entries(texts)) {
    expect(fieldsOf(text, which as ParseBody)).toMatchObject({ x: '1' });
    expect(fieldsOf(text, 'none')).toBeUndefined();
  }
  expect(fieldsOf(texts.leef, 'cef')).toBeUndefined();
  expect(fieldsOf(texts.cef, 'leef')).toBeUndefined();
});

test('a message gives at most MAX_BODY_FIELDS fields, its CEF header begins within MAX_BODY_PREFIX characters', () => {
  const many = Array.from({ length: MAX_BODY_FIELDS + 50 }, (_, n) => `k${n}=${n}`).join(' ');
  expect(Object.keys(bodyOf(many, 'kv')!.fields)).toHaveLength(MAX_BODY_FIELDS);
  expect(Object.keys(bodyOf(`CEF:0|a|b|c|d|e|3|${many}`, 'cef')!.fields)).toHaveLength(MAX_BODY_FIELDS + 6);
  expect(fieldsOf(`${'x'.repeat(MAX_BODY_PREFIX)} CEF:0|a|b|c|d|e|3|`, 'cef')).toBeUndefined();
});

const receipt = {
  receivedAtMs: Date.parse(RECEIVED_AT),
  ending: ORIGIN,
  zone: createZone(TIMEZONE),
  parseJson: 'none',
  readHeader: createReference(() => Date.parse(RECEIVED_AT)),
} as const;
const event = (text: string, more: object = {}, most = 60_000): Record<string, unknown> =>
  JSON.parse(
    encodeEvent({ bytes: Buffer.from(text) }, { ...receipt, parse: 'auto', ...more }, 10_000, most).json,
  ) as Record<string, unknown>;

test('an event keeps its own names and those of the agent, and its message', () => {
  const text = 'host=other env=theirs severity=9 part=7 action=drop';
  const found = event(`<13>Jul 10 10:59:59 gw app: ${text}`, { fieldNames: new Set(['env']) });
  expect(found).toMatchObject({ host: 'gw', appname: 'app', severity: 'notice', message: text, action: 'drop' });
  expect(found).not.toHaveProperty('env');
  expect(found).not.toHaveProperty('part');
});

test('the body tells the time where the header has none', () => {
  expect(event('<13>CEF:0|a|b|c|d|e|3|rt=1783670399000')).toMatchObject({
    _time: '2026-07-10T07:59:59.000Z',
    rt: '1783670399000',
  });
  expect(event('<13>LEEF:1.0|a|b|c|d|devTime=Jul 10 2026 10:59:59\tx=1')).toMatchObject({
    _time: '2026-07-10T07:59:59Z',
  });
  expect(event('<13>Jul 10 10:59:58 gw CEF:0|a|b|c|d|e|3|rt=1783670399000')).toMatchObject({
    _time: '2026-07-10T07:59:58Z',
  });
  expect(event('<13>CEF:0|a|b|c|d|e|3|rt=soon')).toMatchObject({ _time: RECEIVED_AT });
});

test('a message that is cut, comes in parts, or has no room for its fields has none', () => {
  const bytes = Buffer.from('<13>x=1 y=2');
  const cut = JSON.parse(
    encodeEvent({ bytes, originalBytes: 100 }, { ...receipt, parse: 'auto' }, 10_000, 60_000).json,
  ) as object;
  expect(cut).not.toHaveProperty('x');
  const part = { number: 1, isLast: true, message: {} };
  expect(
    JSON.parse(encodeEvent({ bytes, part }, { ...receipt, parse: 'auto' }, 10_000, 60_000).json),
  ).not.toHaveProperty('x');
  const large = event(`<13>x=1 y=${'z'.repeat(3000)}`, {}, 4096);
  expect(large).toMatchObject({ message: `x=1 y=${'z'.repeat(3000)}` });
  expect(large).not.toHaveProperty('x');
});

test('a broken CEF header says so, and keeps the message', () => {
  expect(event('<13>Jul 10 10:59:59 gw CEF:0|a|b')).toMatchObject({
    host: 'gw',
    message: 'CEF:0|a|b',
    vendor: 'a',
    parse_error: 'CEF header ends early',
  });
});

test('fields come out of messages that the kernel alone would read', async () => {
  const rig = createRig(10_000, 'none', 'truncate', undefined, 'cef');
  const [taken] = await rig.take([Buffer.from('<13>Jul 10 10:59:59 gw CEF:0|a|b|c|d|e|3|src=192.0.2.1')], 'datagram');
  expect(JSON.parse(taken!)).toMatchObject({ host: 'gw', vendor: 'a', src: '192.0.2.1' });
});
