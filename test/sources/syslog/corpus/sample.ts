/** A message and the event that it must become. */
import { FACILITIES, SEVERITIES } from '../../../../src/core/syslog-priority.ts';
import { ORIGIN, RECEIVED_AT } from '../receipt.ts';

export interface Sample {
  readonly input: Buffer;
  readonly event: Record<string, unknown>;
  /** Whether the kernel must read it: common syslog, on which `slow_path_events_total` stays 0. */
  readonly isCommon: boolean;
}

function sample(input: string | Buffer, event: Record<string, unknown>, isCommon: boolean): Sample {
  return { input: Buffer.from(input as string), event: { ...event, ...ORIGIN }, isCommon };
}

function parsed(input: string | Buffer, fields: Record<string, unknown>): Record<string, unknown> {
  const priority = Number(/^<(\d+)>/.exec(input.toString('latin1' as never))?.[1] ?? 13);
  return {
    _time: RECEIVED_AT,
    message: '',
    facility: FACILITIES[priority >> 3],
    severity: SEVERITIES[priority & 7],
    facility_code: priority >> 3,
    severity_code: priority & 7,
    ...fields,
  };
}

/** A common message; a field not in `fields` is absent, `message` empty and `_time` that of the receipt. */
export function common(input: string | Buffer, fields: Record<string, unknown>): Sample {
  return sample(input, parsed(input, fields), true);
}

/** One of a rarer shape, which JavaScript may read. */
export function rare(input: string | Buffer, fields: Record<string, unknown>): Sample {
  return sample(input, parsed(input, fields), false);
}

/** One that cannot be parsed, and why: it is kept whole. */
export function broken(input: string | Buffer, parse_error: string): Sample {
  return sample(input, { _time: RECEIVED_AT, message: Buffer.from(input as string).toString(), parse_error }, false);
}
