/** What the kernel reads of headers, in plain JavaScript: slow, and the oracle of the differential tests. Times that are not RFC 3339 it leaves to the table of forms. */
import { LEVELS } from '../../../src/core/time/line-start.ts';
import { wallAsUtc } from '../../../src/core/time/zone.ts';
import type { SyslogHeader } from '../../../src/kernel/syslog.ts';
import type { HeaderReader } from '../../../src/sources/syslog/message/header.ts';

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))$/;
const PRIORITY = /^<(\d{1,3})>/;
const RFC5424 = /^1 (-|\d{4}-\d[^ ]*) ([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+) /;
const HOST = new RegExp(`^(?!(?:${LEVELS}) )((?:slot|(?=[^ ]* : )|(?![^ ]*\\/))[\\w:][\\w.:/-]*)(?<!:) `, 'i');
const LEVEL = new RegExp(`^(?=[a-z])(?:${LEVELS}|${LEVELS.toUpperCase()}) `);
const SHORT_LEVEL = /^[A-Z][a-z]\(\d{1,3}\) /;
/** `name:`, `name[12]:` or `name[12]`. */
const TAG = /^([^\s[\]:"'{}=,;<>|\\]{1,128})(?:\[([^\][\s]{0,128})\]:?|:(?=\s|$)) ?/;
const NONE = {
  time: undefined,
  isTimeOdd: false,
  host: undefined,
  appname: undefined,
  procid: undefined,
  msgid: undefined,
  structuredData: undefined,
};

export function createReference(receivedAtMs: () => number): HeaderReader {
  let priority = 13;

  function isTaken(time: string): boolean {
    const match = TIMESTAMP.exec(time);
    if (match === null) return false;
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
    const [sign, hours, minutes] = [match[7] === '-' ? -1 : 1, Number(match[8] ?? 0), Number(match[9] ?? 0)];
    const wall = { year, month: month!, day: day!, hour: hour!, minute: minute!, second: second! };
    const wallMs = hours < 24 && minutes < 60 ? wallAsUtc(wall, year!) : undefined;
    if (wallMs === undefined) return false;
    const seconds = wallMs / 1000 - sign * (hours * 60 + minutes) * 60;
    return seconds >= -2_208_988_800 && seconds <= Math.floor(receivedAtMs() / 1000) + 86_400;
  }

  function tag(text: string, at: number): SyslogHeader {
    const [all = '', appname, procid] =
      text
        .slice(at)
        .replace(/^\d+:(?=\s|$)/, ' ')
        .match(TAG) ?? [];
    const end = Buffer.byteLength(text.slice(0, at) + all);
    return { ...NONE, found: 'read', priority, appname, procid: procid || undefined, messageAt: end };
  }

  /** A tag, perhaps after a level. */
  function markedTag(text: string, at: number): SyslogHeader {
    const level = LEVEL.exec(text.slice(at))?.[0];
    const marked = level === undefined ? undefined : tag(text, at + level.length);
    if (marked?.procid !== undefined || marked?.appname?.startsWith('logg')) return marked;
    return tag(text, at + (SHORT_LEVEL.exec(text.slice(at))?.[0].length ?? 0));
  }

  function rest(text: string, at: number): SyslogHeader {
    const colon = (from: number): number => /^: {1,2}/.exec(text.slice(from))?.[0].length ?? 0;
    if (colon(at)) return tag(text, at + colon(at));
    if (text[at] === ' ' && colon(at + 1)) return tag(text, at + 1 + colon(at + 1));
    const blank = text[at] === ' ' ? 1 : 0;
    const [all = '', host] = HOST.exec(text.slice(at + blank)) ?? [];
    if (host === undefined) return blank ? tag(text, at) : markedTag(text, at);
    if (!blank) return { ...markedTag(text, at + all.length + colon(at + all.length)), host };
    const found = markedTag(text, at + 1 + all.length);
    return found.appname === undefined ? tag(text, at) : { ...found, host };
  }

  function whole(text: string): SyslogHeader {
    const slow = { ...NONE, found: 'slow', priority, messageAt: 0 } as const;
    const written = PRIORITY.exec(text);
    priority = Number(written?.[1] ?? 13);
    if (priority > 191) return slow;
    const at = written?.[0].length ?? 0;
    const behind = text.slice(at);
    const rfc5424 = written && RFC5424.exec(behind);
    const orNil = (value: string | undefined): string | undefined => (value === '-' ? undefined : value);
    if (rfc5424) {
      const [all, time, host, appname, procid, msgid] = rfc5424.map(orNil);
      const isTimeOdd = time !== undefined && !isTaken(time);
      return {
        found: 'data',
        priority,
        time,
        isTimeOdd,
        host,
        appname,
        procid,
        msgid,
        structuredData: undefined,
        messageAt: Buffer.byteLength(written[0] + all!),
      };
    }
    return { ...slow, priority };
  }

  // Valid UTF-8: places in the text are places in the bytes.
  return (bytes, part = 'whole') => {
    const text = bytes.toString();
    return part === 'whole' ? whole(text) : part === 'rest' ? rest(text, 0) : tag(text, 0);
  };
}
