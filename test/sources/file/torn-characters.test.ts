/**
 * Characters that are written in two goes, with a pause between, and a charset that is named later. Symptom: the unfinished line was cut
 * inside a character: two U+FFFD, or in UTF-16 garbage to the end of the file.
 */
import { expect, test } from 'vitest';
import { startRig, TailRig } from './tail-rig.ts';

const le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const be = (text: string): Buffer => le(text).swap16();
const utf8 = (text: string): Buffer => Buffer.from(text);
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

const CASES = [
  ['utf-8, two bytes', 'utf-8', utf8('caf\u00e9'), utf8('\n')],
  ['utf-8, three bytes', 'utf-8', utf8('x\u20ac'), utf8('\n')],
  ['utf-8, four bytes', 'utf-8', utf8('\u{1f600}'), utf8('\n')],
  ['utf-16le', 'utf-16le', le('six\u0a00'), le('\n')],
  ['utf-16be', 'utf-16be', be('six\u0a00'), be('\n')],
  ['a pair of utf-16le', 'utf-16le', le('x\u{1f600}'), le('\n')],
  ['a pair of utf-16be', 'utf-16be', be('x\u{1f600}'), be('\n')],
  ['big5', 'big5', latin1('a\xa4\xa4\xa4\xe5'), utf8('\n')],
  ['shift_jis', 'shift_jis', latin1('\x95\x5c\x95\x5c'), utf8('\n')],
  ['euc-jp', 'euc-jp', latin1('\xc6\xfc\xcb\xdc'), utf8('\n')],
  ['gb18030, four bytes', 'gb18030', latin1('a\x81\x30\x89\x38'), utf8('\n')],
] as const;

test.for(CASES)(
  'character of %s that is written in two goes is one, wherever it is torn',
  async ([, charset, bytes, newline]) => {
    for (const options of [{ charset }, { charset, maxEventBytes: 8, onOversize: 'split' }] as const) {
      const whole = await startRig(options);
      await whole.play`append a.log ${Buffer.concat([bytes, newline])}; pass 2`;
      expect(whole.events.join('')).not.toContain('\ufffd');
      for (let cut = 1; cut < bytes.length; cut += 1) {
        const rig = await startRig(options);
        await rig.play`append a.log ${bytes.subarray(0, cut)}; pass 8; append a.log ${Buffer.concat([bytes.subarray(cut), newline])}; pass 2`;
        await rig.play`append a.log ${Buffer.concat([bytes, newline])}; pass 2`;
        expect(rig.events.join('')).toBe(whole.events.join('').repeat(2));
        expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
      }
    }
  },
);

test.for(['mv a.log b.out', 'rm a.log'])(
  'character that is never finished is given as U+FFFD after %s',
  async (end) => {
    for (const bytes of [latin1('caf\xc3'), Buffer.concat([le('\ufeffcaf'), Buffer.of(0xe9)])]) {
      const rig = await startRig();
      await rig.play`append a.log ${bytes}; pass 8; events caf`;
      await rig.run(`${end}; pass 20`);
      expect(rig.events.map((text) => text.replace(/\xc3/, '\ufffd'))).toEqual(['caf', expect.stringMatching(/^.$/)]);
      expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
    }
  },
);

test('character that is never finished is given under --once', async () => {
  const rig = new TailRig();
  await rig.play`append a.log ${latin1('caf\xc3')}; start once; run; count 1; stats lagBytes=0`;
});

test.for([
  ['utf-16le', le],
  ['utf-16be', be],
] as const)('charset %s that is named later reads every line from there on', async ([charset, encode]) => {
  const old = encode('one\ntwo\n');
  for (const begun of [0, 1, 2, 3]) {
    const rig = await startRig();
    const next = encode('three\nfour\n');
    await rig.play`append a.log ${Buffer.concat([old, next.subarray(0, begun)])}; drain; pass 8; commit`;
    await rig.start({ charset });
    await rig.play`append a.log ${next.subarray(begun)}; drain`;
    expect(rig.events.at(-1)).toBe('four');
    expect(rig.events.at(-2)).toMatch(/h?ree$/);
    expect(rig.events.join('')).not.toContain('\ufffd');
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
  }
});
