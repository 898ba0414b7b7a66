import { expect, test } from 'vitest';
import { createContainerParser, createJoinedContainerParser } from '../../src/parsers/formats/container-line.ts';
import { NOT_CRI, readCriHead, readCriLine } from '../../src/parsers/formats/cri.ts';
import { NOT_DOCKER, readDockerHead, readDockerLine } from '../../src/parsers/formats/docker.ts';

const cri = createContainerParser(readCriLine, NOT_CRI);
const docker = createContainerParser(readDockerLine, NOT_DOCKER);
const T = '2026-11-21T10:15:00.123456789Z';

test.each([
  ['a line', `${T} stdout F hello world`, [{ _time: T, message: 'hello world', stream: 'stdout' }]],
  ['an empty message', `${T} stderr F `, [{ _time: T, message: '', stream: 'stderr' }]],
  ['an empty message without the space', `${T} stderr F`, [{ _time: T, message: '', stream: 'stderr' }]],
  [
    'an offset and no fraction',
    '2026-11-21T12:15:00+02:00 stdout F x',
    [{ _time: '2026-11-21T12:15:00+02:00', message: 'x', stream: 'stdout' }],
  ],
  ['spaces in front of the message', `${T} stdout F   at x`, [{ _time: T, message: '  at x', stream: 'stdout' }]],
  ['tags behind the first', `${T} stdout F:x:y hello`, [{ _time: T, message: 'hello', stream: 'stdout' }]],
  [
    'pieces',
    `${T} stdout P one \n${T} stdout P two \n${T} stdout F three`,
    [{ _time: T, message: 'one two three', stream: 'stdout' }],
  ],
  [
    'pieces of both streams',
    `${T} stdout P out1 \n${T} stderr F err\n${T} stdout F out2`,
    [
      { _time: T, message: 'out1 out2', stream: 'stdout' },
      { _time: T, message: 'err', stream: 'stderr' },
    ],
  ],
  ['a line without a time', 'hello', [{ message: 'hello', parse_error: NOT_CRI }]],
  ['a stream that is none', `${T} stdlog F x`, [{ message: `${T} stdlog F x`, parse_error: NOT_CRI }]],
  [
    'rubbish between pieces',
    `${T} stdout P a\nrubbish\n${T} stdout F b`,
    [
      { _time: T, message: 'ab', stream: 'stdout' },
      { message: 'rubbish', parse_error: NOT_CRI },
    ],
  ],
])('cri: %s', (_, text, events) => {
  expect(cri.parse(text)).toEqual(events);
});

const entry = (log: string, stream = 'stdout', more = {}): string => JSON.stringify({ log, stream, ...more, time: T });

test.each([
  ['an entry', entry('hello\n'), [{ _time: T, message: 'hello', stream: 'stdout' }]],
  ['a CR before the newline', entry('hello\r\n'), [{ _time: T, message: 'hello', stream: 'stdout' }]],
  [
    'attributes',
    entry('x\n', 'stderr', { attrs: { tag: 'web' } }),
    [{ _time: T, message: 'x', stream: 'stderr', attrs: { tag: 'web' } }],
  ],
  ['pieces', `${entry('one ')}\n${entry('two\n')}`, [{ _time: T, message: 'one two', stream: 'stdout' }]],
  ['JSON inside', entry('{"a":1}\n'), [{ _time: T, message: '{"a":1}', stream: 'stdout' }]],
  ['no object', 'hello', [{ message: 'hello', parse_error: NOT_DOCKER }]],
  ['an object of another kind', '{"msg":"x"}', [{ message: '{"msg":"x"}', parse_error: NOT_DOCKER }]],
])('docker: %s', (_, text, events) => {
  expect(docker.parse(text)).toEqual(events);
});

test.each([
  [entry('x\n'), false],
  [entry('x'), true],
  [entry('ends in a backslash and n: \\n'), true],
  [entry('a backslash, then a newline: \\\n'), false],
  [entry('","stream":"stderr"\n'), false],
  [entry('","stream":"stderr"'), true],
  [entry(''), true],
  [JSON.stringify({ time: T, stream: 'stdout', log: 'other order\n' }), false],
  [JSON.stringify({ stream: 'stdout', log: 'piece', time: T }), true],
])('docker sees in the bytes whether a message goes on: %s', (line, isPartial) => {
  const bytes = Buffer.from(`before${line}behind`);
  expect(readDockerHead(bytes, 6, bytes.length - 6)).toEqual({ stream: 'stdout', isPartial });
  expect(readDockerLine(line)?.isPartial).toBe(isPartial);
});

test('cri sees in the bytes whether a message goes on', () => {
  const bytes = Buffer.from(`${T} stdout P ${'x'.repeat(200)}`);
  expect(readCriHead(bytes, 0, bytes.length)).toEqual({ stream: 'stdout', isPartial: true });
  expect(readCriHead(Buffer.from('none'), 0, 4)).toBeUndefined();
});

test('messages that a pattern joined are one event, their pieces put together first', () => {
  const parser = createJoinedContainerParser(readCriLine, NOT_CRI);
  expect(parser.parse(`${T} stderr F Error: x\n${T} stderr P   at \n${T} stderr F y\r\n${T} stderr F   at z`)).toEqual([
    { _time: T, message: 'Error: x\n  at y\n  at z', stream: 'stderr' },
  ]);
});
