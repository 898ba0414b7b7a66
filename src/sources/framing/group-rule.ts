/** What joins lines that carry the same key (`group`): the key of a line, and the time that it tells itself. */
import type { LineConfig } from '../common/line-fields.ts';
import { TIME_KEYS } from '../../core/time/forms.ts';
import { createZone } from '../../core/time/zone.ts';
import type { EventFields } from '../../parsers/values/fields.ts';
import { compileKeyPattern } from '../../parsers/text/pattern.ts';
import { MAX_GROUP_BYTES, MAX_GROUPS } from './limits.ts';

export interface GroupRule {
  readonly withinMs: number;
  readonly maxGroups: number;
  readonly maxBytes: number;
  /** Undefined for a line that is an event of its own. */
  keyOf(text: string): string | undefined;
  /** Unix milliseconds; undefined where the line tells none. */
  timeOf(fields: EventFields, text: string, readAtMs: number): number | undefined;
  /** All of it that shapes events. */
  readonly digest: readonly unknown[];
}

/** Throws `TailraceError` `E_PATTERN` for a pattern that cannot be used. */
export async function loadGroupRule({ group, time }: LineConfig): Promise<GroupRule | undefined> {
  if (!group) return undefined;
  const { createGivenTime } = await import('../../parsers/values/given-time.ts');
  const auto = time.kind === 'auto' ? createGivenTime({ format: 'auto', zone: createZone(time.timezone) }) : undefined;
  return {
    withinMs: group.withinMs,
    maxGroups: MAX_GROUPS,
    maxBytes: MAX_GROUP_BYTES,
    keyOf: await compileKeyPattern(group.by),
    timeOf(fields, text, readAtMs) {
      const own = fields['_time'];
      if (own !== undefined) return typeof own === 'string' ? msOf(own) : undefined;
      const found = TIME_KEYS.map((name) => fields[name]).find((value) => typeof value === 'string');
      return msOf(typeof found === 'string' ? auto?.whole(found, readAtMs) : auto?.leading(text, readAtMs));
    },
    digest: [group.by, group.withinMs, MAX_GROUPS, MAX_GROUP_BYTES],
  };
}

/** Of RFC 3339. */
function msOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
