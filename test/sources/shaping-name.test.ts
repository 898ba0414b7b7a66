/** What of a configuration is part of the digest of events: with another text, what a data folder holds would get new keys. */
import { expect, test } from 'vitest';
import { loadConfigText } from '../../src/config/load/load.ts';
import { loadShaping } from '../../src/sources/framing/line-shaping.ts';
import { readsLines } from '../../src/sources/registry.ts';

const NAMES: Readonly<Record<string, string>> = {
  'format: csv, csv: {columns: [x, y], delimiter: ";"}, types: {y: int, x: text}, time: {timezone: UTC}':
    '["csv","utf-8",null,null,{"maxLines":10000,"maxBytes":1048576},{"columns":["x","y"],"delimiter":";","optional":0},null,{"kind":"auto","timezone":"UTC"},false,[],{"y":"int","x":"text"},false]',
  "multiline: {continue: '^x', timeout: 3s, max_lines: 7}, time: {timezone: UTC, field: ts}":
    '["auto","utf-8","continue","^x",{"maxLines":7,"maxBytes":1048576},{"delimiter":","},null,{"kind":"given","field":"ts","format":"auto","timezone":"UTC"},false,[],{},false]',
  "formats: [combined, {regex: '(?<a>.)'}], parse_json: true, time: read":
    '["auto","utf-8",null,null,null,{"delimiter":","},null,{"kind":"read"},false,[{"format":"combined"},{"format":"regex","regex":"(?<a>.)"}],{},true]',
};

test.each(Object.entries(NAMES))('digest of events is that of the release before for %s', async (keys, name) => {
  const sink = 'type: ingest, url: "http://127.0.0.1:1", dataset: logs';
  const [source] = loadConfigText(
    `sources: {app: {type: file, include: [/a.log], ${keys}}}\nsinks: {store: {${sink}}}`,
    {},
  ).sources;
  expect(source && readsLines(source) && (await loadShaping(source)).name).toBe(name);
});
