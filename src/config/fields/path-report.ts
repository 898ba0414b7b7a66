/** How rules between keys report problems. */

/** Reports at the value of a path, or at its key; absent paths fall back to the nearest one that is there. */
export interface PathReport {
  atValue(path: string, message: string, fix?: string): void;
  atKey(path: string, message: string, fix?: string): void;
  /** Warns of a setting that works, but is likely a mistake. */
  warnAtValue(path: string, message: string, fix?: string): void;
  warnAtKey(path: string, message: string, fix?: string): void;
  /** True when the key is written, be its value right or wrong. */
  has(path: string): boolean;
  /** The file that holds the value itself, not a variable, if every user of the machine may read it. */
  publicFileOf(path: string): string | undefined;
}
