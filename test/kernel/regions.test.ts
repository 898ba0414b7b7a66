/** Memory, regions and why a call stops. */
import { describe, expect, test } from 'vitest';
import type { EventShape } from '../../src/core/block.ts';
import { MAX_FIELDS } from '../../src/core/limits.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { drive } from './drive.ts';

const shape: EventShape = { format: 'auto', wrapFields: { host: 'h' }, fields: { service: 'app' } };

describe('the regions of a call', () => {
  const lines = ['plain', '', 'with "quotes" and \u0001', '{"a":1}', '{}', '\r', 'Ωμέγα'.repeat(9)].map((line) =>
    Buffer.from(line),
  );

  test('is used to the last byte, and never more', () => {
    for (let limit = 0; limit < 700; limit++)
      drive(lines, { shape, steps: [{ lines: 99, at: 0, limit, maxEvents: 99 }] });
  });

  test('counts from where output starts, but too_large means an empty slot', () => {
    for (const at of [1, 50, 300]) {
      for (let limit = at; limit < 500; limit += 3)
        drive(lines, { shape, steps: [{ lines: 3, at, limit, maxEvents: 99 }] });
    }
  });

  test('may be limited in events, where empty lines cost nothing', () => {
    for (let maxEvents = 0; maxEvents < 9; maxEvents++)
      drive(lines, { shape, steps: [{ lines: 99, at: 0, limit: 5000, maxEvents }] });
  });

  test('is used to the last byte by whole events, too, which are copied', () => {
    const events = ['{"a":1}', '{"b":"two"}', 'x', '{"c":"three, and somewhat longer"}'].map((line) =>
      Buffer.from(line),
    );
    const whole: EventShape = { format: 'events', wrapFields: {}, fields: {} };
    expect(drive(events, { shape: whole }).toString()).toBe(
      '{"a":1}\n{"b":"two"}\nx\n{"c":"three, and somewhat longer"}\n',
    );
    for (let limit = 0; limit < 80; limit++) {
      for (const at of [0, 1, 9, 40]) {
        for (let maxEvents = 0; maxEvents < 6; maxEvents++)
          drive(events, { shape: whole, steps: [{ lines: 99, at: Math.min(at, limit), limit, maxEvents }] });
      }
    }
  });

  test('takes a long line whenever its exact size fits', () => {
    const line = Buffer.from('x"'.repeat(150_000));
    const size = drive([line], { shape }).length;
    for (const limit of [size - 1, size, size + 1])
      drive([line, line], { shape, steps: [{ lines: 2, at: 0, limit, maxEvents: 9 }] });
  });
});

describe('the kernel', () => {
  const kernel = createKernel(1024 * 1024);
  const input = kernel.reserve(4096);
  const output = kernel.reserve(4096);
  const put = (text: string) => input.bytes.write(text);

  test('counts newlines', () => {
    const length = put(`a\n\nb${'\n'.repeat(40)}c`);
    expect(kernel.count(input, 0, length)).toBe(42);
    expect(kernel.count(input, 1, 3)).toBe(2);
    expect(kernel.count(input, 3, 3)).toBe(0);
  });

  test('leaves an unfinished last line', () => {
    const end = put('one\ntwo');
    const template = kernel.compile(shape, undefined);
    expect(kernel.wrap(template, 0, input, 0, end, output, 0, 4000, 9)).toMatchObject({
      consumed: 4,
      events: 1,
      stop: 'input',
    });
    expect(kernel.wrap(template, 0, input, 4, end, output, 0, 4000, 9)).toMatchObject({
      consumed: 0,
      events: 0,
      stop: 'input',
    });
  });

  test('changes template and time between calls, and back after a cut line', () => {
    const end = put('x\n');
    const one = kernel.compile({ ...shape, fields: { n: 1 } }, undefined);
    const two = kernel.compile({ ...shape, fields: { n: 2, more: 'field' } }, undefined);
    const event = (template: typeof one, ms: number, cut?: number) =>
      output.bytes.toString(
        'utf8',
        0,
        kernel.wrap(
          template,
          ms,
          input,
          0,
          end,
          output,
          0,
          4000,
          9,
          cut === undefined ? undefined : { truncated: true, original_bytes: cut },
        ).written,
      );
    const first = '{"_time":"1970-01-01T00:00:00.000Z","message":"x","host":"h","n":1}\n';
    expect(event(one, 0)).toBe(first);
    expect(event(two, 1)).toBe('{"_time":"1970-01-01T00:00:00.001Z","message":"x","host":"h","n":2,"more":"field"}\n');
    expect(event(one, 0)).toBe(first);
    expect(event(one, 0, 7)).toBe(
      '{"_time":"1970-01-01T00:00:00.000Z","message":"x","truncated":true,"original_bytes":7,"host":"h","n":1}\n',
    );
    expect(event(one, 0)).toBe(first);
  });

  test('refuses a range outside its region', () => {
    const template = kernel.compile(shape, undefined);
    expect(() => kernel.wrap(template, 0, input, 0, 4097, output, 0, 10, 9)).toThrow(RangeError);
    expect(() => kernel.wrap(template, 0, input, 0, 10, output, 20, 10, 9)).toThrow(RangeError);
    expect(() => kernel.wrap(template, 0, input, -1, 10, output, 0, 10, 9)).toThrow(RangeError);
    expect(() => kernel.count(input, 0, Number.NaN)).toThrow(RangeError);
  });

  test('gives memory until its capacity is used up, then says so', () => {
    const small = createKernel(64 * 1024);
    const first = small.reserve(32 * 1024);
    const second = small.reserve(1024);
    expect(second.at).toBeGreaterThanOrEqual(first.at + 32 * 1024 + 64);
    expect(() => small.reserve(32 * 1024)).toThrow(expect.objectContaining({ code: 'E_KERNEL_MEMORY' }));
    expect(small.reserve(1024).bytes).toHaveLength(1024);
  });

  test('refuses more or larger fields than it can hold', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]));
    expect(() => kernel.compile({ ...shape, fields: many(MAX_FIELDS + 1) }, undefined)).toThrow(
      expect.objectContaining({ code: 'E_FIELDS' }),
    );
    expect(() => kernel.compile({ ...shape, fields: { a: 'x'.repeat(70_000) } }, undefined)).toThrow(
      expect.objectContaining({ code: 'E_FIELDS' }),
    );
  });

  test('adds as many fields as are allowed, around any of the object’s own', () => {
    const fields = Object.fromEntries(Array.from({ length: MAX_FIELDS }, (_, i) => [`f${i}`, i]));
    const some = '{"f0":"a","f31":"b","f32":"c","f59":"d"}';
    const event = JSON.parse(
      drive([Buffer.from(some)], { shape: { ...shape, fields }, timestampField: 'ts' }).toString(),
    ) as Record<string, unknown>;
    expect(event).toMatchObject({ ...fields, f0: 'a', f31: 'b', f32: 'c', f59: 'd' });
    expect(Object.keys(event)).toHaveLength(MAX_FIELDS + 1);
  });

  test('wraps a line of any size alone', () => {
    const huge = createKernel(48 * 1024 * 1024);
    const window = huge.reserve(40 * 1024 * 1024);
    window.bytes.fill('é\u0000');
    const end = window.bytes.lastIndexOf(0) + 2;
    window.bytes[end - 1] = 0x0a;
    const { consumed, event } = huge.wrapLarge(huge.compile(shape, undefined), 0, window, 0, end);
    expect(consumed).toBe(end);
    expect(event.length).toBeGreaterThan(100 * 1024 * 1024);
    expect(event.subarray(0, 60).toString()).toBe(
      '{"_time":"1970-01-01T00:00:00.000Z","message":"é\\u0000é\\u0'.slice(0, 58),
    );
    expect(event.subarray(-40).toString()).toMatch(/\\u0000","host":"h","service":"app"\}\n$/);
  });
});
