/** What a source of files says of a path. */

/** A file that has, or had, to do with the one that is asked for: what rotation made of it, or it of. */
export interface RelatedFile {
  readonly path: string;
  readonly state: string;
  readonly offset?: number;
  readonly size: number;
}

export interface FileExplanation {
  readonly path: string;
  /** True where its bytes are read, or will be. */
  readonly isRead: boolean;
  readonly reason: string;
  readonly fix?: string | undefined;
  readonly patterns: string;
  /** Where the path is a symbolic link. */
  readonly linkTo?: string;
  /** `active`, `idle`, `rotated`, `deleted`, `failed` of a file that is followed, `undecided` of one that may be a copy. */
  readonly state?: string;
  /** What the agent made of the file when it last changed, or will make of it at its start: `renamed`, `truncated` … (docs/tailing.md). */
  readonly lastChange?: string;
  readonly stream?: string;
  /** The events' `file`. */
  readonly firstPath?: string;
  readonly currentPath?: string;
  readonly device?: string;
  readonly inode?: string;
  /** How many of its first bytes are known by their SHA-256. */
  readonly headBytes?: number;
  readonly headHash?: string;
  /** Everything before it was read and accepted. */
  readonly offset?: number;
  /** Everything before it is in the database: reading goes on there after a restart. */
  readonly savedOffset?: number;
  /** Everything before it was delivered, or is safe elsewhere. */
  readonly deliveredOffset?: number;
  readonly size?: number;
  readonly lagBytes?: number;
  /** True of a compressed file: the offsets count its content, `size` and `lagBytes` the compressed bytes. */
  readonly isCompressed?: boolean;
  /** Everything before it in the compressed file was read; absent until that was read to its end. */
  readonly compressedOffset?: number;
  readonly lastError?: string;
  readonly related?: readonly RelatedFile[];
}
