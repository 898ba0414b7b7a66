import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkClasses, REASONS } from '../../scripts/check-classes.ts';
import { makeTree } from '../support/temp-tree.ts';

const sender = `import type { Log } from './log.ts';
export interface SenderOptions { readonly log: Log; readonly a: string; readonly b: number; readonly c: boolean; readonly d: () => void }
export class Sender {
  readonly #log: Log;
  constructor(options: SenderOptions) { this.#log = options.log; }
  note(text: string): void { this.#log.write(text, 'sender'); }
}
`;
const log = 'export class Log {\n  write(text: string, by: string): void { console.log(text, by); }\n}\n';
const made = (...lines: string[]): string =>
  [
    "import { Sender, type SenderOptions } from './sender.ts';",
    "import { Log } from './log.ts';",
    'declare const options: SenderOptions; declare const rest: Omit<SenderOptions, "a">;',
    ...lines,
  ].join('\n');

const violationsOf = (text: string, reasons: Readonly<Record<string, string>> = {}): string[] =>
  checkClasses(makeTree({ 'src/sender.ts': sender, 'src/log.ts': log, 'src/a.ts': made(text) }), reasons);

test.each([
  ['names what it needs', 'new Sender({ ...options, log: options.log, a: "", b: 1 });'],
  ['hands no bag on', 'const { log, a, b, c, d } = options; new Sender({ log, a, b, c, d });'],
  [
    'is made of values, functions and lists of values besides a few objects',
    'interface Names { readonly names: readonly string[]; readonly how: How; ask(): void; readonly f: F }\n' +
      "type How = 'a' | 1 | undefined; type F = () => Log;\n" +
      `export interface AOptions extends Names { ${objects(7)} }\nexport class A { constructor(options: AOptions) {} }`,
  ],
  [
    'forwards for an interface, to a collection of its own, or with arguments of its own',
    'interface Writes { write(text: string, by: string): void }\n' +
      'export class A implements Writes { #log = new Log(); #all = new Map<string, Log>();\n' +
      'write(text: string, by: string): void { this.#log.write(text, by); }\n' +
      'get(name: string) { return this.#all.get(name); } turned(a: string, b: string) { this.#log.write(b, a); } }',
  ],
])('a class that %s is in order', (_, text) => {
  expect(violationsOf(text)).toEqual([]);
});

test.each([
  ['a bag of options', 'new Sender({ ...options, a: "" });', 'Sender gets 4 properties by a spread (log, b, c, d)'],
  ['a bag by another name', 'new Sender({ ...rest, a: "" });', 'Sender gets 4 properties'],
  ['a bag in a field', 'export class A { #o = options; b() { return new Sender({ ...this.#o }); } }', 'Sender gets 5'],
  [
    'a bag for a factory',
    'function createSender(how: SenderOptions) {}\ncreateSender({ ...rest, a: "" });',
    'createSender gets 4 properties',
  ],
  [
    'many objects',
    `export interface AOptions extends Pick<SenderOptions, 'log'> { ${objects(7)} }\nexport class A { constructor(options: AOptions) {} }`,
    'A is made of 8 objects (log, o0,',
  ],
  [
    'many objects, as parameters',
    `export class A { constructor(${objects(8).replaceAll(';', ',').replaceAll('readonly ', '')}) {} }`,
    'A is made of 8 objects (o0,',
  ],
  [
    'a forward',
    'export class A { readonly #log = new Log(); say(text: string, by: string): void { this.#log.write(text, by); } }',
    'A.say only forwards to this.#log.write',
  ],
  [
    'a forward of no arguments',
    'interface B { c(): string } export class A { readonly b: B; d(): string { return this.b.c(); } }',
    'A.d only forwards to this.b.c',
  ],
])('%s is found', (_, text, fault) => {
  expect(violationsOf(text)).toEqual([expect.stringContaining(fault)]);
});

test('a class with a reason is let be, and a reason that nothing needs is found', () => {
  const bag = 'new Sender({ ...options });';
  expect(violationsOf(bag, { Sender: 'made for it' })).toEqual([]);
  expect(violationsOf('', { Sender: 'made for it' })).toEqual([expect.stringContaining("'Sender' is mended")]);
});

test('the tree is in order, with few exceptions', () => {
  expect(Object.keys(REASONS).length).toBeLessThanOrEqual(10);
  expect(checkClasses(join(import.meta.dirname, '../..'))).toEqual([]);
});

function objects(count: number): string {
  return Array.from({ length: count }, (_, n) => `readonly o${n}: Log`).join('; ');
}

test('an exported type has a name of its own; types that stay in their files may share one', () => {
  const tree = (a: string, b: string): string => makeTree({ 'src/a.ts': a, 'src/b/b.ts': b });
  expect(checkClasses(tree('export class Place {}', 'export interface Place { a: 1 }'), {})).toEqual([
    'src/b/b.ts:1: Place is another type in src/a.ts:1; say of what it is, or make them one',
  ]);
  expect(checkClasses(tree('type Place = 1;', 'export type Place = 2;'), {})).toHaveLength(1);
  expect(checkClasses(tree('type Row = 1;', 'interface Row { a: 1 }'), {})).toEqual([]);
  expect(checkClasses(tree('export type Row = 1;', 'export const Row = 1;'), {})).toEqual([]);
});
