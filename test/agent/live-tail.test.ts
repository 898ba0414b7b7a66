import { expect, test } from 'vitest';
import { createLiveTail } from '../../src/agent/control/live-tail.ts';
import type { Components } from '../../src/agent/build/components.ts';

test('live tail looks at a source only while it is asked for, once for all who ask, and not beside a tap', async () => {
  const lane: { tap: unknown } = { tap: undefined };
  const sources = new Map([['app', { config: { id: 'app' }, lane, accounting: { accepted: 7 } }]]);
  const sinks = new Map([['store', { config: { inputs: ['app'] } }]]);
  const tail = createLiveTail({ sources, sinks } as unknown as Components, () => undefined);
  expect(lane.tap).toBeUndefined();
  const asked = [tail('app'), tail('app')];
  expect(asked[0]).toBe(asked[1]);
  expect(lane.tap).toBeDefined();
  expect(await asked[0]).toEqual({ from: 7, to: 7, looked: 0, events: [] });
  expect(lane.tap).toBeUndefined();
  await expect(tail('other')).rejects.toMatchObject({ code: 'E_TAP' });
  lane.tap = () => {};
  await expect(tail('app')).rejects.toMatchObject({ code: 'E_TAP' });
});
