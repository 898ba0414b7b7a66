/**
 * Programs that write over what they wrote: a footer (XML, JSON arrays), a counter in the header, or what cuts the beginning of a file out.
 * Symptom: the whole file was sent again for each record, under new keys. Cause: any change of the head, or of the bytes before the
 * position, counted as another file.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startRig, type TailRig } from './tail-rig.ts';

const rows = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => `<Record id="${from + n}" user="u${(from + n) % 7}"/>`);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Writes over the file's bytes from `at` on, in place. */
function put(path: string, text: string, at: number): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, text, at);
  closeSync(fd);
}

/** Writes a record where `footer` is, and that behind it. */
function insert(path: string, record: string, footer: string): void {
  put(path, record + footer, readFileSync(path).length - footer.length);
}

const LOOKS: Readonly<Record<string, (rig: TailRig) => Promise<void>>> = {
  'at once': (rig) => rig.drain(),
  'after it was closed': (rig) => rig.pass(15),
};
const counted = (texts: readonly string[], lines: readonly string[]): Record<string, number> =>
  Object.fromEntries(lines.map((line) => [line, texts.filter((text) => text === line).length]));
const once = (lines: readonly string[]): Record<string, number> => Object.fromEntries(lines.map((line) => [line, 1]));

test.for(Object.keys(LOOKS))(
  'records that are written over a footer arrive once, and no line before them again, looked at %s',
  async (look) => {
    const rig = await startRig();
    const path = rig.path('a.log');
    const lines = rows(1020);
    writeFileSync(path, `<?xml?>\n<Audit>\n${textOf(lines)}</Audit>\n`);
    await LOOKS[look]!(rig);
    for (let n = 0; n < 20; n += 1) {
      lines.push(`<Record id="late ${n}"/>`);
      insert(path, `${lines.at(-1)}\n`, '</Audit>\n');
      await LOOKS[look]!(rig);
    }
    expect(counted(rig.texts, ['<?xml?>', '<Audit>', ...lines])).toEqual(once(['<?xml?>', '<Audit>', ...lines]));
    expect(rig.texts).toHaveLength(2 + lines.length + 21);
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
    expect(rig.said(/changed where it was read/)).toHaveLength(1);
  },
);

test('elements that are added to a JSON array arrive once', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const element = (n: number): string => `{"n":${n},"text":"element ${n}"}`;
  writeFileSync(path, `[\n${Array.from({ length: 200 }, (_, n) => element(n)).join(',\n')}\n]\n`);
  await rig.drain();
  for (let n = 200; n < 220; n += 1) {
    insert(path, `,\n${element(n)}\n]\n`, '');
    const size = readFileSync(path).length;
    put(path, `,\n${element(n)}\n]\n`, size - 2 * `,\n${element(n)}\n]\n`.length + `,\n${element(n)}`.length);
    truncateSync(path, size - 3);
    await rig.drain();
  }
  const ns = rig.texts.flatMap((text) => /"n":(\d+)/.exec(text)?.slice(1) ?? []);
  expect(new Set(ns).size).toBe(220);
  // Each time the one before it got its comma.
  expect(ns.length).toBeLessThanOrEqual(220 + 21);
});

test('counter in the first line sends no other line again', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const lines = rows(211);
  writeFileSync(path, `count=000211\n${textOf(lines)}`);
  await rig.drain();
  for (let n = 0; n < 10; n += 1) {
    lines.push(`<Record id="late ${n}"/>`);
    put(path, String(212 + n).padStart(6, '0'), 6);
    put(path, `${lines.at(-1)}\n`, readFileSync(path).length);
    await rig.drain();
  }
  expect(counted(rig.texts, lines)).toEqual(once(lines));
  expect(rig.texts).toHaveLength(1 + lines.length);
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
});

test.for([
  ['-p', '0', 4096 * 5],
  ['-p', '0', 4096 * 60],
  ['-c', '0', 4096],
  ['-c', '0', 4096 * 40],
] as const)('lines behind what `fallocate %s` cuts out do not come again', async ([how, from, length]) => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const lines = rows(10_000);
  writeFileSync(path, textOf(lines));
  await rig.drain();
  try {
    execFileSync('fallocate', [how, '-o', from, '-l', String(length), path]);
  } catch (error) {
    // On tmpfs nothing can be cut out: then the file is as it was.
    if (how !== '-c') throw error;
  }
  for (let n = 0; n < 3; n += 1) {
    lines.push(`<Record id="late ${n}"/>`);
    put(path, `${lines.at(-1)}\n`, readFileSync(path).length);
    await rig.drain();
  }
  expect(rig.texts).toEqual(lines);
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
});

test('records that are written over a footer while the agent is stopped arrive', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const lines = rows(300);
  writeFileSync(path, `<Audit>\n${textOf(lines)}</Audit>\n`);
  await rig.play`drain; commit`;
  for (let n = 0; n < 5; n += 1) {
    lines.push(`<Record id="late ${n}"/>`);
    insert(path, `${lines.at(-1)}\n`, '</Audit>\n');
    await rig.play`drain; commit`;
  }
  insert(path, '<Record id="stopped"/>\n', '</Audit>\n');
  await rig.play`start; drain; last "</Audit>"`;
  expect(rig.texts).toContain('<Record id="stopped"/>');
  expect(rig.texts.length).toBeLessThan(20);
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
});

test('file of which too little stays as it was is read from its beginning once a minute, and loses nothing by that', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const lines = rows(3);
  const write = (): void => writeFileSync(path, `${'-'.repeat(400)}\n${textOf(lines)}<end of ${lines.length}>\n`);
  write();
  await rig.drain();
  for (let n = 0; n < 30; n += 1) {
    lines.push(`${'x'.repeat(60)} ${n}`);
    write();
    await rig.pass(1);
  }
  const before = rig.texts.filter((text) => text.startsWith('-')).length;
  expect(before).toBeLessThanOrEqual(2);
  await rig.pass(90);
  expect(lines.filter((line) => !rig.texts.includes(line))).toEqual([]);
  expect(rig.texts.filter((text) => text.startsWith('-')).length).toBeLessThanOrEqual(before + 1);
  expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
});

test.for(['*.log', '*.log*'])(
  'file that is truncated and refilled is read from its beginning, with %s',
  async (glob) => {
    const rig = await startRig({ glob });
    const path = rig.path('a.log');
    const generations = ['first', 'second', 'third'].map((name) =>
      Array.from({ length: 200 }, (_, n) => `${name} generation, row ${n}`),
    );
    for (const [n, lines] of generations.entries()) {
      if (n > 0) writeFileSync(`${path}.${n}`, readFileSync(path));
      // In the same inode, and longer than before.
      writeFileSync(
        path,
        textOf(['banner of all generations', ...lines, ...Array.from({ length: n * 20 }, () => `more of ${n}`)]),
      );
      await rig.drain();
    }
    await rig.pass(80);
    for (const lines of generations) expect(counted(rig.texts, lines)).toEqual(once(lines));
  },
);

test('file of lines that are all alike is read from its beginning when it is truncated and refilled', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  for (const name of ['one', 'two']) {
    writeFileSync(path, `begun ${name}\n${'tick tick tick tick tick\n'.repeat(200)}`);
    await rig.drain();
  }
  await rig.pass(70);
  expect(rig.texts).toHaveLength(402);
});

test('rotated file that is cut to its text after its NULs were passed over is not read again', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  writeFileSync(path, Buffer.concat([Buffer.from('one\ntwo\n'), Buffer.alloc(100_000)]));
  await rig.play`drain; mv a.log b.out; pass 30; events one two`;
  truncateSync(rig.path('b.out'), 8);
  await rig.play`pass 30; events one two; stats lostBytes=0 lagBytes=0`;
});

test.for(['of its own', 'of the original'])(
  'file beside one that is changed in place while the lane takes its lines is decided, where its last line is %s',
  async (whose) => {
    const rig = await startRig({ glob: 'a.log*' });
    const path = rig.path('a.log');
    const lines = rows(300);
    writeFileSync(path, `${textOf(lines)}</Audit>\n`);
    await rig.drain();
    lines.push(...rows(10, 300));
    insert(path, textOf(lines.slice(300)), '</Audit>\n');
    rig.lane.hold();
    const drained = rig.drain();
    await rig.lane.until(({ waiting }) => waiting > 0);
    lines.push('<Record id="late"/>');
    insert(path, '<Record id="late"/>\n', '</Audit>\n');
    const other = [...lines.slice(0, 200), ...(whose === 'of its own' ? [whose] : [])];
    writeFileSync(`${path}.1`, textOf(other));
    await rig.source.scanOnce();
    rig.lane.release();
    await drained;
    await rig.pass(15);
    const { files } = rig.source.listFiles!(9);
    expect(files.map(({ state }) => state)).toEqual(['idle', 'idle']);
    // All that a short copy holds was read.
    expect(rig.byFile['a.log.1'] ?? []).toEqual(whose === 'of its own' ? other : []);
    expect(counted(rig.byFile['a.log']!, lines)).toEqual(once(lines));
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
  },
);
