/** A folder for what all files of a run share: made before the first of them, removed after the last. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runFolder: string;
  }
}

let folder: string;

export function setup({ provide }: TestProject): void {
  folder = mkdtempSync(join(tmpdir(), 'tailrace-run-'));
  provide('runFolder', folder);
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
