/** RFC 5424: its own examples, then each part at its edges. */
import { broken, common, rare, type Sample } from './sample.ts';
import { words } from '../../../support/words.ts';

const head = '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 ';
const fields = { _time: '2003-10-11T22:14:15.003Z', host: 'mymachine.example.com', appname: 'evntslog', msgid: 'ID47' };
const at = (time: string): string => `<13>1 ${time} h a p m - x`;
const all = { host: 'h', appname: 'a', procid: 'p', msgid: 'm', message: 'x' };
const data = (text: string): string => `<13>1 - - - - - ${text}`;
const long = 'x'.repeat(300);

const times = words`
  2026-07-10T08:00:00Z 2026-07-10T08:00:00.1Z 2026-07-10T08:00:00.123456Z 2026-07-10T08:00:00.123456789Z
  2026-07-10T08:00:00+03:00 2026-07-10T08:00:00.5-11:30 2026-07-10T08:00:00-00:00 2026-07-10T08:00:00.999999999+14:00
  2024-02-29T23:59:59Z 2000-02-29T00:00:00Z 1970-01-01T00:00:00Z 1900-01-01T00:00:00Z 1899-12-31T23:00:00-01:00
  2026-04-30T00:00:00Z 2026-07-11T08:00:00.9Z 2026-07-11T22:00:00+14:00
`;

/** Of clocks that were never set, or are wrong. */
const timesThatCannotBe = words`
  0001-01-01T00:00:00Z 0099-12-31T23:59:59+23:59 1899-12-31T23:59:59Z 1900-01-01T00:00:00+00:01 2026-07-11T08:00:01Z 2026-07-11T08:00:00-00:01
  2026-12-31T00:00:00Z 2038-01-19T03:14:08Z 2099-01-01T00:00:00Z 2300-01-01T00:00:00.000001Z 9999-12-31T23:59:59.999999999-23:59
`;

const wrongTimes = words`
  2026-13-01T00:00:00Z 2026-00-01T00:00:00Z 2026-01-00T00:00:00Z 2026-01-32T00:00:00Z 2026-04-31T00:00:00Z
  2026-02-29T00:00:00Z 2100-02-29T00:00:00Z 0000-01-01T00:00:00Z 2026-01-01T24:00:00Z 2026-01-01T00:60:00Z
  2026-01-01T00:00:60Z 2026-01-01T00:00:61Z 2026-01-01T00:00:00.Z 2026-01-01T00:00:00+3:00
  2026-01-01T00:00:00+24:00 2026-01-01T00:00:00+03:60 2026-01-01T00:00:00ZZ 2026-1-01T00:00:00Z
`;

/** Not as the RFC wants them, but plain. */
const otherTimes = {
  '2026-01-01T00:00:00': '2025-12-31T22:00:00Z',
  '2026-01-01T00:00:00.886': '2025-12-31T22:00:00.886Z',
  '2026-01-01T00:00:00z': '2026-01-01T00:00:00Z',
  '2026-01-01t00:00:00Z': '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00,5Z': '2026-01-01T00:00:00.5Z',
  '2026-01-01T00:00:00.1234567890Z': '2026-01-01T00:00:00.123456789Z',
  '2026-01-01T00:00:00+0300': '2025-12-31T21:00:00Z',
};

export const rfc5424: Sample[] = [
  common(
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \uFEFF'su root' failed for lonvick on /dev/pts/8",
    {
      ...fields,
      appname: 'su',
      message: "'su root' failed for lonvick on /dev/pts/8",
    },
  ),
  common("<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts.", {
    _time: '2003-08-24T05:14:15.000003-07:00',
    host: '192.0.2.1',
    appname: 'myproc',
    procid: '8710',
    message: "%% It's time to make the do-nuts.",
  }),
  common(
    `${head}[exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"] \uFEFFAn application event log entry...`,
    {
      ...fields,
      structured_data: { 'exampleSDID@32473': { iut: '3', eventSource: 'Application', eventID: '1011' } },
      message: 'An application event log entry...',
    },
  ),
  common(
    `${head}[exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"][examplePriority@32473 class="high"]`,
    {
      ...fields,
      structured_data: {
        'exampleSDID@32473': { iut: '3', eventSource: 'Application', eventID: '1011' },
        'examplePriority@32473': { class: 'high' },
      },
    },
  ),

  ...times.map((time) => common(at(time), { ...all, _time: time })),
  ...timesThatCannotBe.map((time) => rare(at(time), { ...all, time_error: time })),
  ...Object.entries(otherTimes).map(([sent, time]) => rare(at(sent), { ...all, _time: time })),
  ...wrongTimes.map((time) => broken(at(time), 'RFC 5424 timestamp is not valid')),

  // Priorities.
  common('<0>1 - - - - - - x', { message: 'x' }),
  common('<191>1 - - - - - - x', { message: 'x' }),
  common('<000>1 - - - - - - x', { message: 'x' }),
  common('<07>1 - - - - - - x', { message: 'x' }),

  // Headers.
  common('<13>1 - - - - - -', {}),
  common('<13>1 - - - - - - ', {}),
  common('<13>1 - h - - - - x', { host: 'h', message: 'x' }),
  common('<13>1 - - a - - - x', { appname: 'a', message: 'x' }),
  common('<13>1 - - - 1 - - x', { procid: '1', message: 'x' }),
  common('<13>1 - - - - m - x', { msgid: 'm', message: 'x' }),
  common('<13>1 - -- - - - - x', { host: '--', message: 'x' }),
  common('<13>1 - 2001:db8::1 a/b[1]: %s {} - x', {
    host: '2001:db8::1',
    appname: 'a/b[1]:',
    procid: '%s',
    msgid: '{}',
    message: 'x',
  }),
  common('<13>1 - "q" \\ - - - x', { host: '"q"', appname: '\\', message: 'x' }),
  common('<13>1 - Ελλάς é - - - x', { host: 'Ελλάς', appname: 'é', message: 'x' }),
  common(`<13>1 - ${long} ${long} - - - x`, { host: long, appname: long, message: 'x' }),
  broken('<13>1 - h', 'RFC 5424 header ends early'),
  broken('<13>1 - h a p m', 'RFC 5424 header ends early'),
  broken('<13>1 - h a p m ', 'RFC 5424 structured data is missing'),
  broken('<13>1 - h a p m x', 'RFC 5424 structured data is missing'),
  broken('<13>1 -  a p m - x', 'RFC 5424 header has an empty field'),
  broken('<13>1 - h a p  - x', 'RFC 5424 header has an empty field'),
  broken('<13>2 - h a p m - x', 'RFC 5424 version 2 is not known'),
  broken('<13>01 - h a p m - x', 'RFC 5424 version 01 is not known'),
  broken('<13>999 2026-07-10T08:00:00Z h a p m - x', 'RFC 5424 version 999 is not known'),

  // Structured data.
  common(data('[a] x'), { structured_data: { a: {} }, message: 'x' }),
  common(data('[a][b] x'), { structured_data: { a: {}, b: {} }, message: 'x' }),
  common(data('[a b=""] x'), { structured_data: { a: { b: '' } }, message: 'x' }),
  common(data('[a b="1" c="2"] x'), { structured_data: { a: { b: '1', c: '2' } }, message: 'x' }),
  common(data('[a  b="1"   c="2" ] x'), { structured_data: { a: { b: '1', c: '2' } }, message: 'x' }),
  common(data('[a q="\\"x\\" \\\\ \\] \\n"] x'), { structured_data: { a: { q: '"x" \\ ] \\n' } }, message: 'x' }),
  common(data('[a q="] [b=c]"] x'), { structured_data: { a: { q: '] [b=c]' } }, message: 'x' }),
  common(data('[a q="tab\tline\nnul\0"] x'), { structured_data: { a: { q: 'tab\tline\nnul\0' } }, message: 'x' }),
  common(data('[a q="Ωμέγα €"] x'), { structured_data: { a: { q: 'Ωμέγα €' } }, message: 'x' }),
  common(data(`[a q="${long}"] x`), { structured_data: { a: { q: long } }, message: 'x' }),
  common(data('[origin ip="192.0.2.1"][meta sequenceId="29"] x'), {
    structured_data: { origin: { ip: '192.0.2.1' }, meta: { sequenceId: '29' } },
    message: 'x',
  }),
  common(data('[timeQuality tzKnown="1" isSynced="1" syncAccuracy="60000000"] x'), {
    structured_data: { timeQuality: { tzKnown: '1', isSynced: '1', syncAccuracy: '60000000' } },
    message: 'x',
  }),
  rare(data('[origin ip="192.0.2.1" ip="192.0.2.129"] x'), {
    structured_data: { origin: { ip: ['192.0.2.1', '192.0.2.129'] } },
    message: 'x',
  }),
  rare(data('[a n="1" n="2" n="3"][b][a m="4"] x'), {
    structured_data: { a: { n: ['1', '2', '3'], m: '4' }, b: {} },
    message: 'x',
  }),
  rare(data('[a 10="ten" b="c" 2="two"] x'), { structured_data: { a: { 10: 'ten', b: 'c', 2: 'two' } }, message: 'x' }),
  rare(data('[32473 a="b"] x'), { structured_data: { 32473: { a: 'b' } }, message: 'x' }),
  rare(data('[é ü="ö"] x'), { structured_data: { é: { ü: 'ö' } }, message: 'x' }),
  common(data('[__proto__ constructor="1"] x'), {
    structured_data: JSON.parse('{"__proto__":{"constructor":"1"}}'),
    message: 'x',
  }),
  rare(data(`[a ${Array.from({ length: 40 }, (_, n) => `n${n}="${n}"`).join(' ')}] x`), {
    structured_data: { a: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n}`, String(n)])) },
    message: 'x',
  }),
  rare(data(`[a b="${'y'.repeat(5000)}"] x`), { structured_data: { a: { b: 'y'.repeat(5000) } }, message: 'x' }),
  broken(data('[] x'), 'RFC 5424 structured data has an element without an id'),
  broken(data('[a b] x'), 'RFC 5424 structured data has a parameter without a value'),
  broken(data('[a b=c] x'), 'RFC 5424 structured data has a parameter without a value'),
  broken(data('[a ="c"] x'), 'RFC 5424 structured data has a parameter without a value'),
  broken(data('[a b="c'), 'RFC 5424 structured data has a value without an end'),
  broken(data('[a b="c\\"] x'), 'RFC 5424 structured data has a value without an end'),
  broken(data('[a b="c"'), 'RFC 5424 structured data has an element without an end'),
  broken(data('[a'), 'RFC 5424 structured data has an element without an end'),
  broken(data('[a b="c"d="e"] x'), 'RFC 5424 structured data has an element without an end'),
  broken(data('[a]x'), 'RFC 5424 structured data is not followed by a space'),
  broken(data('-x'), 'RFC 5424 structured data is not followed by a space'),

  // Messages.
  common(data('-   x  '), { message: '  x  ' }),
  common(data('- a\nb\r\nc'), { message: 'a\nb\r\nc' }),
  common(data('- a\0b'), { message: 'a\0b' }),
  common(data('- \uFEFF'), {}),
  common(data('- \uFEFF\uFEFFx'), { message: '\uFEFFx' }),
  common(data('- {"a":1}'), { message: '{"a":1}' }),
  common(data('- "\\/\b\f\u0001\u001f\u007f'), { message: '"\\/\b\f\u0001\u001f\u007f' }),
  common(data('- Ωμέγα 漢字 \u{1f600}'), { message: 'Ωμέγα 漢字 \u{1f600}' }),
  common(Buffer.from(data('- caf\xe9 \xff\xfe'), 'latin1'), { message: 'caf\uFFFD \uFFFD\uFFFD' }),
  common(Buffer.concat([Buffer.from(data('- ')), Buffer.of(0xf0, 0x9f, 0x98)]), { message: '\uFFFD' }),
  common(data(`- ${'z'.repeat(5000)}`), { message: 'z'.repeat(5000) }),
];
