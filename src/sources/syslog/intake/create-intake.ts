/** The way of a syslog source's messages into blocks, without what brings them: the form of events, the collector and the intake. */
import type { SourceConfig } from '../../registry.ts';
import type { Lane, Region } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { SourceStats } from '../../../core/source.ts';
import { createZone } from '../../../core/time/zone.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { loadEncoding } from '../../../parsers/text/charset.ts';
import { Collector, collectorBytes, type CollectorOptions } from './collector.ts';
import { createEventForm, type EventForm } from '../message/event-form.ts';
import { MessageIntake } from './intake.ts';

export interface IntakeParts {
  readonly lane: Lane;
  readonly clock: Clock;
  readonly kernel: Kernel;
  readonly stats: SourceStats;
  /** Reserves kernel memory. */
  reserve(bytes: number): Region;
  readonly lost: CollectorOptions['lost'];
  readonly freed: CollectorOptions['freed'];
}

export interface OpenIntake {
  readonly form: EventForm;
  readonly collector: Collector;
  readonly intake: MessageIntake;
  /** A message's text in the source's charset. */
  readonly decode: (bytes: Buffer) => string;
  /** Comes before the first message. */
  readonly loadCharset: () => Promise<void>;
}

export function createIntake(
  config: Extract<SourceConfig, { readonly type: 'syslog' }>,
  parts: IntakeParts,
): OpenIntake {
  const { lane, clock, kernel, stats, lost, freed } = parts;
  const reserve = (bytes: number): Region => parts.reserve(bytes);
  const { maxEventBytes, onOversize, fields, charset, timezone, parseJson, parse } = config;
  const form = createEventForm(fields, parseJson);
  const window = reserve(collectorBytes(maxEventBytes, onOversize === 'split'));
  const collector = new Collector({ lane, window, maxEventBytes, shape: form.shape, clock, lost, freed });
  let decode = (bytes: Buffer): string => bytes.toString();
  const intake = new MessageIntake({
    maxEventBytes,
    onOversize,
    parseJson,
    parse,
    ...(charset === 'utf-8' ? {} : { decode: (bytes: Buffer) => decode(bytes) }),
    fieldNames: new Set(Object.keys(fields)),
    kernel,
    collector,
    zone: createZone(timezone),
    clock,
    stats,
    reserve,
  });
  return {
    form,
    collector,
    intake,
    decode: (bytes) => decode(bytes),
    async loadCharset() {
      ({ decode } = await loadEncoding(charset));
    },
  };
}
