/** Each row of the table of headers: its example becomes its event, from the kernel alone where it has no reader. */
import { describe, expect, test } from 'vitest';
import { HEADER_FORMS } from '../../../src/sources/syslog/message/header-forms.ts';
import { RECEIVED_AT } from './receipt.ts';
import { createRig, eventsOf } from './rig.ts';

const rig = createRig();

describe('a header', () => {
  test.each(HEADER_FORMS)('$sender: $example', async ({ example, event, isKernels }) => {
    const before = rig.stats.slowPathEvents;
    const messages = [Buffer.from(example)];
    const taken = await rig.take(messages, 'framed');
    expect(taken).toEqual(eventsOf(messages, 'framed'));
    const { facility, severity, facility_code, severity_code, peer, ...own } = JSON.parse(taken[0]!) as Record<
      string,
      unknown
    >;
    expect(own).toEqual({ _time: RECEIVED_AT, ...event });
    expect([facility, severity, facility_code, severity_code, peer]).not.toContain(undefined);
    expect(rig.stats.slowPathEvents - before).toBe(isKernels ? 0 : 1);
  });
});
