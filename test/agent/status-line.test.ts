import { expect, test } from 'vitest';
import { statusLine } from '../../src/agent/service-manager/status-line.ts';
import { observed, observedSink, observedSource } from '../telemetry/observed.ts';

const of = (sink: Parameters<typeof observedSink>[0], held = 0) =>
  statusLine(observed({ sources: [observedSource({ held })], sinks: [observedSink(sink)] }));

test('status line names files, lag and a sink that delivers', () => {
  expect(of({})).toBe('7 files, lag 5 B; store delivers');
});

test('status line shows held events and why the service does not take them', () => {
  expect(of({ lastFailure: 'network: ECONNREFUSED' }, 12)).toBe(
    '7 files, lag 5 B, 12 events not delivered yet; store retries: network: ECONNREFUSED',
  );
});

test('status line shows a pause with its fix, after missing events', () => {
  const pauses = new Map([['logs', { reason: 'unauthorized', detail: 'HTTP 401', fix: 'check the token' }]]);
  expect(of({ pauses })).toContain('store paused: HTTP 401; check the token');
  expect(of({ pauses, missing: { detail: 'no token', fix: 'write one' } })).toContain(
    'store ships nothing: no token; write one',
  );
});

test('status line names what the dead letters hold back, with the fix', () => {
  const blocked = { batches: 1, events: 2, isFull: true, reason: 'no room', fix: 'make some' };
  expect(of({ blocked })).toContain(
    'store blocked: dead letters full: 1 batch with 2 refused events waits, others are sent; no room; make some',
  );
});

test('status line names what keeps positions from being saved', () => {
  const checkpointRefusal = { reason: 'database or disk is full', fix: 'free space in data_dir' };
  const line = statusLine(observed({ sources: [], sinks: [observedSink({})], checkpointRefusal }));
  expect(line).toBe(
    '0 files, lag 0 B, positions cannot be saved: database or disk is full; free space in data_dir; store delivers',
  );
});
