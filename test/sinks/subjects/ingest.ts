/** A service on loopback. */
import { systemClock } from '../../../src/core/time/clock.ts';
import { createIngestSink } from '../../../src/sinks/ingest/sink.ts';
import { FakeService } from '../../support/fake-service.ts';
import { type FaultAnswer, FaultService } from '../../support/fault-service.ts';
import { startProgram } from '../../support/program.ts';
import { QUICK } from '../../support/shipping.ts';
import { sinkConfig } from '../../support/sink-config.ts';
import type { Alone, Destination, Subject } from './subject.ts';

async function alone(): Promise<Alone> {
  const service = await FakeService.start();
  const open: (() => void)[] = [];
  service.respond = (request, response) => void open.push(() => service.storeAll(request, response));
  return {
    sink: createIngestSink(sinkConfig(service.url), systemClock),
    take() {
      service.respond = (request, response) => service.storeAll(request, response);
      for (const answer of open.splice(0)) answer();
    },
    taken: () => service.lines.map((line) => `${line}\n`).join(''),
    leave: () => service.stop(),
  };
}

/** One that is away refuses, breaks the connection, or stores and does not answer. */
const AWAY: readonly FaultAnswer[] = [
  { status: 503 },
  { cut: true },
  { storeAndBreak: true },
  { status: 429, headers: { 'retry-after': '0' } },
];

async function destination(): Promise<Destination> {
  const service = await FaultService.start();
  let isAway = false;
  let refused: string | undefined;
  service.respond = ({ events }) => {
    if (isAway) return AWAY[service.requests.length % AWAY.length];
    return refused !== undefined && events.some((event) => event.includes(refused!)) ? { status: 400 } : undefined;
  };
  return {
    keys: `url: "${service.url}", dataset: logs, ${QUICK}`,
    start: (...args) => startProgram(args),
    stored: () => service.stored,
    away: () => void (isAway = true),
    back: () => void (isAway = false),
    isOnce: true,
    storedKeys: () => [...new Set(service.requests.map(({ key }) => key))].filter((key) => service.hasStored(key)),
    refuse: (text) => void (refused = text),
  };
}

export const subject: Subject = { alone, destination };
