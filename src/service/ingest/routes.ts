/** POST /v1/ingest/{dataset} and POST /v1/datasets/{dataset}/ingest: the same, under an older path. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_BODY_BYTES, SERVICE_INGESTS_IN_FLIGHT, SERVICE_KEY_LENGTH } from '../../core/limits.ts';
import { ApiError, badRequest } from '../http/api-error.ts';
import { decompress, tooLarge } from './decompress.ts';
import { ingest, type IngestOptions, type Parts } from './ingest.ts';
import { formatOf } from './readers.ts';

interface Ingest {
  Params: { dataset: string };
  Querystring: Record<string, string | string[] | undefined>;
  Body: Buffer | undefined;
}

export function ingestRoutes(server: FastifyInstance, parts: Parts, headerPrefix: string): void {
  const prefix = headerPrefix.toLowerCase();
  let inFlight = 0;

  void server.register((scope, _options, done) => {
    // Bodies stay bytes, whatever they are; the reader of the format judges them.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: SERVICE_BODY_BYTES }, (_request, body, parsed) => parsed(null, body));
    scope.setErrorHandler((error: Error & { code?: string }) => {
      throw error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? tooLarge(SERVICE_BODY_BYTES) : error;
    });

    const handle = async (request: FastifyRequest<Ingest>, reply: FastifyReply): Promise<FastifyReply> => {
      const { headers, query } = request;
      const options: IngestOptions = {
        format: formatOf(headers['content-type']),
        timestampField: one(query, 'timestamp-field'),
        timestampFormat: one(query, 'timestamp-format'),
        csvDelimiter: one(query, 'csv-delimiter'),
        csvFields: utf8(headers[`${prefix}csv-fields`]),
        labels: utf8(headers[`${prefix}event-labels`]),
        labelBytes: headers[`${prefix}event-labels`]?.length ?? 0,
        key: keyOf(headers['idempotency-key']),
      };
      if (inFlight >= SERVICE_INGESTS_IN_FLIGHT) throw new ApiError(429, 'rate limit exceeded', { 'Retry-After': '1' });
      inFlight++;
      try {
        const text = await parts.catalog.use(request.params.dataset, (dataset) => {
          const work = async (): Promise<string> => {
            const body = await decompress(request.body ?? Buffer.alloc(0), headers['content-encoding'], SERVICE_BODY_BYTES);
            return ingest(parts, dataset, body, options);
          };
          return options.key === undefined ? work() : parts.keys.once(dataset.id, options.key, work);
        });
        return reply.type('application/json; charset=utf-8').send(text);
      } finally {
        inFlight--;
      }
    };
    const config = { config: { tokens: 'api' } } as const;
    scope.post<Ingest>('/v1/ingest/:dataset', config, handle);
    scope.post<Ingest>('/v1/datasets/:dataset/ingest', config, handle);
    done();
  });
}

function one(query: Ingest['Querystring'], name: string): string {
  const value = query[name] ?? '';
  if (Array.isArray(value)) throw badRequest(`the query parameter ${name} is given ${value.length} times`);
  return value;
}

/** Node reads header bytes as Latin-1; most clients mean UTF-8. */
function utf8(header: string | string[] | undefined): string {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

function keyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header !== 'string' || header.length > SERVICE_KEY_LENGTH)
    throw badRequest(`Idempotency-Key: wanted one value of at most ${SERVICE_KEY_LENGTH} characters`);
  return header;
}
