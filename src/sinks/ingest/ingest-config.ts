/** What the keys of an ingest sink come to. */
import { parseProxy, proxyVariableFor } from '../../config/connect/proxy.ts';
import { type Context, credentialPath } from '../../config/fields/context.ts';
import type { FieldValues } from '../../config/fields/field.ts';
import { batchOf } from '../../config/common/sink-fields.ts';
import type { SinkConfig } from '../../config/model.ts';
import type { Secret } from '../../config/values.ts';
import type { Environment } from '../../config/yaml/expand.ts';
import type { ingestFields } from './fields.ts';

export type IngestSinkConfig = SinkConfig & Omit<ReturnType<typeof deriveIngest>, keyof SinkConfig>;

/** `url` is where events go, `apiUrl` where everything else does; each may have a proxy, whose address may hold a user and password. */
export function deriveIngest(values: FieldValues<typeof ingestFields>, context: Context) {
  const { batch, csv, tls, token, tokenFile, edgeUrl, ...others } = values;
  const path = (file: string | undefined) => (file === undefined ? undefined : credentialPath(file, context));
  const proxyOf = (address: string) => values.proxy ?? environmentProxy(address, context.env);
  const url = edgeUrl ?? values.url;
  const tokenPath = token === undefined ? path(tokenFile) : undefined;
  const key = path(tls.key);
  return {
    ...others,
    url,
    apiUrl: values.url,
    token: secretOf(token, tokenPath),
    // In this order they are part of the digest behind keys.
    csv: { columns: csv.columns, extra: csv.extra === 'drop' ? undefined : csv.extra, header: csv.header },
    tls: { ca: path(tls.ca), cert: path(tls.cert), key },
    proxy: proxyOf(url),
    apiProxy: proxyOf(values.url),
    batch: batchOf(batch, values.buffer),
    secretFiles: [
      ...(tokenPath === undefined ? [] : [{ path: tokenPath, what: 'the token_file' }]),
      ...(key === undefined ? [] : [{ path: key, what: 'the tls.key' }]),
    ],
  };
}

function secretOf(value: string | undefined, path: string | undefined): Secret | undefined {
  if (value !== undefined) return { kind: 'value', value };
  return path === undefined ? undefined : { kind: 'file', path };
}

/** One that cannot be read was reported before (check-keys.ts). */
function environmentProxy(address: string, env: Environment): string | undefined {
  const name = proxyVariableFor(address, env);
  const parsed = name === undefined ? undefined : parseProxy(env[name] ?? '');
  return parsed && 'value' in parsed ? parsed.value : undefined;
}
