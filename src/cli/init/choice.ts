/** A choice that `init` made, and why. */
export interface Choice {
  /** `preset: nginx-access`, as it stands in a configuration. */
  readonly entry: string;
  readonly reason: string;
}
