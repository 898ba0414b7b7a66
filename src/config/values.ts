/** Forms of values that kinds of keys make. */

/** A transform of events. `path` names its place in the file. `onError`: undefined leaves it to what the transform does. */
export type TransformConfig = {
  readonly path: string;
  readonly onError: 'keep' | 'dead_letter' | 'drop' | undefined;
} & ({ readonly kind: 'pipeline'; readonly text: string } | { readonly kind: 'script'; readonly file: string });

export type Secret =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string };

/** Absolute paths of PEM files. */
export interface TlsFiles {
  readonly ca: string | undefined;
  /** Both or none. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
}
