/** A context for sources under test: ordinary memory, streams in a list, log lines kept. */
import type { SourceContext } from '../../src/core/source.ts';
import type { Loss, StreamRecord } from '../../src/core/stream.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { LaneDouble, plainRegion } from './lane-double.ts';

export interface TestContext extends SourceContext {
  readonly lane: LaneDouble;
  /** Streams that were minted, in order. */
  readonly minted: StreamRecord[];
  /** Ids that were forgotten. */
  readonly forgotten: string[];
  /** The lost bytes that the state is given. */
  readonly losses: Loss[];
  /** `level: sentence` of every line that was logged. */
  readonly logged: string[];
}

export function createTestContext(changes: Partial<SourceContext> = {}): TestContext {
  const minted: StreamRecord[] = [];
  const forgotten: string[] = [];
  const losses: Loss[] = [];
  const logged: string[] = [];
  const write = (level: string) => (_fields: object, message: string) => void logged.push(`${level}: ${message}`);
  return {
    streams: {
      mint(source, path, identity, startAt = 0) {
        const id = (minted.length + 1).toString(16).padStart(32, '0');
        const at = { startAt, resumeAt: startAt, tail: { length: 0, crc: 0 }, contentSum: 0, createdMs: 0 };
        const record: StreamRecord = { id, source, path, identity, ...at };
        minted.push(record);
        return record;
      },
      list: (source) => minted.filter((each) => each.source === source && !forgotten.includes(each.id)),
      begin() {},
      identify() {},
      see() {},
      lose: (loss) => void losses.push(loss),
      noteCompressedEnd() {},
      forget: (stream) => void forgotten.push(stream),
      isSettled: () => true,
    },
    clock: systemClock,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    hostname: 'testhost',
    reserve: plainRegion,
    once: false,
    ...changes,
    lane: new LaneDouble(),
    minted,
    forgotten,
    losses,
    logged,
  };
}
