/** A file that is appended to. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileSource } from '../../../src/sources/file/source.ts';
import { fileSourceConfig } from '../../support/source-config.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { createTestContext } from '../source-context.ts';
import type { Subject, Subjects } from './subject.ts';

function fileSubject(): Subject {
  const path = join(makeTree({}), 'a.log');
  writeFileSync(path, '');
  const context = createTestContext();
  const source = createFileSource(fileSourceConfig(path, { scanIntervalMs: 10 }), context);
  return { source, context, prefix: '', rest: '', send: (text) => appendFileSync(path, text) };
}

export const subjects: Subjects = { file: fileSubject };
