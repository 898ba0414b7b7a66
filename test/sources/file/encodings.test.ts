/** Charsets with positions in the middle of files: started at the end, after rotations, in parts, and with hostile bytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scenarios } from './scenario.ts';
import { steps } from './steps.ts';
import { TailRig } from './tail-rig.ts';

const le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const be = (text: string): Buffer => le(text).swap16();

/** The text of each event; the kernel would drop a CR at its end. */
const eventsOf = ({ events }: TailRig): string[] => events.map((text) => text.replace(/\r$/, ''));

// In these characters' units a byte, or two bytes of neighbours, look like a newline.
const TRAPS = 'ਊĊ\u0a00Ċ';

test.each([
  ['utf-16le with a mark', le('\ufeff'), le, {}],
  ['utf-16be with a mark', be('\ufeff'), be, {}],
  ['utf-16le by name', Buffer.alloc(0), le, { charset: 'utf-16le' }],
  ['utf-16be by name', Buffer.alloc(0), be, { charset: 'utf-16be' }],
  ['utf-16le with a mark against its name', le('\ufeff'), le, { charset: 'latin1' }],
  ['utf-8 with a mark', Buffer.from('\ufeff'), (text: string) => Buffer.from(text), {}],
])('start_at: end begins at a line of %s', async (_, mark, encode, options) => {
  for (const [old, begun] of [
    ['old\n', `half ${TRAPS} `],
    [`${TRAPS}\n`, TRAPS],
    ['x\n'.repeat(50_000), `${TRAPS}${'y'.repeat(40_000)}`],
    ['', TRAPS],
  ] as const) {
    const rig = new TailRig({ startAt: 'end', ...options });
    await rig.play`
      write a.log ${Buffer.concat([mark, encode(`${old}${begun}`)])}; start; drain; no-events
      append a.log ${encode(`rest\r\nnew ${TRAPS}\n`)}; drain
    `;
    expect(eventsOf(rig)).toEqual([`${begun}rest`, `new ${TRAPS}`]);
    await rig.play`commit; start; append a.log ${encode('newer\n')}; drain; events newer`;
  }
});

test('start_at: end in half a code unit goes on with the whole one', async () => {
  const rig = new TailRig({ startAt: 'end' });
  const bytes = le(`\ufeffold\n${TRAPS}\nlast\n`);
  const cut = 2 + 2 * 'old\n'.length + 3;
  await rig.play`write a.log ${bytes.subarray(0, cut)}; start; drain; append a.log ${bytes.subarray(cut)}; drain; events ${[TRAPS]} last`;
});

test.each([
  ['utf-16', le('\ufeff'), le, '😀'],
  ['utf-8', Buffer.alloc(0), (text: string) => Buffer.from(text), '€'],
])('start_at: end inside of a line over the limit tears no character of %s', async (_, mark, encode, character) => {
  for (let cut = 1; cut < 5; cut += 1) {
    const rig = new TailRig({ startAt: 'end', maxEventBytes: 1024 });
    const bytes = Buffer.concat([mark, encode(character.repeat(2000))]);
    await rig.play`
      write a.log ${bytes.subarray(0, bytes.length - cut)}; start; drain
      append a.log ${Buffer.concat([bytes.subarray(bytes.length - cut), encode('\nnext\n')])}; drain
    `;
    const events = rig.events;
    expect(events.at(-1)).toBe('next');
    expect(events.join('')).not.toContain('\ufffd');
  }
});

const NEXT = be('\ufefffive\nsix ü\n');
const [FIRST, SECOND] = [le(`\ufeffone ${TRAPS}\ntwo\n`), le('three\nfour')];
scenarios({
  'files in UTF-16 survive a rotation by rename': steps`
    write a.log ${FIRST}; start; drain; append a.log ${SECOND}; mv a.log a.log.1; write a.log ${NEXT}; drain; pass 12
    events-any ${[`one ${TRAPS}`]} two three four five "six ü"; lost 0`,
  'files in UTF-16 survive a rotation by copytruncate': steps`
    write a.log ${FIRST}; start; drain; append a.log ${SECOND}; scan; cp a.log a.log.1; cut a.log; append a.log ${NEXT}; drain; pass 12
    events-any ${[`one ${TRAPS}`]} two three four five "six ü"; lost 0`,
  'files in UTF-16 survive a rotation by rename while the source is stopped': steps`
    write a.log ${FIRST}; start; drain; events ${[`one ${TRAPS}`]} two; append a.log ${SECOND}; mv a.log a.log.1; write a.log ${NEXT}; commit
    start; drain; pass 12; events-any three four five "six ü"; lost 0`,
  'files in UTF-16 survive a rotation by copytruncate while the source is stopped': steps`
    write a.log ${FIRST}; start; drain; events ${[`one ${TRAPS}`]} two; append a.log ${SECOND}; cp a.log a.log.1; cut a.log
    append a.log ${NEXT}; commit; start; drain; pass 12; events-any three four five "six ü"; lost 0`,
});

test('parts of lines in UTF-16 keep their numbers over turns and restarts, beside files in UTF-8', async () => {
  const rig = new TailRig({ maxEventBytes: 1024, onOversize: 'split' });
  const long = `ਊ${'Ċ'.repeat(1500)}`;
  await rig.play`write a.log ${be(`\ufeffshort\n${long}`)}; write b.log ${`plain ${'z'.repeat(3000)}`}`;
  const parts = (): unknown[] =>
    rig.lane.blocks.flatMap(({ shape, single }) =>
      single?.marks
        ? [[(shape.wrapFields['file'] as string).slice(-5), single.marks['part'], single.marks['part_last']]]
        : [],
    );
  await rig.play`start; drain`;
  const first = parts();
  await rig.play`commit; start; append a.log ${be('\nnext\n')}; append b.log "" next; drain`;
  const all = [...first, ...parts()] as [string, number, boolean | undefined][];
  for (const name of ['a.log', 'b.log']) {
    const own = all.filter(([file]) => file === name);
    expect(own.map(([, part]) => part)).toEqual(own.map((_, n) => n + 1));
    expect(own.map(([, , last]) => last === true)).toEqual(own.map((_, n) => n === own.length - 1));
    expect(own.length).toBeGreaterThan(2);
  }
});

test.each([
  ['nothing but CRs', Buffer.from('a\rb\rc\r'), ['a\rb\rc']],
  ['NULs', Buffer.from('\0\0a\0\n\0\n'), ['\0\0a\0', '\0']],
  ['a mark in its middle', Buffer.from('a\n\ufeffb\n'), ['a', '\ufeffb']],
  ['two marks', Buffer.from('\ufeff\ufeffa\n'), ['\ufeffa']],
  ['a mark and nothing else', Buffer.from('\ufeff'), []],
  ['a mark and an empty line', Buffer.from('\ufeff\na\n'), ['a']],
  ['a mark of UTF-16 and half a unit', Buffer.concat([le('\ufeffab\n'), Buffer.of(0x41)]), ['ab', '\ufffd']],
  ['half of a mark', Buffer.of(0xff), ['\ufffd']],
  ['lone surrogates in UTF-16', le('\ufeff\ud800a\n\udc00\n'), ['\ufffda', '\ufffd']],
])('file of %s is read whole, once', async (_, bytes, expected) => {
  const rig = new TailRig({ once: true });
  await rig.play`write a.log ${bytes}; start; run`;
  expect(eventsOf(rig)).toEqual(expected);
  expect(rig.source.stats.readBytes).toBe(bytes.length);
  await rig.play`commit; start; run`;
  expect(rig.lane.blocks).toEqual([]);
});

test('characters of UTF-8, shift_jis and gb18030 that lie over the ends of reads and turns stay whole', async () => {
  for (const [charset, line, text] of [
    ['utf-8', Buffer.from('€'.repeat(100)), '€'.repeat(100)],
    ['shift_jis', Buffer.from('\x95\x5c'.repeat(151), 'latin1'), '表'.repeat(151)],
    ['gb18030', Buffer.from('\x81\x30\x89\x38'.repeat(75), 'latin1'), undefined],
  ] as const) {
    const rig = new TailRig({ charset });
    const count = 20_000;
    writeFileSync(
      rig.path('a.log'),
      Buffer.concat(Array.from({ length: count }, () => Buffer.concat([line, Buffer.of(10)]))),
    );
    await rig.start();
    await rig.drain();
    const events = new Set(rig.events);
    expect(events.size).toBe(1);
    expect(rig.lane.count).toBe(count);
    if (text !== undefined) expect([...events]).toEqual([text]);
    expect(readFileSync(rig.path('a.log')).length).toBe(rig.source.stats.readBytes);
  }
});

// Symptom: UTF-16 without a mark was stored with a NUL beside each character, line ends torn, and no word of it.
test('file that looks like UTF-16 without a byte order mark is named, with the charset that it is likely in', async () => {
  const rig = new TailRig();
  await rig.play`
    write le.log ${le('one line of text\r\n')}; write be.log ${be('one line of text\r\n')}
    write marked.log ${le('\ufeffone line of text\r\n')}; write plain.log "one line of text"
    write hole.log ${`${'\0'.repeat(100)}one line of text\n`}; start; drain
  `;
  const said = rig
    .said(/looks like UTF-16/)
    .map(({ level, fields }) => `${level} ${String(fields['path'])} ${String(fields['charset'])}`);
  expect(said.toSorted()).toEqual([`warn ${rig.path('be.log')} utf-16be`, `warn ${rig.path('le.log')} utf-16le`]);
  const named = new TailRig({ charset: 'utf-16le' });
  writeFileSync(named.path('le.log'), le('one line of text\r\n'));
  await named.start();
  await named.drain();
  expect(named.said(/looks like UTF-16/)).toEqual([]);
});
