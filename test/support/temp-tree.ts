/** Small trees of files for tests: made in a fresh folder, removed when the test ends. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, onTestFinished, test as base } from 'vitest';

/** Makes a folder with these files (path → text) and returns its path. */
export function makeTree(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = mkdtempSync(join(tmpdir(), 'tailrace-test-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Call in a suite: a folder that is there while its tests run. */
export function suiteFolder(): string {
  const folder = join(tmpdir(), `tailrace-test-${crypto.randomUUID().slice(0, 8)}`);
  beforeAll(() => mkdirSync(folder, { mode: 0o700 }));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Tests that begin with an empty folder. */
export const test = base.extend('folder', () => makeTree({}));
