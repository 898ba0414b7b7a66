/** The embedded engine's packages in the npm registry, as package-lock.json has them. Made by scripts/generate.ts. */

export interface EnginePackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and base64. */
  readonly integrity: string;
}

export const enginePackages: readonly EnginePackage[] = [
  {
    name: '@chdb/lib-linux-x64-gnu',
    version: '26.7.3-stable.1',
    integrity: 'sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==',
  },
  {
    name: 'chdb',
    version: '3.4.0',
    integrity: 'sha512-HMNj4dq3lIrwqxwGSuuEjo9EIlC+k8IjsSQHh1ZStGvV6MRckfvPM2aDqzdW1ti3fldrt9UIntJBm0AbV9nbDQ==',
  },
];
