import { lchownSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect } from 'vitest';
import { check } from '../../src/cli/check/check.ts';
import { checkMachine } from '../../src/cli/check/check-machine.ts';
import { findConfig } from '../../src/config/load/find.ts';
import { readConfig } from '../../src/config/load/load.ts';
import { makeTree } from '../support/temp-tree.ts';
import { canDropPrivileges, startUnprivileged } from '../support/unprivileged.ts';
import { configWith } from './reading.ts';
import { beginning } from '../support/begin.ts';

async function run(file: string, options: { json?: boolean; colours?: boolean } = {}) {
  const [out, error]: string[][] = [[], []];
  const output = {
    out: (line: string) => void out?.push(line),
    error: (line: string) => void error?.push(line),
    colours: options.colours ?? false,
  };
  const code = await check({ config: file, json: options.json ?? false }, output);
  return { code, out, error };
}

/** A configuration in a folder that has one log file and one token file. */
function makeConfig(extra: Parameters<typeof configWith>[0] = {}): { file: string; folder: string } {
  const text = configWith({ sink: 'token_file: tok', ...extra }).replace('/var/log/*.log', 'logs/**/*.log');
  const folder = makeTree({ 't.yaml': text, 'logs/deep/a.log': 'x\n', tok: 'abc\n' });
  return { folder, file: join(folder, 't.yaml') };
}

const test = beginning(() => makeConfig(), 'file', 'folder');

describe('check', () => {
  test('says in one line what would run', async ({ file }) => {
    expect(await run(file)).toEqual({
      code: 0,
      out: [`${file} is valid: would run 1 source (app) and 1 sink (store)`],
      error: [],
    });
    const { code, out } = await run(file, { json: true });
    expect({ code, answer: JSON.parse(out?.join('') ?? '') as unknown }).toEqual({
      code: 0,
      answer: { ok: true, file, sources: 1, sinks: 1, problems: [], warnings: [] },
    });
  });

  test('names the file as the user did, in the answer as in problems', async ({ file }) => {
    const named = relative(process.cwd(), file);
    expect((await run(named)).out).toEqual([`${named} is valid: would run 1 source (app) and 1 sink (store)`]);
    const broken = relative(process.cwd(), makeConfig({ agent: 'data_dirr: x' }).file);
    expect((await run(broken)).error?.[0]).toMatch(`${broken}:1:1:`);
  });

  test('tells every problem with its place and its fix, and ends with 2', async () => {
    const { file } = makeConfig({ agent: 'data_dirr: x', source: 'max_event_bytes: 1' });
    expect(await run(file)).toEqual({
      code: 2,
      out: [],
      error: [
        `${file}:1:1: unknown key \`data_dirr\``,
        '  did you mean `data_dir`?',
        `${file}:6:22: \`max_event_bytes\`: \`1\` is smaller than 1KiB`,
        '  write a size from 1KiB to 10MiB',
        '2 problems: the configuration would not run',
      ],
    });
    const { code, out, error } = await run(file, { json: true });
    expect({ code, error }).toEqual({ code: 2, error: [] });
    expect(JSON.parse(out?.join('') ?? '')).toMatchObject({
      ok: false,
      problems: [
        { file, line: 1, column: 1, message: 'unknown key `data_dirr`', fix: 'did you mean `data_dir`?' },
        { line: 6, column: 22 },
      ],
    });
  });

  // Symptom: the file's absolute name, the fix behind the message, and nothing at all while another key was wrong.
  test('tells problems of transforms as those of keys, also beside them', async () => {
    const { file, folder } = makeConfig({
      agent: 'data_dirr: x\ntransform: {script: ./no.ts}',
      source: 'transform: |\n  where a ==\n  | extend b = toitn(c)',
      sink: 'transform: wher a',
    });
    const named = relative(process.cwd(), file);
    const { code, error } = await run(named);
    expect(code).toBe(2);
    expect(error).toEqual([
      `${named}:1:1: unknown key \`data_dirr\``,
      '  did you mean `data_dir`?',
      `${named}:2:21: the script "${folder}/no.ts" cannot be read: there is no such file`,
      "  check the path, which starts at the configuration file's folder",
      `${named}:9:7: found "|"`,
      '  wanted an expression',
      `${named}:9:20: unknown function "toitn"`,
      '  did you mean toint',
      `${named}:15:16: unknown operator "wher"`,
      expect.stringMatching(/^ {2}did you mean where; there are where, /),
      '5 problems: the configuration would not run',
    ]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('data_dirr: x\ntransform: {script: ./no.ts}\n', ''));
    expect((await run(named)).error?.join('\n')).toContain(`\n${named}:7:7: found "|"\n  wanted an expression\n`);
  });

  test('uses colours only where they are shown', async () => {
    const { file } = makeConfig({ agent: 'data_dirr: x' });
    const escape = String.fromCodePoint(27);
    expect((await run(file, { colours: true })).error?.join('\n')).toContain(escape);
    expect((await run(file)).error?.join('\n')).not.toContain(escape);
  });

  test('warns of a glob without files and of a sink without a token, and passes', async () => {
    const { file } = makeConfig({ source: 'exclude: ["a.*"]', sink: 'org_id: o' });
    const { code, error } = await run(file);
    expect(code).toBe(0);
    expect(error?.filter((line) => line.includes('warning'))).toEqual([
      expect.stringContaining(`${file}:4:15: warning: no file matches \``),
      expect.stringContaining(`${file}:7:3: warning: the sink \`store\` has no token`),
    ]);
  });

  test('warns of compressed files that match and are left out', async ({ file, folder }) => {
    writeFileSync(file, readFileSync(file, 'utf8').replace('logs/**/*.log', 'logs/**/*.log*'));
    writeFileSync(join(folder, 'logs/deep/a.log.1.gz'), 'x');
    const { code, error } = await run(file);
    expect(code).toBe(0);
    expect(error?.join('\n')).toMatch(
      /4:15: warning: 1 compressed file that `.*` matches will be left out, such as .*a\.log\.1\.gz\n +set `read_compressed: true`/,
    );
    writeFileSync(file, readFileSync(file, 'utf8').replace('type: file', 'type: file\n    read_compressed: true'));
    expect((await run(file)).error).toEqual([]);
  });

  test.skipIf(!canDropPrivileges)(
    'warns of files that match and that this user may not read',
    async ({ file, folder }) => {
      writeFileSync(join(folder, 'logs/secret.log'), 'x', { mode: 0 });
      const checked = startUnprivileged(['check', '--config', file]);
      expect(await checked.exited).toBe(0);
      expect(checked.stderr()).toMatch(
        /warning: 1 file that `.*` matches cannot be read by this user, such as .*secret\.log\n +give the user/,
      );
    },
  );

  test.each([
    [
      'logs/deep',
      /4:15: warning: `.*\/logs\/deep` is a folder, no file\n {2}write `.*\/logs\/deep\/\*\.log` for the logs in it/,
    ],
    ['/usr/', /`\/usr\/` is a folder, no file\n {2}write `\/usr\/\*\.log`/],
    [
      '~/logs/*.log',
      /4:15: warning: no file matches `.*~\/logs\/\*\.log` now\n {2}write the folder out, or `\$\{HOME\}` in quotes/,
    ],
    [`${'x'.repeat(300)}/*.log`, /no file matches/],
  ])('says what is wrong with the pattern %j', async (pattern, wanted) => {
    const { file } = makeConfig();
    writeFileSync(file, readFileSync(file, 'utf8').replace('logs/**/*.log', pattern));
    const { code, error } = await run(file);
    expect(code).toBe(0);
    expect(error?.join('\n')).toMatch(wanted);
    expect(error).toHaveLength(2);
  });

  test.skipIf(!canDropPrivileges)(
    'warns of folders that this user may not look into, and of a data folder that it may not make',
    async () => {
      const { file, folder } = makeConfig({ agent: 'data_dir: locked/data' });
      mkdirSync(join(folder, 'logs/secret'), { mode: 0 });
      mkdirSync(join(folder, 'locked'), { mode: 0o500 });
      const checked = startUnprivileged(['check', '--config', file]);
      expect(await checked.exited).toBe(0);
      expect(checked.stderr()).toBe(
        `${file}:1:11: warning: this user cannot write to ${folder}/locked, where the data folder \`${folder}/locked/data\` would be
  give the user that runs the agent the right to, or set data_dir to another folder
${file}:5:15: warning: this user may not look at 1 path that \`${folder}/logs/**/*.log\` leads to, such as ${folder}/logs/secret
  give the user that runs the agent the right to list and search the folders
`,
      );
    },
  );

  test('warns of a variable without braces, and shows no value', async () => {
    const { file } = makeConfig({
      source: 'exclude: [$OLD/*.log, "$$x"]',
      sink: 'labels: {cost: $5}\ntoken: "$TOKEN"',
    });
    const { code, error } = await run(file);
    expect(code).toBe(0);
    expect(error).toEqual([
      `${file}:5:15: warning: a \`$\` without braces is not a variable: the text is used as it is`,
      '  write `${NAME}` with braces, or `$$` where the dollar itself is meant',
      `${file}:12:12: warning: a \`$\` without braces is not a variable: the text is used as it is`,
      '  write `${NAME}` with braces, or `$$` where the dollar itself is meant',
    ]);
  });

  test.each([
    ['http://127.0.0.1:4100/v1/ingest', '/v1/ingest', 'http://127.0.0.1:4100'],
    ['https://logs.example.com/api/v2', '/v2', 'https://logs.example.com/api'],
    ['https://logs.example.com/v1beta', undefined, undefined],
  ])('warns of an address that goes on with an endpoint: %s', async (address, rest, wanted) => {
    const { file } = makeConfig();
    writeFileSync(file, readFileSync(file, 'utf8').replace('http://127.0.0.1:4100', address));
    const { code, error } = await run(file);
    expect(code).toBe(0);
    expect(error).toEqual(
      rest === undefined
        ? []
        : [
            expect.stringContaining(
              `warning: \`url\` has \`${rest}\` behind the service's address, which the agent adds itself`,
            ),
            `  write \`${wanted}\``,
          ],
    );
  });

  test('a token file that cannot be used is a problem', async ({ file, folder }) => {
    writeFileSync(join(folder, 'tok'), 'two words');
    const { code, error } = await run(file);
    expect(code).toBe(2);
    expect(error?.[0]).toBe(
      `${file}:10:17: the token file "${join(folder, 'tok')}" holds a space, a line break or a character outside ASCII`,
    );
  });

  test("warns of UDP listeners only where the kernel's receive buffer is small", async () => {
    const { file, folder } = makeConfig({
      sources:
        '  net: {type: syslog, listen: [tcp://127.0.0.1:0, udp://127.0.0.1:0]}\n  tcp: {type: syslog, listen: [tcp://127.0.0.1:0]}',
    });
    const read = readConfig(file, {});
    if (read.config === undefined) throw new Error(JSON.stringify(read.problems));
    const limit = join(folder, 'rmem_max');
    const warnings = async (bytes: string) => {
      writeFileSync(limit, bytes);
      return (await checkMachine(read.config!, (path) => read.locate(path), limit)).warnings;
    };
    expect(await warnings('212992\n')).toMatchObject([
      { line: 5, column: 51, message: expect.stringContaining('212992 bytes, below 4 MiB') as string },
    ]);
    expect(await warnings('4194304\n')).toEqual([]);
    expect(
      (await checkMachine(read.config, () => ({ file, line: 1, column: 1 }), join(folder, 'none'))).warnings,
    ).toEqual([]);
  });
});

describe('check of names of fields', () => {
  const LINES = Array.from({ length: 6 }, (_, n) =>
    JSON.stringify({
      when: `2026-05-01T10:00:0${n}Z`,
      level: n % 2 ? 'info' : 'debug',
      password: 'geheim',
      req: { cookie: 'c' },
    }),
  );

  /** `line:column message; fix` of each warning. `app.log` has the lines, `logs/b.log` others. */
  async function warningsOf(
    source: string,
    { top = '', lines = LINES, others = [] as string[], path = 'app.log' } = {},
  ) {
    const folder = makeTree({ [path]: `${lines.join('\n')}\n`, 'b.log': `${others.join('\n')}\n`, tok: 'abc' });
    const second = others.length > 0 ? '  other: {type: file, include: [b.log]}\n' : '';
    const yaml = `sources:
  app:
    type: file
    include: [${path}]
${source.replaceAll(/^/gm, '    ')}
${second}sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token_file: tok}}
${top}`;
    writeFileSync(join(folder, 't.yaml'), yaml);
    const { code, out } = await run(join(folder, 't.yaml'), { json: true });
    expect(code).toBe(0);
    expect(out?.join('')).not.toContain('geheim');
    const { warnings } = JSON.parse(out?.join('') ?? '') as {
      warnings: { line: number; column: number; message: string; fix: string }[];
    };
    return warnings.map(({ line, column, message, fix }) => `${line}:${column} ${message}; ${fix}`);
  }

  // Symptom: a misspelt name in project-away was valid, and the passwords left.
  test('warns of those that a transform compares or hides and that no event has, at the step', async () => {
    const transform = `transform: |
  where levle != "debug" and level != debug
  | extend message = redact(messsage, "email"), pseudonym = hash(psaword, env("HOME"))
  | project-away pasword, cookie, nothing_like_it`;
    expect(await warningsOf(transform)).toEqual([
      '6:7 none of the first 6 events has `levle`; did you mean `level`?',
      '6:7 none of the first 6 events has `debug`; a text stands in quotes: `"debug"`',
      expect.stringMatching(/^7:9 none of the first 6 events has `messsage`; correct the name, or leave it/),
      '7:9 none of the first 6 events has `psaword`; did you mean `password`?',
      '8:9 none of the first 6 events has `pasword`; did you mean `password`?',
      '8:9 none of the first 6 events has `cookie`; did you mean `req.cookie`?',
      expect.stringMatching(/^8:9 none of the first 6 events has `nothing_like_it`; correct the name, or leave it/),
    ]);
  });

  // Symptom: a transform that removes secrets in case an event has them drew a warning for each.
  test('warns once of all names of a step that are like none of the events', async () => {
    const transform = 'transform: project-away api_secret_value, session_cookie_jar, pasword, x_private_key';
    expect(await warningsOf(transform)).toEqual([
      expect.stringMatching(
        / none of the first 6 events has `api_secret_value` or `session_cookie_jar` or `x_private_key`; correct the name/,
      ),
      expect.stringMatching(/ none of the first 6 events has `pasword`; did you mean `password`\?$/),
    ]);
  });

  test.each([
    ['a step makes', 'extend made = 1 | project-rename lvl = level | where made == 1 and lvl != "x"'],
    [
      'the transform asks for',
      'where isnull(error) or error != "x" | where coalesce(trace, "") != "y" | project-away error',
    ],
    [
      'the agent gives',
      'where host != "x" and file != "y" and _time > datetime(2020-01-01) | project-away message, parse_error, truncated',
    ],
    ['stand in an object', 'where req.cookie != "x" | project-away req.cookie'],
    ['may be any', 'project-away x*'],
    ['a computation reads', 'extend user = tolower(usr)'],
  ])('is quiet about fields that %s', async (_, text) => {
    expect(await warningsOf(`transform: ${JSON.stringify(text)}`)).toEqual([]);
  });

  test('is quiet about configured fields, few events and lines that do not fit the format', async () => {
    const fields = 'fields: {team: shop}\npath_fields: ["/(?<app>[a-z]+)/[^/]*$"]';
    expect(await warningsOf(`${fields}\ntransform: where team != "x" and app != "y"`)).toEqual([]);
    const transform = 'transform: project-away pasword';
    expect(await warningsOf(transform, { lines: LINES.slice(0, 4) })).toEqual([]);
    expect(await warningsOf(transform, { lines: LINES.slice(0, 5) })).toHaveLength(1);
    const warnings = await warningsOf(`format: json\n${transform}`, { lines: LINES.map(() => 'no JSON') });
    expect(warnings.filter((warning) => warning.includes('none of'))).toEqual([]);
  });

  test('takes the sources together that share a transform', async () => {
    const top = 'transform: project-away user, emial';
    expect(await warningsOf('format: json', { top, others: ['{"user":"a","email":"b"}'] })).toEqual([
      '8:12 none of the first 7 events has `emial`; did you mean `email`?',
    ]);
  });

  test('warns of a time.field that no event has', async () => {
    expect(await warningsOf('format: json\ntime: {field: wen}')).toEqual([
      '6:19 none of the first 6 events has `wen`, so that their time is that of the read; did you mean `when`?',
    ]);
    expect(await warningsOf('format: json\ntime: {field: when}')).toEqual([]);
  });
});

describe('the configuration used', () => {
  test('is the one named, else one of the defaults, else a clear error', () => {
    expect(findConfig('x.yaml')).toBe('x.yaml');
    const before = process.cwd();
    const folder = makeTree({ 'with/tailrace.yaml': '', 'without/x': '' });
    try {
      process.chdir(join(folder, 'with'));
      expect(findConfig(undefined)).toBe('tailrace.yaml');
      process.chdir(join(folder, 'without'));
      expect(() => findConfig(undefined)).toThrow(
        'no configuration found: neither ./tailrace.yaml nor /etc/tailrace/tailrace.yaml exists',
      );
    } finally {
      process.chdir(before);
    }
  });
});

describe('check of links and private files', () => {
  test('warns of links that will not be followed and of secrets that match, at their pattern', async () => {
    expect(process.getuid?.(), 'this test runs as root, to make another user’s link').toBe(0);
    const folder = makeTree({
      'logs/plain.log': 'x\n',
      'etc/secret': 'geheim\n',
      tok: 'abc\n',
      'logs/sub/x.log': '',
      'logs/arc/logs/2026-11-27/03/a1.ndjson': '',
    });
    symlinkSync('../etc/secret', join(folder, 'logs/theirs.log'));
    lchownSync(join(folder, 'logs/theirs.log'), 1001, 0);
    linkSync(join(folder, 'tok'), join(folder, 'logs/token.log'));
    const file = join(folder, 'tailrace.yaml');
    const yaml = `data_dir: ${folder}/logs/sub
sources:
  app: {type: file, include: ["logs/plain.*", "logs/*.log", "logs/sub/*", "logs/arc/**"]}
sinks:
  keep: {type: archive, path: logs/arc, dataset: logs}
  store: {type: ingest, url: "http://127.0.0.1:4100", token_file: tok, dataset: logs}
`;
    writeFileSync(file, yaml);
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line.replaceAll(folder, ''));
    expect(await check({ config: file }, { out: write, error: write, colours: false })).toBe(0);
    const text = lines.join('\n');
    expect(text).toContain(
      '3:47: warning: 1 symbolic link that `/logs/*.log` matches will be left out, such as /logs/theirs.log: user 1001 made',
    );
    expect(text).toContain(
      '1 path that `/logs/*.log` matches will be left out, such as /logs/token.log: it is the token_file of sink "store"',
    );
    expect(text).toContain('1 path that `/logs/sub/*` matches will be left out, such as /logs/sub: it is in data_dir');
    expect(text).toContain(
      '1 path that `/logs/arc/**` matches will be left out, such as /logs/arc: it is in the folder of sink "keep"',
    );
    expect(text).not.toContain('geheim');
  });
});
