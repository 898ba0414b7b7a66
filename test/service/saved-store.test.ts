/** The store of annotations and starred queries: bounds, and rows that it reads only when they are asked for. */
import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import {
  SERVICE_SAVED,
  SERVICE_SAVED_BYTES,
  SERVICE_SAVED_ITEM_BYTES,
  SERVICE_SAVED_OF_DATASET,
} from '../../src/service/limits.ts';
import { openMetadata } from '../../src/service/metadata.ts';
import { openStore } from '../../src/service/saved/store.ts';
import { tempDir } from './support.ts';

interface Item {
  readonly datasets: readonly string[];
  readonly text: string;
}

function begin(before: readonly Item[] = []) {
  const folder = tempDir();
  const metadata = openMetadata(folder, false);
  onTestFinished(() => (metadata.close(), rmSync(folder, { recursive: true })));
  const insert = metadata.db.prepare("insert into saved values ('note', ?, ?)");
  metadata.transaction(() => before.forEach((item, n) => insert.run(`old-${n}`, JSON.stringify(item))));
  const open = () =>
    openStore<Item>(metadata, { kind: 'note', word: 'note', prefix: 'n_', datasetsOf: ({ datasets }) => datasets });
  return { metadata, open, store: open() };
}
const fill = (count: number, item: (n: number) => Item): Item[] => Array.from({ length: count }, (_, n) => item(n));

test('one that is too large is refused, alone and as a change', () => {
  const { store } = begin();
  const large: Item = { datasets: [], text: 'x'.repeat(SERVICE_SAVED_ITEM_BYTES) };
  expect(() => store.create(large)).toThrow(/bytes: wanted at most/);
  const { id } = store.create({ datasets: [], text: 'x' });
  expect(() => store.update(id, large)).toThrow(/bytes: wanted at most/);
  expect(store.get(id).text).toBe('x');
});

test('so many are kept, and room comes back with a removal', () => {
  const { store } = begin(fill(SERVICE_SAVED, () => ({ datasets: [], text: '' })));
  expect(() => store.create({ datasets: [], text: '' })).toThrow(/most that this service keeps/);
  store.remove('old-5');
  expect(store.create({ datasets: [], text: 'new' }).text).toBe('new');
});

test('so many bytes are kept; what older versions kept beyond them stays, and may shrink', () => {
  const text = 'x'.repeat(SERVICE_SAVED_ITEM_BYTES - 100);
  const { store, open } = begin(fill(Math.ceil(SERVICE_SAVED_BYTES / text.length) + 3, () => ({ datasets: [], text })));
  for (const each of [store, open()]) {
    expect(() => each.create({ datasets: [], text: '' })).toThrow(/bytes already/);
    expect(() => each.update('old-1', { datasets: [], text: `${text}y` })).toThrow(/bytes already/);
    expect(each.update('old-1', { datasets: [], text: 'short' }).text).toBe('short');
  }
});

test('one dataset takes so many, and leaves the rest to others', () => {
  const { store } = begin(fill(SERVICE_SAVED_OF_DATASET, () => ({ datasets: ['full', 'other'], text: '' })));
  expect(() => store.create({ datasets: ['free', 'full'], text: '' })).toThrow(/dataset "full" has/);
  const { id } = store.create({ datasets: ['free'], text: '' });
  expect(() => store.update(id, { datasets: ['full'], text: '' })).toThrow(/dataset "full" has/);
  store.update('old-0', { datasets: ['free'], text: '' });
  expect(store.update(id, { datasets: ['full'], text: '' }).datasets).toEqual(['full']);
});

test('a page reads no more rows than it shows, in the order in which they were made', () => {
  const { store } = begin(fill(100, (n) => ({ datasets: [], text: String(n) })));
  store.update('old-3', { datasets: [], text: 'changed' });
  let asked = 0;
  const page = store.list(() => ++asked > 0, 2, 2);
  expect(page.map(({ text }) => text)).toEqual(['2', 'changed']);
  expect(asked).toBe(4);
  expect(store.list(() => true, 0)).toEqual([]);
});
