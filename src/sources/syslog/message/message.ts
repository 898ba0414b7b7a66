/** The words of syslog messages that both RFCs share: what parsing finds, priorities and their names. */
import type { JsonValue } from '../../../core/block.ts';
import { FACILITIES, SEVERITIES } from '../../../core/syslog-priority.ts';

/** The parts found after the priority; a missing one is undefined. */
export interface Parsed {
  /** RFC 3339 with the digits it was sent with. Undefined: take the time of receipt. */
  time?: string | undefined;
  /** The time as it was sent, where it cannot be. */
  timeError?: string | undefined;
  host?: string | undefined;
  appname?: string | undefined;
  procid?: string | undefined;
  msgid?: string | undefined;
  structuredData?: StructuredData | undefined;
  message: string;
}

/** id → name → value; a list where a name is repeated. */
export type StructuredData = Record<string, Record<string, string | string[]>>;

export type EventFields = Record<string, JsonValue | StructuredData | undefined>;

export interface Priority {
  readonly facility: string;
  readonly severity: string;
  readonly facilityCode: number;
  readonly severityCode: number;
  /** Characters of `<PRI>`. */
  readonly length: number;
}

const PRIORITIES = new Map<string, Priority>();
for (let code = 0; code < 192; code += 1) {
  // Zeros in front are against the RFC and sent all the same.
  for (const digits of new Set([String(code), String(code).padStart(2, '0'), String(code).padStart(3, '0')])) {
    PRIORITIES.set(digits, {
      facility: FACILITIES[code >> 3]!,
      severity: SEVERITIES[code & 7]!,
      facilityCode: code >> 3,
      severityCode: code & 7,
      length: digits.length + 2,
    });
  }
}

/** Of a message without one: `user.notice` (RFC 3164, 4.3.3). */
export const DEFAULT_PRIORITY: Priority = PRIORITIES.get('13')!;

/** The `<PRI>` at the beginning, or undefined when there is none from 0 to 191. */
export function readPriority(text: string): Priority | undefined {
  if (text.charCodeAt(0) !== 60) return undefined;
  const end = text.indexOf('>');
  return end === -1 || end > 4 ? undefined : PRIORITIES.get(text.slice(1, end));
}
