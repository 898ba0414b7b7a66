/**
 * The promise of the file source, as a model that knows only the lines written, the changes of files, and the events that arrived.
 *
 * Every token that was written arrives, and arrives once. It may be missing only if
 * - a truncation destroyed it before an agent had read it (the model is sure that it was read once a service that answers
 *   let an agent run for a while), or it was deleted before a scan had seen it;
 * - it was deleted or truncated away, not delivered yet, while no agent ran, or the agent was killed before it could bring it to
 *   the disk buffer: within a scan or two;
 * - its file had a name that the source follows between two scans only, and none before it under that name had been seen;
 * - it was written to the copy of an empty file, under a name that the source does not follow: nothing shows that this is a copy;
 * - its file was truncated before any of it was read, and began as before: such a file looks like one that grew, and nothing
 *   leads to the copies that were made of it since, where the source does not follow their names. All that is known of a file of which
 *   nothing was read behind its NUL gap is where that ends: it began as before where the next gap ends in the same place.
 * - it was in a compressed file that was deleted before it had arrived;
 * - the source follows links, and none had led to it before it was seen, or the one that did led elsewhere before a scan had seen it.
 * It may come twice only if the agent did not know of its delivery, or had not saved that, when something was destroyed
 * that may have been in flight with it: a batch that cannot be made again has no key any more.
 */
export interface Token {
  readonly name: string;
  /** With the bytes before it in its file that belong to no other token. */
  readonly bytes: number;
  /** An agent has it in hand, or passed it on. */
  isRead: boolean;
  /** That it was delivered is on disk. */
  isSaved: boolean;
  mayMiss: boolean;
  mayRepeat: boolean;
  /** A truncation destroyed it under the eyes of an agent that had seen it: if it is missing, that is counted. */
  isCounted: boolean;
}

/** A file's content now. */
interface Content {
  readonly tokens: Token[];
  /** How many of its tokens a scan has seen. */
  seen: number;
  /** No agent can know of the file. */
  isHidden: boolean;
  /** A compressed file has it, too. */
  isCompressed: boolean;
  /** It begins with so many NULs. */
  gap: number;
  /** An agent may have seen it. */
  isLookedAt: boolean;
}

export interface Surroundings {
  /** The source follows files of that name. */
  isFollowed(path: string): boolean;
  /** The file has the same first KiB again after a truncation. */
  beginsAlike(path: string): boolean;

  /** The service stored it. */
  hasArrived(token: Token): boolean;
  /** The agent got the answer that it is stored. */
  hasAnswered(token: Token): boolean;
}

/** Scans after which everything is in the disk buffer: an unfinished line takes one more. */
const SCANS_TO_SAFETY = 2;

export class Promised {
  readonly tokens: Token[] = [];
  readonly #around: Surroundings;
  readonly #files = new Map<string, Content>();
  /** Followed paths under which the last scan saw a file with bytes, which no look since saw without. */
  readonly #seenPaths = new Set<string>();
  /** Destroyed, known to the agent, and not brought to safety yet: the scans that takes at most. */
  readonly #atRisk = new Map<Token, number>();
  /** By path: bytes truncated since the last scan, and their copies; the first had a gap after which nothing was read. */
  readonly #unreadGaps = new Map<
    string,
    { readonly gap: number; readonly tokens: Token[]; readonly copies: Content[] }
  >();
  /** By path: bytes truncated, and not copied, since the last look. */
  readonly #truncated = new Map<string, readonly Token[]>();
  /** Something was destroyed since the last scan. */
  #isBroken = false;
  isRunning = false;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  isEmpty(path: string): boolean {
    return (this.#files.get(path)?.tokens.length ?? 0) === 0;
  }

  hasGap(path: string): boolean {
    return (this.#files.get(path)?.gap ?? 0) > 0;
  }

  /** The empty file begins with so many NULs from now on. */
  gap(path: string, bytes: number): void {
    this.#files.get(path)!.gap = bytes;
    const unread = this.#unreadGaps.get(path);
    if (unread?.gap !== bytes) return;
    for (const token of unread.tokens) token.isCounted = false;
    unread.copies.forEach(hide);
    this.#unreadGaps.delete(path);
  }

  write(path: string, name: string, bytes: number): void {
    let file = this.#files.get(path);
    if (!file) this.#files.set(path, (file = { ...newContent(), isHidden: !this.#around.isFollowed(path) }));
    // As long again, and ending alike at the same place, it looks as though it was changed in place.
    for (const each of this.#truncated.get(path) ?? []) each.isCounted = false;
    const token = {
      name,
      bytes,
      isRead: false,
      isSaved: false,
      mayMiss: file.isHidden,
      mayRepeat: false,
      isCounted: false,
    };
    file.tokens.push(token);
    this.tokens.push(token);
  }

  /** No link leads to the path any more: a file seen there is read on, and another need not be. */
  unlink(path: string): void {
    const file = this.#files.get(path);
    if (file?.seen === 0) hide(file);
  }

  /** A link leads to the path now: lines written there from now on are read. */
  link(path: string): void {
    const file = this.#files.get(path);
    if (file && this.#around.isFollowed(path)) file.isHidden = false;
  }

  /** `of` is the path that rotation began with. */
  rename(from: string, to: string, of: string): void {
    const file = this.#files.get(from)!;
    this.#files.delete(from);
    this.#unreadGaps.delete(from);
    this.#files.set(to, file);
    this.#truncated.set(to, this.#truncated.get(from) ?? []);
    this.#truncated.delete(from);
    this.#hideUnseen(file, to, of);
  }

  copy(from: string, to: string): void {
    const { tokens, isHidden, gap } = this.#files.get(from)!;
    this.#files.set(to, { ...newContent(), tokens: [...tokens], isHidden, gap });
  }

  /** The file is cut off; what `copy` has of it lives on there. */
  truncate(path: string, copy?: string): void {
    const file = this.#files.get(path)!;
    const copied = copy === undefined ? undefined : this.#files.get(copy);
    this.#files.set(path, { ...newContent(), isHidden: file.isHidden });
    const kept = copied?.tokens.length ?? 0;
    const gone = file.tokens.slice(kept);
    const isNoticed = file.tokens[0]?.isRead === true || !this.#around.beginsAlike(path);
    // One that begins alike and is as long again looks as though it was changed in place.
    const isKnown = isNoticed && (copied !== undefined || !this.#around.beginsAlike(path));
    for (const [index, token] of gone.entries())
      token.isCounted = isKnown && this.isRunning && kept + index < file.seen;
    if (!copied) this.#truncated.set(path, gone);
    this.#destroy(gone, (token) => token.isRead);
    if (!isNoticed) for (const token of file.tokens) token.mayMiss = true;
    if (copied && (!isNoticed || copied.tokens.length === 0) && !this.#around.isFollowed(copy!)) hide(copied);
    if (copied && file.seen === 0) this.#hideUnseen(copied, copy!, path);
    if (file.gap > 0 && file.isLookedAt && file.tokens[0]?.isRead === false)
      this.#unreadGaps.set(path, { gap: file.gap, tokens: [], copies: [] });
    const unread = this.#unreadGaps.get(path);
    unread?.tokens.push(...gone);
    if (copied && !this.#around.isFollowed(copy!)) unread?.copies.push(copied);
  }

  delete(path: string): void {
    const file = this.#files.get(path)!;
    this.#files.delete(path);
    this.#unreadGaps.delete(path);
    if (!file.isCompressed) this.#destroy(file.tokens, (token, index) => token.isRead || index < file.seen);
    else this.#breakKeys();
  }

  /** What the file has is in a compressed file from now on. */
  compress(path: string, compressed: string): void {
    const file = this.#files.get(path)!;
    file.isCompressed = true;
    this.#files.set(compressed, { ...newContent(), tokens: [...file.tokens] });
  }

  deleteCompressed(path: string): void {
    for (const token of this.#files.get(path)!.tokens) token.mayMiss ||= !this.#around.hasArrived(token);
    this.#files.delete(path);
    this.#retireKeys();
  }

  started(): void {
    this.isRunning = true;
  }

  /** A scan looked at everything; files gone by now are in the disk buffer, as far as that goes at once. */
  scanned(): void {
    this.#seenPaths.clear();
    this.#unreadGaps.clear();
    this.#truncated.clear();
    for (const [path, file] of this.#files) {
      if (file.isHidden) continue;
      file.seen = file.tokens.length;
      file.isLookedAt = true;
      if (file.seen > 0 && this.#around.isFollowed(path)) this.#seenPaths.add(path);
    }
    this.#isBroken = false;
    for (const [token, scans] of this.#atRisk)
      if (scans > 1) this.#atRisk.set(token, scans - 1);
      else this.#atRisk.delete(token);
  }

  /** A look other than a scan may have seen the present files, and the absence of others. */
  looked(): void {
    this.#truncated.clear();
    for (const path of this.#seenPaths) if (this.isEmpty(path)) this.#seenPaths.delete(path);
    for (const file of this.#files.values()) file.isLookedAt = true;
  }

  /** An agent ran for a while, with a service that answers: nothing is left to read. */
  waited(): void {
    for (const file of this.#files.values()) for (const token of file.tokens) token.isRead ||= !file.isHidden;
  }

  /** What the agent knows to be delivered is on disk. */
  saved(): void {
    for (const token of this.tokens) token.isSaved ||= this.#around.hasAnswered(token);
  }

  /** A stop scans once more, brings everything that is gone to the disk buffer, and saves. */
  stopped(): void {
    this.scanned();
    this.saved();
    this.#atRisk.clear();
    this.#end();
  }

  killed(): void {
    if (this.#isBroken) this.#retireKeys();
    for (const token of this.#atRisk.keys()) token.mayMiss = true;
    this.#atRisk.clear();
    this.#end();
  }

  #end(): void {
    this.isRunning = false;
    for (const token of this.tokens) token.isRead = false;
  }

  #breakKeys(): void {
    this.#isBroken = true;
    if (!this.isRunning) this.#retireKeys();
  }

  #destroy(tokens: readonly Token[], isKnown: (token: Token, index: number) => boolean): void {
    this.#breakKeys();
    for (const [index, token] of tokens.entries()) {
      if (this.#around.hasArrived(token)) continue;
      if (this.isRunning && isKnown(token, index)) this.#atRisk.set(token, SCANS_TO_SAFETY);
      else token.mayMiss = true;
    }
  }

  /** Whatever was in flight may be sent again in other company. */
  #retireKeys(): void {
    for (const token of this.tokens) token.mayRepeat ||= !token.isSaved;
  }

  #hideUnseen(file: Content, path: string, of: string): void {
    if (file.seen > 0 || this.#around.isFollowed(path) || this.#seenPaths.has(of)) return;
    hide(file);
  }
}

function hide(file: Content): void {
  file.isHidden = true;
  for (const token of file.tokens) token.mayMiss = true;
}

function newContent(): Content {
  return { tokens: [], seen: 0, isHidden: false, isCompressed: false, gap: 0, isLookedAt: false };
}
