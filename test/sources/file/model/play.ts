/** Plays a schedule with real files and an agent, and holds the promise against what arrived. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ModelAgent, spoolFolder } from './agent.ts';
import { COMPRESSED, type Event, LINKS } from './events.ts';
import { beginsAlike, Files } from './files.ts';
import { Inodes } from './inodes.ts';
import { ModelLinks } from './links.ts';
import { Promised, type Token } from './promise.ts';
import { ModelStore } from './store.ts';

/** Longer than everything that the source puts off: unfinished lines, descriptors, copies that are not decided. */
const A_WHILE_SECONDS = 12;
const REREAD_SECONDS = 61;
/** How often the agent comes to rest, at most, until what a start looks at is closed. */
const CLOSING_TURNS = 100;
/** As long as the plain form of a compressed file may come back, and is then kept. */
const COMPRESSED_WAITS_SECONDS = 130;

/** Plays on a fresh folder under `parent`; throws where the promise does not hold. `include` is about names, `compressed`, or `links`. */
export async function play(schedule: readonly Event[], include: string, parent: string): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(parent, 'tailrace-model-')));
  const game = new Play(folder, include);
  try {
    for (const event of schedule) await game.do(event);
    await game.end();
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${game.log.join('\n').replaceAll(folder, '')}`, { cause: error });
  } finally {
    await game.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Play {
  readonly log: string[] = [];
  readonly #folder: string;
  readonly #include: string;
  readonly #readsCompressed: boolean;
  readonly #store = new ModelStore();
  readonly #promised: Promised;
  readonly #files: Files;
  /** Where files are read through links. */
  readonly #links: ModelLinks | undefined;
  readonly #inodes: Inodes;
  #agent: ModelAgent | undefined;
  /** Changes that the watches have not reported yet, and those of the last report: names, and whether these came or went. */
  #untold: Change[] = [];
  #told: Change[] = [];
  #lostBytes = 0;
  /** The service has answered since before the last wait. */
  #isCalm = true;
  #isAnswering = true;
  /** Bytes counted as lost may have been stored, or counted by a process that was killed. */
  #isLossUnsure = false;

  constructor(folder: string, include: string) {
    this.#folder = folder;
    this.#readsCompressed = include === COMPRESSED;
    this.#links = include === LINKS ? new ModelLinks(folder) : undefined;
    this.#include = this.#links ? 'links/*.log' : join('logs', this.#readsCompressed ? '*.log*' : include);
    mkdirSync(join(folder, 'logs'));
    mkdirSync(join(folder, 'data'));
    this.#inodes = new Inodes(join(folder, 'logs'));
    this.#promised = new Promised({
      isFollowed: (path) => this.#links?.leadsTo(path) ?? (this.#include.endsWith('*') || path.endsWith('.log')),
      beginsAlike,
      hasArrived: ({ name }) => this.#store.stored.has(name),
      hasAnswered: ({ name }) => this.#store.answered.has(name),
    });
    this.#files = new Files(this.#promised, this.#readsCompressed);
  }

  async do(event: Event): Promise<void> {
    this.log.push(`- ${JSON.stringify(event)}`);
    if (event.kind === 'copytruncate') await this.#copyTruncate(event);
    else if ('file' in event) this.#watch(() => this.#write(event, this.#pathOf(event.file)));
    else if (event.kind === 'wake') await this.#wake(event.told);
    else if (event.kind === 'kill') await this.#kill(event.after);
    else if (isMood(event)) await this.#setMood(event.kind);
    else await this.#run(event.kind);
    // A watch that is new has its folder looked at soon.
    if (this.#agent && !('file' in event)) this.#promised.looked();
    this.#check();
  }

  /** The service takes everything, and time passes, until all is quiet; then the promise must have been kept. */
  async end(): Promise<void> {
    await this.#settle();
    if (this.#lacking.length > 0) await this.#waitForReread();
    this.#judge();
    // And it goes on.
    for (const file of [0, 1]) {
      if (this.#links && !this.#links.leadsTo(this.#pathOf(file))) this.#links.retarget(file);
      this.#watch(() => this.#files.append(this.#pathOf(file), 1));
    }
    // What ends in NULs stays open.
    this.#watch(() => this.#files.closeAll());
    await this.#settle();
    if (this.#lacking.length > 0) await this.#waitForReread();
    this.#judge();
    // All but the compressed files that a start looks at are closed by now.
    for (let turn = 0; turn < CLOSING_TURNS && this.#agent!.openFiles > 0; turn += 1) await this.#agent!.rest();
    if (this.#agent!.openFiles > 0) throw new Error(`${this.#agent!.openFiles} files are never closed`);
    const spool = spoolFolder(join(this.#folder, 'data'));
    if (existsSync(spool) && readdirSync(spool).some((name) => name.endsWith('.batch')))
      throw new Error('batches are left in the disk buffer');
  }

  async close(): Promise<void> {
    await this.#agent?.kill();
    this.#inodes.close();
  }

  async #copyTruncate(event: Extract<Event, { kind: 'copytruncate' }>): Promise<void> {
    const files = this.#files;
    const path = this.#pathOf(event.file);
    this.#watch(() => {
      if (!this.#promised.has(path)) files.append(path, 1);
      files.beginCopy(path);
    });
    if (event.seen === 'half') await this.#seeCopy();
    this.#watch(() => files.endCopy(path));
    if (event.seen === 'whole') await this.#seeCopy();
    if (event.seen === 'more') {
      if (event.lines > 0) this.#watch(() => files.append(path, event.lines));
      await this.#seeCopy();
    }
    this.#watch(() => files.cut(path, event.seen === 'more' ? 0 : event.lines));
  }

  async #seeCopy(): Promise<void> {
    if (!this.#agent) return;
    await this.#wake('all');
    this.#promised.looked();
  }

  /** Where the file is, or was last, that the agent is to read. */
  #pathOf(file: number): string {
    return this.#links?.targetOf(file) ?? join(this.#folder, 'logs', `app${file}.log`);
  }

  #write(event: Exclude<Extract<Event, { file: number }>, { kind: 'copytruncate' }>, path: string): void {
    const files = this.#files;
    if (event.kind === 'unlink' || event.kind === 'retarget') {
      if (!this.#links) return;
      // Text in place of NULs is not read once nobody seems to write there any more.
      files.close(path);
      this.#promised.unlink(path);
      this.#links[event.kind](event.file);
      return this.#promised.link(this.#pathOf(event.file));
    }
    if (event.kind === 'append') return files.append(path, event.lines);
    if (event.kind === 'partial') return files.append(path, 0, true);
    if (!this.#promised.has(path)) files.append(path, 1);
    switch (event.kind) {
      case 'late append':
        return files.append(files.rotated(path), 2);
      case 'rename':
        return files.rename(path);
      case 'regrow':
        return files.regrow(path);
      case 'refill':
        return files.refill(path);
      case 'reserve':
        // Read to its end through a link that is gone, it is nobody's: text in place of its NULs is not read.
        return this.#links?.leadsTo(path) === false ? undefined : files.reserve(path);
      case 'truncate':
        return files.truncate(path);
      case 'delete':
        return files.delete(path);
      case 'recreate':
        files.delete(path);
        return files.append(path, 1);
      case 'compress':
        return files.compress(files.rotated(path));
    }
  }

  /** Notes what the watch of the folder has to tell. */
  #watch(happen: () => void): void {
    const before = this.#list();
    happen();
    this.#inodes.sync((inode) => this.#agent?.holds(inode) === true);
    const after = this.#list();
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(name), after.get(name)];
      if (was !== is) this.#untold.push([name, was?.split(' ')[0] !== is?.split(' ')[0]]);
    }
  }

  /** The files, each with its inode and what shows that it changed. */
  #list(): Map<string, string> {
    const logs = join(this.#folder, 'logs');
    return new Map(
      readdirSync(logs)
        .toSorted()
        .map((name) => {
          const { ino, size, mtimeMs } = statSync(join(logs, name));
          return [name, `${ino} ${size} ${mtimeMs}`];
        }),
    );
  }

  async #wake(told: Extract<Event, { kind: 'wake' }>['told']): Promise<void> {
    const agent = this.#agent ?? (await this.#start());
    const changes = this.#untold.splice(0, told === 'first' ? 1 : Infinity);
    const before = told === 'again' ? this.#told : [];
    this.#told = changes;
    await agent.wake(told === 'nothing' ? [] : told === 'overflow' ? [[undefined, true]] : [...before, ...changes]);
  }

  async #run(kind: 'scan' | 'wait' | 'deliver' | 'save' | 'stop' | 'restart'): Promise<void> {
    const agent = this.#agent ?? (await this.#start());
    switch (kind) {
      case 'scan':
        await agent.pass(1);
        return this.#promised.scanned();
      case 'wait':
        await agent.pass(A_WHILE_SECONDS);
        // Twice: as often as it takes.
        this.#promised.scanned();
        this.#promised.scanned();
        if (this.#isCalm) this.#promised.waited();
        this.#isCalm = this.#isAnswering;
        return;
      case 'deliver':
        return agent.deliver();
      case 'save':
        agent.save();
        return this.#promised.saved();
      case 'stop':
      case 'restart':
        await agent.stop();
        this.#leave(agent);
        this.#promised.stopped();
        if (kind === 'restart') await this.#start();
    }
  }

  async #kill(after: number): Promise<void> {
    this.#isLossUnsure = true;
    const agent = this.#agent ?? this.#begin(after > 0 ? after : Infinity);
    if (this.#agent) {
      if (after > 0) agent.dieAfter(after);
      if (after > 0) await agent.pass(1);
    } else await agent.start();
    await agent.kill();
    this.#leave(agent);
    // The process that got the answer cannot save it any more.
    this.#store.answered.clear();
    this.#promised.killed();
  }

  async #setMood(mood: Extract<Event, { kind: Parameters<ModelStore['setMood']>[0] }>['kind']): Promise<void> {
    this.#store.setMood(mood);
    // Waiting work gets its answer before anything else happens.
    await this.#agent?.rest();
    this.#isAnswering = mood === 'answer';
    if (!this.#isAnswering) this.#isCalm = false;
    if (mood === 'lose replies') this.#isLossUnsure = true;
  }

  #begin(calls?: number): ModelAgent {
    this.#promised.started();
    this.#untold = [];
    const include = join(this.#folder, this.#include);
    return new ModelAgent(
      {
        folder: join(this.#folder, 'data'),
        include,
        readCompressed: this.#readsCompressed,
        store: this.#store,
        inodes: this.#inodes,
      },
      calls,
    );
  }

  async #start(): Promise<ModelAgent> {
    this.#agent = this.#begin();
    await this.#agent.start();
    this.#promised.scanned();
    return this.#agent;
  }

  #leave(agent: ModelAgent): void {
    this.#lostBytes += agent.lostBytes;
    this.log.push(...agent.log);
    this.#agent = undefined;
  }

  async #settle(): Promise<void> {
    await this.#setMood('answer');
    const agent = this.#agent ?? (await this.#start());
    await agent.pass(A_WHILE_SECONDS);
    await agent.deliver();
    // Batches to retry are sent, and lines that they held back are read.
    await agent.pass(3);
    await agent.deliver();
    await agent.pass(this.#readsCompressed ? COMPRESSED_WAITS_SECONDS : 3);
    await agent.deliver();
    await agent.pass(3);
    this.#promised.scanned();
  }

  /** A file that seems to be changed in place is read from its beginning once a minute at most. */
  async #waitForReread(): Promise<void> {
    await this.#agent!.pass(REREAD_SECONDS);
    await this.#settle();
  }

  get #lacking(): readonly Token[] {
    return this.#promised.tokens.filter(({ name, mayMiss }) => !mayMiss && !this.#store.stored.has(name));
  }

  #check(): void {
    const imbalance = this.#agent?.imbalance ?? [];
    if (imbalance.length > 0) throw new Error(`the accounting does not balance: ${imbalance.join(', ')}`);
    if (this.#store.misused.length > 0) throw new Error('one key stood for different events');
    if (this.#store.mangled.length > 0) throw new Error(`mangled: ${this.#store.mangled.join(', ')}`);
  }

  #judge(): void {
    this.#check();
    const agent = this.#agent!;
    this.log.push(...agent.log.splice(0));
    const { tokens } = this.#promised;
    const { stored } = this.#store;
    if (agent.heldBatches > 0) throw new Error(`${agent.heldBatches} batches are never settled`);
    const missing = tokens.filter(({ name }) => !stored.has(name));
    refuse('missing', this.#lacking);
    refuse(
      'stored twice',
      tokens.filter(({ name, mayRepeat }) => !mayRepeat && (stored.get(name) ?? 0) > 1),
    );
    const known = new Set(tokens.map(({ name }) => name));
    refuse(
      'never written',
      [...stored.keys()].flatMap((name) => (known.has(name) ? [] : [{ name }])),
    );
    if (this.#isLossUnsure) return;
    const told = this.#lostBytes + agent.lostBytes;
    const most = sumOf(missing);
    const least = sumOf(missing.filter(({ isCounted }) => isCounted));
    if (told > most || told < least)
      throw new Error(`${told} bytes are said to be lost, at least ${least} and at most ${most} are`);
  }
}

type Change = [name: string, isEntry: boolean];

function isMood(event: Event): event is Extract<Event, { kind: Parameters<ModelStore['setMood']>[0] }> {
  return ['answer', 'refuse', 'hang', 'lose replies', 'refuse half'].includes(event.kind);
}

function refuse(text: string, tokens: readonly { readonly name: string }[]): void {
  if (tokens.length > 0) throw new Error(`${text}: ${tokens.map(({ name }) => name).join(' ')}`);
}

function sumOf(tokens: readonly { readonly bytes: number }[]): number {
  return tokens.reduce((sum, { bytes }) => sum + bytes, 0);
}
