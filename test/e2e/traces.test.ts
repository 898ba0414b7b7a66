/** Stack traces that a rotation cuts: one event, under one key, whatever ends the agent in between. */
import { expect, test } from 'vitest';
import { makeSite, sumOf } from '../support/shipping.ts';
import { AgentRig, agentScenarios, bytesOf, words } from './scenario.ts';

const TRACE = ['E 1 no', '  at one', '  at two', '  at three', '  at four'];
const [HEAD, TAIL] = [TRACE.slice(0, 3), TRACE.slice(3)];
const WHOLE = `"${TRACE.join('\n')}"`;
const headBytes = bytesOf(HEAD);
const joins = (timeout: string): string => `multiline: {start: '^[A-Z]', timeout: ${timeout}}`;
/** Within a trace the file goes, and the next one begins with the trace's rest. */
const ROTATE = `mv app.log app.log.1; write app.log ${words(TAIL)} "I next" "I last"`;
/** The last events are settled sooner. */
const AGAIN = `kill; back; start "${joins('1s')}"; has "I last"; stores "I first" ${WHOLE} "I next" "I last"`;
agentScenarios(
  {
    'trace that a rotation cuts is one event': `
      write app.log "I first" ${words(HEAD)}; start; until source_lag_bytes = ${headBytes}; ${ROTATE}; sends "at four"; append app.log "I end"
      has "I last"; in-order "I first" ${WHOLE} "I next" "I last"; is source_lost_bytes_total = 0`,
    'trace that was stored before a kill, and not acknowledged, is sent again under its key': `
      write app.log "I first" ${words(HEAD)}; start; until source_lag_bytes = ${headBytes}; unheard; ${ROTATE}; has ${WHOLE}; ${AGAIN}
      in-order "I first" ${WHOLE} "I next" "I last"; resent "at four"`,
    'trace that is cut between the files of two dates is one event, and sent again under its key': `
      write app-20261121.log "I first" ${words(HEAD)}; start; until source_lag_bytes = ${headBytes}; unheard
      write app-20261122.log ${words(TAIL)} "I next" "I last"; sends "at four"; ${AGAIN}; resent "at four"`,
    'trace that was not taken before a kill is put together again, also with both files rotated on': `
      lost; write app.log "I first" ${words(HEAD)}; start; asked; ${ROTATE}; sends "at four"; kill; mv app.log.1 app.log.2; mv app.log app.log.1
      back; start "${joins('1s')}"; has "I last"; in-order "I first" ${WHOLE} "I next" "I last"; said 0 are gone`,
    // The last one is over without a timeout, which a loaded machine may need to start the agent.
    'trace that is cut while the agent is stopped is one event': `
      write app.log "I first" ${words(HEAD)}; start; stores "I first"; kill; ${ROTATE}; append app.log "I end"; start; has "I last"
      in-order "I first" ${WHOLE} "I next" "I last"`,
    'trace whose first file is deleted while the service is away survives a kill in the disk buffer': `
      lost; write app.log "I first" ${words(HEAD)}; start; asked; ${ROTATE}; sends "at four"; rm app.log.1; spooled = 3; ${AGAIN}`,
  },
  { source: joins('60s'), sink: 'batch: {max_age: 50ms}' },
);

test('trace whose beginning is gone after a kill: its rest is sent, the beginning is counted', async () => {
  const rig = new AgentRig(await makeSite(), { source: joins('60s'), sink: 'batch: {max_age: 50ms}' });
  await rig.play(`
    lost; write app.log ${words(HEAD)}; start; until source_lag_bytes = ${headBytes}; ${ROTATE}; sends "at four"; kill; rm app.log.1; back
  `);
  for (let starts = 0; starts < 2; starts += 1) {
    await rig.play(`start "${joins('1s')}"; has "I last"; stores "I last" "I next" "${TAIL.join('\n')}"`);
    const lost = await sumOf(rig.agent, 'tailrace_source_lost_bytes_total');
    await rig.play('stop');
    expect(lost).toBe(rig.agent.stderr().includes('are gone') ? headBytes : 0);
  }
  expect(rig.site.service.misusedKeys).toEqual([]);
});
