/** What `init` makes of the times of a log, and the zones that it and `check` name. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, expect, test } from 'vitest';
import { CaseChecks } from '../../src/cli/check/check-cases.ts';
import { checkSamples } from '../../src/cli/check/check-samples.ts';
import { recognise } from '../../src/cli/init/recognise.ts';
import { Trials } from '../../src/cli/init/trials.ts';
import { readConfig } from '../../src/config/load/load.ts';
import { makeTree } from '../support/temp-tree.ts';

async function recognised(text: string) {
  const path = join(makeTree({ 'app.log': text }), 'app.log');
  const trials = new Trials();
  onTestFinished(() => trials.close());
  const bytes = Buffer.from(text);
  const file = { kind: 'log', path, size: bytes.length, mtimeMs: 0, head: bytes, tail: bytes } as const;
  const { choices, remarks } = await recognise(file, trials);
  return { entries: choices.map(({ entry }) => entry), remarks };
}

const IST = ['2022-07-15 23:04:27 IST one', '2022-07-15 23:04:28 IST two', '2022-07-15 23:04:29 BRT three', ''].join(
  '\n',
);

// Symptom: an ERROR of the night was glued to an event of the evening. Cause: the hour of MariaDB is padded with a space, which the pattern did not know.
test('init joins lines at hours behind a space', async () => {
  const lines = ['2019-10-16 23:59:01 a', '2019-10-17  8:25:43 b', 'more of b', '2019-10-17 10:25:43 c', ''];
  expect((await recognised(lines.join('\n'))).entries).toContain(
    String.raw`multiline: {start: '^\[?\d{4}-\d\d-\d\d[T ] ?\d\d?:\d\d'}`,
  );
});

test('init takes W3C logs by their header, whose times are UTC', async () => {
  const lines = [
    '#Software: x',
    '#Version: 1.0',
    '#Fields: date time s-ip cs-method',
    '2018-01-01 08:09:10 127.0.0.1 GET',
    '2018-01-01 08:09:11 127.0.0.1 GET',
    '',
  ];
  expect((await recognised(lines.join('\n'))).entries).toEqual(['format: w3c']);
});

test('init names the zones in front of which times are not taken', async () => {
  expect((await recognised(IST)).remarks).toEqual([expect.stringMatching(/IST, BRT.*timezone/)]);
});

test('check names them, too, unless the zone is configured', async () => {
  const folder = makeTree({ 'app.log': IST });
  const warningsIn = async (timezone: string): Promise<string[]> => {
    const file = join(folder, 'tailrace.yaml');
    const source = `{type: file, include: [${join(folder, '*.log')}], time: {timezone: ${timezone}}}`;
    writeFileSync(
      file,
      `sources: {app: ${source}}\nsinks: {a: {type: ingest, url: "http://127.0.0.1:9", dataset: d, token: t}}\n`,
    );
    const read = readConfig(file, {});
    return (await checkSamples(read.config!, read, new CaseChecks())).map(({ message }) => message);
  };
  expect(await warningsIn('UTC')).toEqual([expect.stringMatching(/^times in front of `IST` and `BRT` are not taken/)]);
  expect(await warningsIn('Asia/Kolkata')).toEqual([expect.stringMatching(/^times in front of `BRT` are not taken/)]);
});
