/**
 * A file that may be a copy waits until that is known, and so does the truncated stream that it may be a copy of. Whatever happens to it, or to
 * its original, ends the waiting: no line is missing that was open or is there, none comes twice.
 */
import { expect, test } from 'vitest';
import { LaneDouble } from '../lane-double.ts';
import { type Call, systemError, TailRig } from './tail-rig.ts';

const first = Array.from({ length: 40 }, (_, n) => `line ${n} of the first generation`);
const second = Array.from({ length: 45 }, (_, n) => `line ${n} of the second`);

/** The files before one of the ways below: `a.log.1` is undecided. */
const situations: Readonly<Record<string, string>> = {
  'the original has lines that were not read': 'append a.log unread; cp a.log a.log.1; scan',
  'the original was read further than its copy': 'cp a.log a.log.1; append a.log more; drain',
  'the original was read further, twice': `
    cp a.log a.log.1; append a.log more; drain; cut a.log; append a.log ${second.map((line) => `"${line}"`).join(' ')}; mv a.log.1 a.log.2
    cp a.log a.log.1; drain; append a.log "still more"; drain`,
};

/** What happens to a file. */
const ways = [
  'nothing',
  'deleted',
  'truncated',
  'renamed',
  'renamed out of the globs',
  'unreadable',
  'unreadable once',
] as const;
type Way = (typeof ways)[number];

/** Calls that read fail on the unreadable files, for as long as they are. */
class Trouble {
  readonly #rig: TailRig;
  readonly #unreadable = new Map<string, 'once' | 'always'>();
  readonly #names = new Map<string | number, string>();

  constructor(rig: TailRig) {
    this.#rig = rig;
    rig.afterCalls.add((call, of, fd) => {
      if (call === 'open') this.#names.set(fd as number, of as string);
    });
    rig.beforeCalls.add((call, of) => this.#fail(call, this.#names.get(of) ?? String(of)));
  }

  add(name: string, often: 'once' | 'always'): void {
    this.#unreadable.set(this.#rig.path(name), often);
  }

  end(): void {
    this.#unreadable.clear();
  }

  #fail(call: Call, path: string): void {
    const often = this.#unreadable.get(path);
    if (often === undefined || !['open', 'peek', 'read'].includes(call)) return;
    if (often === 'once') this.#unreadable.delete(path);
    throw systemError('EIO');
  }
}

async function happen(rig: TailRig, trouble: Trouble, name: string, way: Way): Promise<void> {
  if (way === 'deleted') await rig.play`rm ${name}`;
  if (way === 'truncated') await rig.play`cut ${name}`;
  if (way === 'renamed') await rig.play`mv ${name} ${name}.moved`;
  if (way === 'renamed out of the globs') await rig.play`mv ${name} moved.${name}`;
  if (way === 'unreadable') trouble.add(name, 'always');
  if (way === 'unreadable once') trouble.add(name, 'once');
}

interface Course {
  readonly candidate: Way;
  readonly original: Way;
  /** Which of them comes first. */
  readonly begins: 'candidate' | 'original';
  /** What looks between the two; with other globs, the copies do not match any more. */
  readonly between: 'scan' | 'poll' | 'nothing' | 'restart' | 'restart with other globs';
}

/** The faults after it; empty where all is well. */
async function play(situation: string, { candidate, original, begins, between }: Course): Promise<string> {
  const rescueLane = new LaneDouble();
  const rig = new TailRig({ glob: 'a.log*', rescueLane });
  const trouble = new Trouble(rig);
  await rig.play`write a.log ${first}; start; drain`;
  await rig.run(situation);
  let lostBytes = 0;
  const acts = {
    candidate: () => happen(rig, trouble, 'a.log.1', candidate),
    original: () => happen(rig, trouble, 'a.log', original),
  };
  await acts[begins]();
  if (between === 'scan') await rig.source.scanOnce();
  if (between === 'poll') await rig.source.pollOnce();
  if (between.startsWith('restart')) {
    // As a stop does of a source that runs.
    await rig.source.scanOnce();
    await rig.source.stop();
    rig.commit();
    lostBytes += rig.source.stats.lostBytes;
    await rig.start({ glob: between === 'restart' ? 'a.log*' : 'a.log' });
  }
  await acts[begins === 'candidate' ? 'original' : 'candidate']();
  // Each unreadable file is waited for for a minute, and retried every half of one.
  await rig.pass(240, 5);
  const wrong = rig.source.listFiles!(10).files.flatMap(({ path, state }) =>
    state === 'undecided' ? [`${path.slice(rig.folder.length)} is undecided`] : [],
  );
  trouble.end();
  await rig.pass(90, 5);
  const { lagBytes, goneLagBytes = 0, files } = rig.source.stats;
  if (lagBytes + goneLagBytes > 0) wrong.push(`${lagBytes} bytes are not read, ${goneLagBytes} of deleted files`);
  if (files['failed']! + files['deleted']! > 0) wrong.push(JSON.stringify(files));
  lostBytes += rig.source.stats.lostBytes;
  const read = [...rig.lanes.flatMap(({ texts }) => texts), ...rescueLane.texts];
  const twice = read.length - new Set(read).size;
  // While its original stays as it was, it is a file of its own after 10 s.
  const isCopy = original === 'deleted' || original === 'truncated';
  if (twice > 0 && isCopy && candidate !== 'unreadable') wrong.push(`${twice} lines come twice`);
  const written = new Set([
    ...first,
    ...(situation.includes('unread') ? ['unread'] : ['more']),
    ...(situation.includes('still more') ? [...second, 'still more'] : []),
  ]);
  const missing = [...written].filter((line) => !read.includes(line)).length;
  // Unread lines are in both, until one of them is truncated; a copy that is gone after a restart helps nobody.
  const isGone =
    between.startsWith('restart') &&
    begins === 'candidate' &&
    ['deleted', 'renamed out of the globs'].includes(candidate);
  if (missing > 0 && candidate !== 'truncated' && !(isGone && original === 'truncated'))
    wrong.push(`${missing} lines are missing`);
  if (lostBytes > 0 && missing === 0 && !['truncated', 'unreadable'].includes(candidate))
    wrong.push(`${lostBytes} bytes are said to be lost`);
  await rig.source.stop();
  return wrong.join(', ');
}

function* courses(): Generator<Course> {
  for (const candidate of ways)
    for (const original of ways)
      for (const begins of ['candidate', 'original'] as const)
        for (const between of ['scan', 'poll', 'nothing', 'restart', 'restart with other globs'] as const)
          yield { candidate, original, begins, between };
}

test.for(Object.entries(situations))(
  'possible copy is decided, whatever happens to it or to its original, where %s',
  { timeout: 600_000 },
  async ([, situation]) => {
    const wrong: string[] = [];
    for (const course of courses()) {
      const faults = await play(situation, course);
      if (faults !== '') wrong.push(`${Object.values(course).join()}: ${faults}`);
    }
    expect(wrong).toEqual([]);
  },
);
