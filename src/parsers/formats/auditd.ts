/**
 * Records of the Linux audit system: `type=SYSCALL msg=audit(1364481363.243:24287): pid=1 comm="cat" …`. The pairs are the fields, also
 * those inside of `msg='…'` and after the separator of enriched records; unset values (`?`, `(null)`) are absent. Text that the kernel
 * writes as hexadecimal digits is decoded.
 */
import { emptyFields, type EventFields, unparsed } from '../values/fields.ts';
import type { FormatParser } from './line-parser.ts';

const HEAD = /^(?:node=(\S{1,255}) )?type=(\S{1,64}) msg=audit\((\d{1,12}\.\d{1,9}):(\d{1,20})\): ?/;
/** `avc:  denied  { read } for` */
const AVC = /^avc: {1,4}(\w{1,16}) {1,4}\{ ?([^{}]{0,256}?) ?\} for /;
const KEY = /([A-Za-z_][\w-]{0,63})=/y;
const QUOTED = /"([^"]*)"/y;
const INNER = /'([^']*)'/y;
const BARE = /\S*/y;
const BETWEEN = /\s*/y;
const UNSET = new Set(['', '?', '(null)', '(none)']);
/** Written in quotes, or as hexadecimal digits where they hold blanks, quotes or control characters. */
const TEXTS = new Set([
  'acct',
  'cmd',
  'comm',
  'cwd',
  'data',
  'dir',
  'exe',
  'key',
  'name',
  'path',
  'proctitle',
  'vm',
  'watch',
]);
const HEX = /^(?:[0-9A-F]{2})+$/;

export const auditdParser: FormatParser = {
  parse(text) {
    const [head, node, type, time, serial] = HEAD.exec(text) ?? [];
    if (head === undefined || type === undefined || time === undefined || serial === undefined)
      return [unparsed(text, 'no record of the audit system')];
    const event: EventFields = Object.assign(emptyFields(), { _time: time, type, serial });
    if (node !== undefined) event['node'] = node;
    // Enriched records have a separator of their own.
    const rest = text.slice(head.length).replaceAll('\u001d', ' ');
    const [avc, result, permissions] = AVC.exec(rest) ?? [];
    if (result !== undefined && permissions !== undefined) Object.assign(event, { avc: result, permissions });
    addPairs(event, rest.slice(avc?.length ?? 0), type);
    event['message'] = text;
    return [event];
  },
};

/** The first value of a name wins. Words that are no pair are passed over. */
function addPairs(event: EventFields, text: string, type: string): void {
  for (let at = 0; at < text.length;) {
    const key = matchAt(KEY, text, at)?.[1];
    if (key === undefined) {
      at = endOf(BETWEEN, text, endOf(BARE, text, at));
      continue;
    }
    at = KEY.lastIndex;
    const quoted = matchAt(QUOTED, text, at);
    const inner = quoted ? undefined : matchAt(INNER, text, at);
    if (inner) addPairs(event, inner[1]!, type);
    const bare = quoted || inner ? undefined : matchAt(BARE, text, at)?.[0];
    const value = quoted?.[1] ?? bare;
    if (value !== undefined && !UNSET.has(value) && !Object.hasOwn(event, key))
      event[key] = bare !== undefined && isHex(key, bare, type) ? decodeHex(bare) : value;
    at = endOf(BETWEEN, text, at + ((quoted ?? inner)?.[0].length ?? bare?.length ?? 0));
  }
}

const isHex = (key: string, value: string, type: string): boolean =>
  (TEXTS.has(key) || (type === 'EXECVE' && /^a\d/.test(key))) && HEX.test(value);

/** NULs separate the words of a command line, 0x01 separates keys. */
const decodeHex = (hex: string): string =>
  Buffer.from(hex, 'hex').toString('utf8').replaceAll('\0', ' ').replaceAll('\u0001', ' ').trimEnd();

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Behind the pattern, which matches everywhere. */
function endOf(pattern: RegExp, text: string, at: number): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0);
}
