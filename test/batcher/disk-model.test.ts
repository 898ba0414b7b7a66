/**
 * The disk buffer against a model, through kills. A kill -9 keeps the disk as it is: the folder is copied in the middle of any work, and
 * the next life starts on the copy.
 */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { settleTurns, until } from '../support/until.ts';
import { DiskRig, type DiskRigOptions } from './disk-rig.ts';
import { delivered, pause, retry, stores } from './sink-rig.ts';

type Command =
  | { readonly kind: 'take'; readonly count: number }
  | { readonly kind: 'answer'; readonly which: number; readonly as: 'delivered' | 'retry' | 'pause' | 'halve' }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'turns'; readonly turns: number }
  | { readonly kind: 'written' }
  | { readonly kind: 'kill' };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      which: fc.nat(5),
      as: fc.constantFrom(
        'delivered' as const,
        'delivered' as const,
        'retry' as const,
        'pause' as const,
        'halve' as const,
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(50, 1000) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turns' as const), turns: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('written' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
);

/** Copies a folder that is being written to; returns where to. */
function copyNow(from: string): string {
  const root = makeTree({});
  for (let attempt = 0; ; attempt++) {
    const to = join(root, String(attempt));
    if (!existsSync(from)) return to;
    try {
      cpSync(from, to, { recursive: true });
      return to;
    } catch (error) {
      // A file was renamed or removed on the way.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 50) throw error;
    }
  }
}

class Lives {
  rig: DiskRig;
  /** What each key was ever sent with. */
  readonly bodyOf = new Map<string, string>();
  /** The key of each body that was ever sent. */
  readonly keyOf = new Map<string, string>();
  readonly accepted = new Set<string>();
  readonly stored = new Set<string>();
  /** Events that were on disk at some moment, and are to arrive whatever happens. */
  readonly durable = new Set<string>();
  readonly #options: DiskRigOptions;
  #folder = join(makeTree({}), 'spool');
  #seen = 0;
  #count = 0;
  kills = 0;

  constructor(options: DiskRigOptions) {
    this.#options = options;
    this.rig = new DiskRig(this.#folder, options);
  }

  async do(step: Command): Promise<void> {
    const { rig } = this;
    switch (step.kind) {
      case 'take': {
        const name = `${this.#count++}`;
        rig.take(name, step.count);
        for (let n = 0; n < step.count; n++) this.accepted.add(`{"batch":"${name}","n":${n},"p":""}`);
        break;
      }
      case 'answer':
        await this.#answer(step.which, step.as);
        break;
      case 'advance':
        await rig.clock.advance(step.ms);
        break;
      case 'turns':
        await settleTurns(step.turns);
        break;
      case 'written':
        await until(
          'it is written, or full',
          () => rig.queue.in('recovered', 'writing').length === 0 || rig.queue.isFull,
        );
        break;
      case 'kill':
        await this.kill();
    }
    this.check();
  }

  async #answer(which: number, as: 'delivered' | 'retry' | 'pause' | 'halve'): Promise<void> {
    const { open } = this.rig;
    const [request] = open.splice(which % Math.max(1, open.length), 1);
    if (!request) return;
    if (as === 'retry') return request.answer(retry('network'), 0);
    if (as === 'pause') return request.answer(pause(), 403);
    if (as === 'halve' && request.sent.events > 1) return request.answer({ kind: 'halve', detail: 'too large' }, 413);
    for (const event of linesOf(request.body)) this.stored.add(event);
    return request.answer(delivered(request.sent.events));
  }

  /** Invariants at every moment. */
  check(): void {
    const { rig } = this;
    rig.checkBalance();
    for (const { sent, body } of rig.requests.slice(this.#seen)) {
      const { key } = sent;
      expect(this.bodyOf.get(key) ?? body, 'a key stands for the same events, in every life').toBe(body);
      expect(this.keyOf.get(body) ?? key, 'the same events keep their key, in every life').toBe(key);
      this.bodyOf.set(key, body);
      this.keyOf.set(body, key);
      for (const event of linesOf(body)) expect(this.accepted.has(event), `nobody invented ${event}`).toBe(true);
    }
    this.#seen = rig.requests.length;
    for (const batch of rig.delivery.queue.sending)
      if (batch.spoolName !== undefined) this.#noteDurable(rig.bodies.get(batch.key));
  }

  #noteDurable(body: string | undefined): void {
    for (const event of linesOf(body ?? '')) this.durable.add(event);
  }

  async kill(): Promise<void> {
    this.kills += 1;
    this.check();
    this.#folder = copyNow(this.#folder);
    const before = this.rig;
    // The dead one's threads end: nothing they do reaches the copy.
    void before.stop();
    this.rig = new DiskRig(this.#folder, { ...this.#options, stream: `run ${this.kills}` });
    this.#seen = 0;
    await this.rig.buffer.recover();
    expect(this.rig.spool.brokenFiles, 'a kill tears no file that counts').toBe(0);
  }

  /** The service takes everything from now on. */
  async finish(): Promise<void> {
    const { rig } = this;
    rig.respond = (request) => {
      for (const event of linesOf(request.body)) this.stored.add(event);
      return stores(request);
    };
    while (rig.open.length > 0) await this.#answer(0, 'delivered');
    await until('nothing is held', async () => {
      await rig.clock.advance(1000);
      return rig.delivery.queue.sending.length === 0 && rig.queue.in('recovered', 'writing').length === 0;
    });
    this.check();
    await rig.stop();
  }
}

test.for<[string, DiskRigOptions]>([
  ['one worker', {}],
  ['three workers and gzip', { concurrency: 3, compression: 'gzip' }],
  ['a buffer that is often full', { maxBytes: 1500, concurrency: 2 }],
])(
  'disk buffer loses nothing that was on disk, and sends nothing under another key, through any kills (%s)',
  async ([, options]) => {
    let kills = 0;
    let durable = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
        const lives = new Lives(options);
        for (const each of commands) await lives.do(each);
        await lives.finish();
        for (const event of lives.durable) expect(lives.stored.has(event), `${event} was on disk`).toBe(true);
        for (const event of lives.stored) expect(lives.accepted.has(event)).toBe(true);
        kills += lives.kills;
        durable += lives.durable.size;
      }),
      { numRuns: 200, endOnFailure: true },
    );
    // The runs reached what they are about.
    expect(kills).toBeGreaterThan(30);
    expect(durable).toBeGreaterThan(300);
  },
);

function linesOf(body: string): string[] {
  return body.split('\n').filter((line) => line !== '');
}
