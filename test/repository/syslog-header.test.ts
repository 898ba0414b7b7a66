/** The recipe of CONTRIBUTING.md for a syslog header, followed in a copy of the tree. */
import { expect, test } from 'vitest';
import { copyTree, read, run, write } from './tree-copy.ts';

const ROW = `{
    sender: 'a toy',
    example: '<13>toy=7 at Jul 10 10:59:59 on gw app: x',
    event: { _time: '2026-07-10T07:59:59Z', host: 'gw', appname: 'app', message: 'x' },
    read: { begins: ['toy='], before: form(String.raw\`toy=\\d{1,5} at \${BSD}\`), behind: / on /y },
  },`;
const TRY = `import { systemClock } from './src/core/time/clock.ts';
import { createZone } from './src/core/time/zone.ts';
import { createKernel } from './src/kernel/kernel.ts';
import { createHeaderReader, HEADS, parseHeader } from './src/sources/syslog/message/header.ts';
const now = Date.parse('2026-07-10T08:00:00Z');
const zone = createZone('Europe/Athens');
const kernel = createKernel(1024 * 1024);
const read = createHeaderReader(kernel.syslog(1024, 'none', false, HEADS), kernel.reserve(4096), zone, { ...systemClock, now: () => now });
const { time, host, appname, message } = parseHeader(Buffer.from('<13>toy=12345 at Jul 10 10:59:58 on gw app: x'), read, now, zone);
console.log(time, host, appname, message);
`;

test('a syslog header is one row', () => {
  const copy = copyTree({ 'try.ts': TRY });
  const table = 'src/sources/syslog/message/header-forms.ts';
  write(copy, table, read(copy, table).replace(/\n\](?=; .. prettier-ignore)/, `\n  ${ROW}\n]`));
  expect(run(copy, 'scripts/generate.ts')).toContain('docs/syslog.md');
  expect(read(copy, 'docs/syslog.md')).toContain('| a toy | `<13>toy=7 at Jul 10 10:59:59 on gw app: x` |');
  expect(run(copy, 'try.ts')).toBe('2026-07-10T07:59:58Z gw app x');
});
