/**
 * The header of a message that the kernel handed over: read by the kernel all the same, or by the table of forms (header-forms.ts) where its time is of
 * another form. Nothing after a valid priority is an error unless it claims to be RFC 5424: unrecognised parts stay in the message.
 */
import type { Region } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { LEVELS } from '../../../core/time/line-start.ts';
import type { Zone } from '../../../core/time/zone.ts';
import type { SyslogHeader, SyslogLoops } from '../../../kernel/syslog.ts';
import { HEADER_FORMS } from './header-forms.ts';
import { readPairsHeader } from './header-pairs.ts';
import { MAX_HEAD_BYTES } from '../limits.ts';
import { readLocalTime, readSentTime, TEXT_END } from './sent-time.ts';
import { readStructuredData, type StructuredData } from './structured-data.ts';

/** The parts of a message; a missing one is undefined. */
export interface MessageHeader {
  readonly priority: number;
  /** RFC 3339. Undefined: take the time of receipt. */
  readonly time?: string | undefined;
  /** The time as it was sent, where it cannot be. */
  readonly timeError?: string | undefined;
  readonly host?: string | undefined;
  readonly appname?: string | undefined;
  readonly procid?: string | undefined;
  readonly msgid?: string | undefined;
  readonly structuredData?: StructuredData | undefined;
  readonly message: string;
}

/** Asks the kernel, and tells it times. */
export type HeaderReader = (bytes: Buffer, part?: 'whole' | 'rest' | 'tag') => SyslogHeader;

const PRIORITY = /^<(?:\d\d?|0\d\d|1[0-8]\d|19[01])>/;
const LOOKS_LIKE_RFC5424 = /^\d{1,3} (?:- |\d{4}-\d)/;
const FORMS = HEADER_FORMS.flatMap(({ read }) => (read ? [read] : []));
/** Beginnings of headers that the kernel is to hand over. */
export const HEADS: readonly string[] = FORMS.flatMap(({ begins = [] }) => begins);
const MONTH_FIRST = /^[A-Z]/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const CLOCK = /^\d\d:\d\d:/;
/** What programs write, too, needs a host, which a level is not. */
const ISO_DATE_AND_HOST = new RegExp(`^ *[\\d-]{10}T\\S+ (?!(?:${LEVELS})\\b)`, 'i');
const NO_PRIORITY = 'no <PRI> from 0 to 191 at the beginning';

/** `place` takes a header outside of the kernel's memory, or its beginning. */
export function createHeaderReader(loops: SyslogLoops, place: Region, zone: Zone, clock: Clock): HeaderReader {
  return (bytes, part) => {
    const own = place.bytes;
    const message = bytes.buffer === own.buffer ? bytes : own.subarray(0, bytes.copy(own, 0, 0, own.length - 1));
    loops.receive(clock.now());
    const header = loops.header(message, part);
    if (header.found !== 'time') return header;
    loops.learnTime(readLocalTime(loops.unknownTime(), clock.now(), zone));
    return loops.header(message, part);
  };
}

/** Parses a message in UTF-8; a string is the reason why it cannot. */
export function parseHeader(
  bytes: Buffer,
  read: HeaderReader,
  receivedAtMs: number,
  zone: Zone,
): MessageHeader | string {
  const header = read(bytes);
  if (header.isTimeOdd && header.found !== 'slow' && DATE.test(header.time!) && CLOCK.test(header.host ?? ''))
    return parseWithT(bytes, read, receivedAtMs, zone);
  const head = bytes.toString('latin1', 0, MAX_HEAD_BYTES);
  const at = PRIORITY.exec(head)?.[0].length ?? 0;
  const isRfc5424 = header.found !== 'slow' || (at > 0 && LOOKS_LIKE_RFC5424.test(head.slice(at, at + 16)));
  let why = at === 0 ? NO_PRIORITY : undefined;
  if (isRfc5424) {
    const whole =
      header.found === 'slow'
        ? whyNotRfc5424(bytes.toString('latin1', at))
        : withData(header, bytes, receivedAtMs, zone);
    // Elements that are cut or broken may hide anything; senders without elements have none that begin.
    if (typeof whole !== 'string' || whole.startsWith('RFC 5424 structured data has')) return whole;
    why = whole;
  }
  const form = readForm(head, at, receivedAtMs, zone);
  if (why !== undefined && form?.time === undefined && form?.timeError === undefined) return why;
  const restAt = form?.end ?? at;
  const rest = read(bytes.subarray(restAt), form?.mayHaveHost ? 'rest' : 'tag');
  const host = form?.host ?? rest.host;
  const isHeader = isRfc5424
    ? host !== undefined
    : form?.isMonthFirst || (host !== undefined && ISO_DATE_AND_HOST.test(head));
  if (why !== undefined && !isHeader) return why;
  return {
    ...rest,
    ...form,
    host,
    structuredData: undefined,
    message: bytes.toString('utf8', restAt + rest.messageAt),
  };
}

/** With a `T` between date and clock, for as long as it is read. */
function parseWithT(bytes: Buffer, read: HeaderReader, receivedAtMs: number, zone: Zone): MessageHeader | string {
  const at = bytes.indexOf(' ', bytes.indexOf(' ') + 1);
  bytes.write('T', at);
  const parsed = parseHeader(bytes, read, receivedAtMs, zone);
  bytes.write(' ', at);
  return parsed;
}

interface FormHeader {
  readonly time?: string | undefined;
  readonly timeError?: string | undefined;
  readonly host: string | undefined;
  readonly mayHaveHost: boolean;
  readonly isMonthFirst: boolean;
  /** Where the rest begins. */
  readonly end: number;
}

function readForm(text: string, at: number, receivedAtMs: number, zone: Zone): FormHeader | undefined {
  for (const { before, behind, isPairs } of FORMS) {
    before.lastIndex = at;
    const match = before.exec(text);
    if (!match) continue;
    const from = before.lastIndex;
    const host = match.groups?.['host'];
    const none = { host, mayHaveHost: false, isMonthFirst: false, end: from };
    if (isPairs)
      return {
        ...none,
        ...readPairsHeader(Buffer.from(text.slice(from), 'latin1').toString(), receivedAtMs, zone, host),
      };
    if (!behind) return none;
    const sent = readSentTime(text, from, behind, receivedAtMs, zone);
    if (!sent) continue;
    behind.lastIndex = sent.end;
    const { colon, ...named } = behind.exec(text)!.groups ?? {};
    const found = host ?? named['host'] ?? named['address'];
    const mayHaveHost = found === undefined && colon === undefined;
    return {
      ...sent,
      host: found,
      mayHaveHost,
      isMonthFirst: MONTH_FIRST.test(text.slice(from)),
      end: behind.lastIndex,
    };
  }
  return undefined;
}

function withData(header: SyslogHeader, bytes: Buffer, receivedAtMs: number, zone: Zone): MessageHeader | string {
  const text = bytes.toString('utf8', header.messageAt);
  const { time, isTimeOdd, structuredData } = header;
  const sent = isTimeOdd ? readSentTime(time!, 0, TEXT_END, receivedAtMs, zone) : { time, end: time?.length };
  if (sent?.end !== time?.length) return 'RFC 5424 timestamp is not valid';
  const own = { ...header, time: undefined, ...sent };
  if (header.found === 'read')
    return {
      ...own,
      structuredData: structuredData === undefined ? undefined : (JSON.parse(structuredData) as StructuredData),
      message: text,
    };
  const data = readStructuredData(text, 0);
  return typeof data === 'string' ? data : { ...own, structuredData: data.elements, message: text.slice(data.end) };
}

function whyNotRfc5424(text: string): string {
  for (let n = 0, from = 0; n < 6; n += 1) {
    const end = text.indexOf(' ', from);
    if (end === -1) return 'RFC 5424 header ends early';
    if (end === from) return 'RFC 5424 header has an empty field';
    from = end + 1;
  }
  const version = text.slice(0, text.indexOf(' '));
  return `RFC 5424 version ${version} is not known`;
}
