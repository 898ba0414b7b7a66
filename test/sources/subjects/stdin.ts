/** A stream in place of standard input. */
import { PassThrough } from 'node:stream';
import { createStdinSource } from '../../../src/sources/stdin/stdin.ts';
import { plainLineConfig } from '../../support/source-config.ts';
import { createTestContext } from '../source-context.ts';
import type { Subject, Subjects } from './subject.ts';

function stdinSubject(): Subject {
  const logsLoss = 'error: stopped before all that was read from standard input was accepted';
  const context = createTestContext();
  const input = new PassThrough();
  const source = createStdinSource({ ...plainLineConfig, id: 'pipe' }, context, { input });
  return {
    source,
    context,
    prefix: '',
    rest: 'rest',
    isReadFirst: true,
    logsLoss,
    send: (text) => void input.write(text),
  };
}

export const subjects: Subjects = { stdin: stdinSubject };
