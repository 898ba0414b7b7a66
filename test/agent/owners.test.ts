/** Whose marks the events of a source move where `to_dataset` says where they go. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownersOf } from '../../src/agent/build/owners.ts';
import { configOf, configWith } from '../config/reading.ts';
import { makeTree } from '../support/temp-tree.ts';

test('owners follow what a script says, not where it lies', () => {
  const folder = makeTree({});
  mkdirSync(join(folder, 'moved'));
  const ownersWith = (path: string, content: string): readonly string[] => {
    const file = join(folder, path);
    writeFileSync(file, content);
    chmodSync(file, 0o600);
    const config = configOf(
      configWith({ source: `transform: {script: ${file}}`, agent: 'transform: to_dataset(kind)' }),
    );
    return ownersOf(config, config.sources[0]!.id);
  };
  const first = ownersWith('shape.ts', 'export default (event) => event;');
  expect(first).toHaveLength(1);
  expect(ownersWith('moved/other.ts', 'export default (event) => event;')).toEqual(first);
  expect(ownersWith('shape.ts', 'export default (event) => [event];')).not.toEqual(first);
});
