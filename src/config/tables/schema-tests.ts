/** The fields of `tests`, which `tailrace test` runs. */
import { field, type Table } from '../fields/field.ts';
import { anyText, list } from '../fields/kinds.ts';
import { expectedEvent, groupList, sampleLine } from '../fields/kinds-tests.ts';

const testTable = {
  source: field(anyText, { required: true, example: 'app', doc: 'the source that reads the lines' }),
  sink: field(anyText, { doc: 'the sink whose events are expected; default: the first one that the source feeds' }),
  file: field(anyText, { doc: 'the path of the file that the lines are of, for `file` and `path_fields`' }),
  input: field(list(sampleLine, { filled: true, example: '[\'{"level":"debug"}\']' }), {
    required: true,
    example: '[\'{"level":"debug"}\']',
    doc: 'the lines',
  }),
  expect: field(list(expectedEvent, { filled: false, example: '[{level: info}]' }), {
    required: true,
    example: '[{level: info}]',
    doc: 'the events that they become, in order',
  }),
} satisfies Table;

export const testList = groupList(testTable);
