/** The files that a configuration names and that hold secrets. */
import { resolve } from 'node:path';
import { sourceTypeOf } from '../../sources/registry.ts';
import type { SecretFile } from '../findings.ts';
import type { Config } from '../model.ts';
import type { TransformConfig } from '../values.ts';

const KEY_OF_HASH = /\bsecret_file\s*\(\s*@?(?:"([^"]*)"|'([^']*)')/g;

/** Also the folder of systemd's credentials, whatever names these. */
export function secretFilesOf(
  { sources, sinks, transform }: Config,
  env: NodeJS.ProcessEnv = process.env,
): SecretFile[] {
  const credentials = env['CREDENTIALS_DIRECTORY'] ?? '';
  const sinkFiles = sinks.flatMap(({ id, secretFiles = [] }) =>
    secretFiles.map(({ path, what }) => ({ path, what: `${what} of sink "${id}"` })),
  );
  const sourceFiles = sources.flatMap((source) =>
    (sourceTypeOf(source).secretFiles?.(source) ?? []).map(({ path, what }) => ({
      path,
      what: `${what} of source "${source.id}"`,
    })),
  );
  const hashKeys = [
    transform,
    ...sources.map((source) => source.transform),
    ...sinks.map((sink) => sink.transform),
  ].flatMap(keysOfHash);
  const all = credentials === '' ? [] : [{ path: credentials, what: 'one of systemd’s credentials' }];
  return [...sinkFiles, ...sourceFiles, ...hashKeys, ...all];
}

function keysOfHash(transform: TransformConfig | undefined): SecretFile[] {
  if (transform?.kind !== 'pipeline') return [];
  return [...transform.text.matchAll(KEY_OF_HASH)].map(([, double, single]) => ({
    path: resolve((double ?? single ?? '').replaceAll(/\\(.)/g, '$1')),
    what: 'the key of a hash in a transform',
  }));
}
