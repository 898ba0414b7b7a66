/** A check's finding about a component, beyond the text of its configuration. */

export interface Finding {
  /** A path such as `sinks.store.token_file`. */
  readonly path: string;
  readonly message: string;
  readonly fix: string;
  /** The agent runs all the same. */
  readonly isWarning?: boolean;
}

/** A file that holds a secret. */
export interface SecretFile {
  readonly path: string;
  /** As in "it is …". */
  readonly what: string;
}
