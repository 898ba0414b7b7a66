/** A journal that entries are added to. */
import { createKernel } from '../../../src/kernel/kernel.ts';
import { createJournaldSource } from '../../../src/sources/journald/source.ts';
import { Journal, lacksJournal } from '../../support/journal.ts';
import { journaldSourceConfig } from '../../support/source-config.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { createTestContext } from '../source-context.ts';
import type { Subject, Subjects } from './subject.ts';

function journaldSubject(): Subject {
  const journal = new Journal(makeTree({}));
  const kernel = createKernel(64 * 1024 * 1024);
  const context = createTestContext({ reserve: (bytes) => kernel.reserve(bytes) });
  const source = createJournaldSource(journaldSourceConfig(journal.folder), context, kernel);
  const send = (text: string): void => {
    const lines = text.split('\n').filter((line) => line !== '');
    journal.add(...lines.map((line) => ({ MESSAGE: line.replace('journal: ', '') })));
  };
  // The prefix tells the suite that the text is an event's message.
  return { source, context, prefix: 'journal: ', rest: '', send };
}

export const subjects: Subjects = lacksJournal === undefined ? { journald: journaldSubject } : {};

/** Named for the program that they lack. */
export const skipped = lacksJournal === undefined ? [] : [`journald (${lacksJournal})`];
