/** Recognises CSV by its header: names in the first line, and as many values in each other one. */
import type { LogFile } from './look-into.ts';
import type { Choice } from './recognise-time.ts';
import type { Trials } from './trials.ts';

const DELIMITERS: readonly (readonly [character: string, key: string | undefined])[] = [
  [',', undefined],
  [';', "csv: {delimiter: ';'}"],
  ['\t', 'csv: {delimiter: tab}'],
  ['|', "csv: {delimiter: '|'}"],
];
const NAME = /^[A-Za-z_][\w .()/#%-]{0,63}$/;
const LEAST_COLUMNS = 3;
const LEAST_RECORDS = 2;

/** No choices where it is none. */
export async function recogniseCsv({ path, head }: LogFile, trials: Trials): Promise<readonly Choice[]> {
  const [header = ''] = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  for (const [delimiter, key] of DELIMITERS) {
    const names = header.split(delimiter).map((name) => name.replace(/^"(.*)"$/, '$1').trim());
    if (names.length < LEAST_COLUMNS || new Set(names).size < names.length || !names.every((name) => NAME.test(name))) continue;
    const records = await trials.run(key === undefined ? 'format: csv' : `format: csv, ${key}`, path, head);
    const fitting = records.filter(({ event }) => event['parse_error'] === undefined).length;
    if (fitting < LEAST_RECORDS || fitting < records.length * 0.8) continue;
    const reason = `the first line names ${names.length} columns, and ${fitting} of ${records.length} records have as many`;
    return [{ entry: 'format: csv', reason }, ...(key === undefined ? [] : [{ entry: key, reason: 'what stands between the values' }])];
  }
  return [];
}
