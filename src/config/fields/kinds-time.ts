/** Kinds of time formats: a Go reference layout, or one of the service's words. */
import { compileLayout } from '../../core/time/go-layout.ts';
import { text } from './kinds.ts';
import type { Wrong } from '../config-error.ts';
import type { FieldKind } from './field.ts';
import { nearest } from '../nearest.ts';

const WORDS = ['unix', 'unixms', 'unixus', 'unixnano', 'rfc3339'];
const FIX =
  'write the time Mon Jan 2 15:04:05 2006 in your format, such as `2006-01-02T15:04:05Z07:00`, or one of unix, unixms, unixus, unixnano, rfc3339';

/** The fault of a layout, or undefined. The service has the last word on the times that it reads. */
function checkLayout(layout: string, needsYear: boolean): Wrong | undefined {
  if (WORDS.includes(layout)) return undefined;
  if (/%[A-Za-z]/.test(layout)) return { message: 'is a strftime format, not a Go layout', fix: FIX };
  if (/[yY]{2,4}|\bMM\b|\bdd\b|\bDD\b|\bHH\b/.test(layout))
    return { message: 'is a format in letters, not a Go layout', fix: FIX };
  const near = /^[a-z0-9_]+$/i.test(layout) ? nearest(layout, WORDS) : undefined;
  if (near !== undefined) return { message: 'is not a known format', fix: `did you mean \`${near}\`?` };
  const tokens = new Set(compileLayout(layout).map((part) => (part.kind === 'token' ? part.token : '')));
  const has = (...any: string[]) => any.some((token) => tokens.has(token));
  if (needsYear && !has('2006', '06')) return { message: 'has no year: Go writes it `2006` or `06`', fix: FIX };
  if (!has('002', '__2') && !has('January', 'Jan', '01', '1'))
    return { message: 'has no month: Go writes it `01`, `1`, `Jan` or `January`', fix: FIX };
  if (!has('002', '__2') && !has('02', '_2', '2'))
    return { message: 'has no day: Go writes it `02`, `_2` or `2`', fix: FIX };
  return undefined;
}

export const timestampFormat: FieldKind<string> = text({
  type: 'Go layout, or `unix`, `unixms`, `unixus`, `unixnano`, `rfc3339`',
  parse: (value) => checkLayout(value, true) ?? { value },
});

/** The format of a source's times: the agent infers the year. */
export const timeFormat: FieldKind<string> = text({
  type: '`auto`, Go layout, or `unix`, `unixms`, `unixus`, `unixnano`',
  parse: (value) => (value === 'auto' ? { value } : (checkLayout(value, false) ?? { value })),
});
