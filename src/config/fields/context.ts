/** The context in which a component is built from its values, and the paths in them made absolute. */
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { JsonValue } from '../../core/block.ts';
import type { OriginNames } from './origin.ts';
import type { TransformConfig } from '../values.ts';
import type { Environment } from '../yaml/expand.ts';

export interface Context {
  readonly env: Environment;
  /** The folder of the component's file: relative paths start there. */
  readonly folder: string;
  readonly fields: Readonly<Record<string, JsonValue>>;
  readonly origin: OriginNames | undefined;
  readonly hostName: string;
  readonly sourceIds: readonly string[];
}

export function withTransform(
  transform: TransformConfig | undefined,
  { folder }: Pick<Context, 'folder'>,
): { transform?: TransformConfig } {
  if (transform === undefined) return {};
  return {
    transform: transform.kind === 'script' ? { ...transform, file: resolve(folder, transform.file) } : transform,
  };
}

/** A relative path names one of systemd's credentials, where there is one of that name. */
export function credentialPath(file: string, { env, folder }: Context): string {
  const credentials = env['CREDENTIALS_DIRECTORY'] ?? '';
  if (credentials !== '' && !isAbsolute(file)) {
    const path = resolve(credentials, file);
    if (existsSync(path)) return path;
  }
  return resolve(folder, file);
}
