/** Recognises a log by its first lines: which preset or format fits, where its time is, which lines belong together. */
import { parseObject } from '../../json/numbers.ts';
import { beginningPattern, TIME_FORMS } from '../../core/time/forms.ts';
import { PRESET_NAMES } from '../../config/presets/preset.ts';
import { fitPresets, type PresetFit } from './fit-presets.ts';
import type { LogFile } from './look-into.ts';
import { type Choice, recogniseTime } from './recognise-time.ts';
import type { TriedEvent, Trials } from './trials.ts';

export interface Recognised {
  readonly choices: readonly Choice[];
  /** The name of the preset, or of the format; also what a source of it may be called. */
  readonly name: string;
  /** A program's own format, or one that many programs have. */
  readonly isSpecific: boolean;
  readonly hasOwnTime: boolean;
  /** Remarks that go with no key. */
  readonly remarks: readonly string[];
}

/** Of presets that fit alike and read as much, the first is taken. Keys decide among those of JSON. */
const FIRST = [
  'nginx-access',
  'nginx-error',
  'kubernetes',
  'klog',
  'postgresql',
  'syslog-file',
  'apache-error',
  'wildfly',
  'log4j',
  'python',
];
const BY_KEYS = new Set(['pino', 'bunyan', 'zap', 'docker']);
/** The same as others, by the program alone. */
const BY_NAME = new Set(['apache-access', 'apache-vhost', 'auth', 'logback']);
const TEXT_PRESETS = [
  ...FIRST,
  ...PRESET_NAMES.filter((name) => !FIRST.includes(name) && !BY_KEYS.has(name) && !BY_NAME.has(name)),
];
const GENERIC = new Set(['w3c', 'log4j', 'python', 'logfmt', 'pino', 'bunyan', 'zap']);
const LEAST_SHARE = 0.8;

export async function recognise(file: LogFile, trials: Trials): Promise<Recognised> {
  const auto = await trials.run('format: auto', file.path, file.head);
  const objects = auto.filter(({ text }) => isObject(text));
  const preset =
    w3cOf(file) ??
    (objects.length >= auto.length * LEAST_SHARE ? jsonPreset(objects, auto.length) : await textPreset(file, trials));
  const choices: Choice[] = preset
    ? [preset.choice]
    : objects.length >= auto.length * LEAST_SHARE
      ? [jsonAuto(objects.length, auto.length)]
      : [];
  const csv = preset === undefined && choices.length === 0 ? await recogniseCsv(file, trials) : [];
  choices.push(...csv);
  const isText = preset === undefined && choices.length === 0;
  if (isText)
    choices.push({
      entry: 'format: auto',
      reason: 'no preset fits: JSON lines pass through, each other line is a message',
    });
  const multiline = isText ? joinedLines(auto) : undefined;
  if (multiline) choices.push(multiline);
  const keys = choices.map(({ entry }) => entry).join(', ');
  const time = await recogniseTime(file, keys, trials);
  return {
    choices: [...choices, ...time.choices],
    name: preset?.name ?? (csv.length > 0 ? 'csv' : isText ? 'text' : 'json'),
    isSpecific: preset !== undefined && !GENERIC.has(preset.name),
    hasOwnTime: time.hasOwnTime,
    remarks: time.remarks,
  };
}

interface Preset {
  readonly name: string;
  readonly choice: Choice;
}

const isObject = (text: string): boolean => text.startsWith('{') && parseObject(text) !== undefined;

function jsonAuto(objects: number, lines: number): Choice {
  return {
    entry: 'format: auto',
    reason: `${objects} of the first ${lines} lines are JSON objects, which pass through as they are`,
  };
}

/** By the header that names the columns. */
function w3cOf({ head }: LogFile): Preset | undefined {
  const text = head.toString('latin1');
  const [, fields] = /^#fields:?[ \t](.{0,2000})$/im.exec(text) ?? [];
  if (fields === undefined || !text.startsWith('#')) return undefined;
  const isIis = /\bsc-win32-status\b/.test(fields) || /^#Software: Microsoft Internet Information Services/m.test(text);
  const reason = 'a line with #Fields names the columns';
  return isIis
    ? { name: 'iis', choice: { entry: 'preset: iis', reason } }
    : { name: 'w3c', choice: { entry: 'format: w3c', reason } };
}

/** By the keys that logging libraries always write. */
function jsonPreset(objects: readonly TriedEvent[], lines: number): Preset | undefined {
  if (objects.length < lines) return undefined;
  const all = (test: (event: Record<string, unknown>) => boolean) =>
    objects.every(({ text }) => test(JSON.parse(text) as Record<string, unknown>));
  const named = (name: string, keys: string): Preset => ({
    name,
    choice: { entry: `preset: ${name}`, reason: `all of the first ${lines} lines are JSON objects with ${keys}` },
  });
  if (all(({ log, stream, time }) => typeof log === 'string' && typeof stream === 'string' && typeof time === 'string'))
    return named('docker', 'log, stream and time');
  if (
    all(
      ({ v, name, level, pid }) =>
        v === 0 && typeof name === 'string' && typeof level === 'number' && typeof pid === 'number',
    )
  )
    return named('bunyan', 'v, name, level and pid');
  if (all(({ t, s, c, msg }) => typeof t === 'object' && [s, c, msg].every((each) => typeof each === 'string')))
    return named('mongodb', 't, s, c and msg');
  if (all(({ level, time }) => typeof level === 'number' && typeof time === 'number'))
    return named('pino', 'level and time as numbers');
  if (all(({ level, ts, msg }) => typeof level === 'string' && ts !== undefined && typeof msg === 'string'))
    return named('zap', 'level, ts and msg');
  return undefined;
}

async function textPreset(file: LogFile, trials: Trials): Promise<Preset | undefined> {
  const { lines, presets } = await fitPresets(TEXT_PRESETS, file.path, file.head, trials);
  const [best] = presets;
  if (!best || best.lines < lines * LEAST_SHARE) return undefined;
  const name = presetFor(best, file.path);
  return { name, choice: { entry: `preset: ${name}`, reason: `${best.lines} of the first ${lines} lines fit` } };
}

/** Presets that differ by the program alone. */
function presetFor({ name, names }: PresetFit, path: string): string {
  if (name === 'nginx-access' && names.has('vhost')) return 'apache-vhost';
  if (name === 'nginx-access' && /apache|httpd/i.test(path)) return 'apache-access';
  if (name === 'syslog-file' && /\/(?:auth\.log|secure)$/.test(path)) return 'auth';
  return name;
}

/** How programs begin a line with a time, as the pattern of a first line: the forms of the kernel, at once or after a level. */
const TIMES = [String.raw`^\[?`, String.raw`^(?:\[?[A-Z]{3,8}\]?:? )\[?`].flatMap((head) =>
  [...new Set(TIME_FORMS.map(beginningPattern))].map((pattern) => head + pattern),
);

/** Lines that go on with an exception, of Java and Python. */
const TRACE_ENDS = [
  'Caused by: ',
  String.raw`[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)(?:: |$)`,
  'During handling of the above ',
];

/** Lines without a time after one with a time, or indented lines, belong to the line before. */
function joinedLines(lines: readonly TriedEvent[]): Choice | undefined {
  const [first] = lines;
  const later = lines.filter(({ hasOwnTime, text }) => !hasOwnTime && !isObject(text)).length;
  const pattern =
    first?.hasOwnTime === true && later > 0 ? TIMES.find((time) => new RegExp(time).test(first.text)) : undefined;
  if (pattern !== undefined && lines.every(({ text, hasOwnTime }) => hasOwnTime === new RegExp(pattern).test(text)))
    return {
      entry: `multiline: {start: '${pattern}'}`,
      reason: `${later} of the first ${lines.length} lines carry no time: they belong to the line before`,
    };
  const indented = lines.filter(({ text }) => /^\s+\S/.test(text)).length;
  if (indented === 0 || first === undefined || /^\s/.test(first.text) || indented === lines.length - 1)
    return undefined;
  // The end of a trace is not indented.
  const ends = TRACE_ENDS.filter((end) =>
    lines.some(({ text }, at) => new RegExp(`^${end}`).test(text) && /^\s/.test(lines[at - 1]?.text ?? '')),
  );
  return {
    entry:
      ends.length === 0
        ? String.raw`multiline: {continue: '^\s'}`
        : `multiline: {continue: '^(?:\\s|${ends.join('|')})'}`,
    reason: `${indented} of the first ${lines.length} lines are indented: they belong to the line before`,
  };
}

const DELIMITERS: readonly (readonly [character: string, key: string | undefined])[] = [
  [',', undefined],
  [';', "csv: {delimiter: ';'}"],
  ['\t', 'csv: {delimiter: tab}'],
  ['|', "csv: {delimiter: '|'}"],
];
const NAME = /^[A-Za-z_][\w .()/#%-]{0,63}$/;
const LEAST_COLUMNS = 3;
const LEAST_RECORDS = 2;

/** No choices for other files. */
async function recogniseCsv({ path, head }: LogFile, trials: Trials): Promise<readonly Choice[]> {
  const [header = ''] = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  for (const [delimiter, key] of DELIMITERS) {
    const names = header.split(delimiter).map((name) => name.replace(/^"(.*)"$/, '$1').trim());
    if (names.length < LEAST_COLUMNS || new Set(names).size < names.length || !names.every((name) => NAME.test(name)))
      continue;
    const records = await trials.run(key === undefined ? 'format: csv' : `format: csv, ${key}`, path, head);
    const fitting = records.filter(({ event }) => event['parse_error'] === undefined).length;
    if (fitting < LEAST_RECORDS || fitting < records.length * 0.8) continue;
    const reason = `the first line names ${names.length} columns, and ${fitting} of ${records.length} records have as many`;
    return [
      { entry: 'format: csv', reason },
      ...(key === undefined ? [] : [{ entry: key, reason: 'what stands between the values' }]),
    ];
  }
  return [];
}
