/** The files that a configuration names and that hold secrets. */
import { resolve } from 'node:path';
import type { Config, TransformConfig } from '../model.ts';

export interface SecretFile {
  readonly path: string;
  /** As in "it is …". */
  readonly what: string;
}

const KEY_OF_HASH = /\bsecret_file\s*\(\s*@?(?:"([^"]*)"|'([^']*)')/g;

/** Also the folder of systemd's credentials, whatever names these. */
export function secretFilesOf({ sources, sinks, transform }: Config, env: NodeJS.ProcessEnv = process.env): SecretFile[] {
  const credentials = env['CREDENTIALS_DIRECTORY'] ?? '';
  const sinkFiles = sinks.flatMap((sink): SecretFile[] => {
    if (sink.type !== 'ingest') return [];
    const { id, token, tls } = sink;
    return [
      ...(token?.kind === 'file' ? [{ path: token.path, what: `the token_file of sink "${id}"` }] : []),
      ...(tls.key === undefined ? [] : [{ path: tls.key, what: `the tls.key of sink "${id}"` }]),
    ];
  });
  const sourceFiles = sources.flatMap((source) =>
    source.type === 'syslog' && source.tls.key !== undefined
      ? [{ path: source.tls.key, what: `the tls.key of source "${source.id}"` }]
      : [],
  );
  const hashKeys = [transform, ...sources.map((source) => source.transform), ...sinks.map((sink) => sink.transform)].flatMap(keysOfHash);
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
