/** POST /v1/ingest/{dataset} and POST /v1/datasets/{dataset}/ingest: the same, under an older path. */
import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SERVICE_KEY_LENGTH, SERVICE_INGESTS_IN_FLIGHT, type ServiceLimits } from '../limits.ts';
import { leastRateOf } from '../fairness/least-rate.ts';
import { badRequest } from '../http/api-error.ts';
import { readBytes } from '../fairness/body.ts';
import { parameter } from '../http/read-request.ts';
import { decompress, tooLarge } from '../ingest/decompress.ts';
import { INGEST_REPLY, ingest, type IngestQuery, type IngestContext } from '../ingest/ingest.ts';
import { formatOf } from '../ingest/readers.ts';
import { type EndpointRequest, endpointsOf, group } from './endpoint.ts';
import { FairBudget, tooBusy, type Held } from '../fairness/fair-budget.ts';
import { ingestHolder } from '../fairness/holder.ts';

const PATHS = ['/v1/ingest/:dataset', '/v1/datasets/:dataset/ingest'] as const;
const DOC = {
  summary: 'Stores the events of the body',
  bodies: {
    'application/json': 'an array of events or of {time, data, labels} envelopes, one event, or events in lines',
    'application/x-ndjson': 'one JSON value a line',
    'text/csv': 'names in the first line, then one event a line',
  },
  query: z.object({
    'timestamp-field': parameter('the field that holds the time, instead of _time'),
    'timestamp-format': parameter('a Go layout, or one of rfc3339, unix, unixms, unixus, unixnano'),
    'csv-delimiter': parameter('between the values of a CSV line, default a comma'),
  }),
  headers: {
    '*Event-Labels': 'a JSON object whose keys are added to every event',
    '*CSV-Fields': 'column names; then the first line of a CSV body is an event, too',
    'Content-Encoding': 'gzip, zstd, deflate, br or identity',
    'Idempotency-Key': 'the first reply under a key is the reply to every later request with it',
  },
  reply: INGEST_REPLY,
};

type AskedIngest = EndpointRequest<`POST ${(typeof PATHS)[number]}`, z.ZodType, typeof DOC.query>;

interface IngestParts extends IngestContext {
  readonly headerPrefix: string;
  /** Personal tokens may ingest, too. */
  readonly personalIngest: boolean;
}

export const ingestEndpoints = group('ingest', {}, (_endpoint, parts: IngestParts, server) => {
  const prefix = parts.headerPrefix.toLowerCase();
  const { bodyBytes } = parts.limits;
  const admission = ingestAdmission(parts.limits);

  void server.register((scope, _options, done) => {
    // Bodies stay bytes, whatever they are; the reader of the format judges them.
    scope.decorateRequest('admitted');
    scope.removeAllContentTypeParsers();
    const bounds = { most: bodyBytes, tooLarge: () => tooLarge(bodyBytes), least: leastRateOf(parts.limits) };
    scope.addContentTypeParser('*', (request: FastifyRequest) => readBytes(request.raw, bounds));

    const handle = async ({ params, query, request, reply }: AskedIngest): Promise<FastifyReply> => {
      const { headers } = request;
      const asked = query();
      const options: IngestQuery = {
        format: formatOf(headers['content-type']),
        timestampField: asked['timestamp-field'],
        timestampFormat: asked['timestamp-format'],
        csvDelimiter: asked['csv-delimiter'],
        csvFields: utf8(headers[`${prefix}csv-fields`]),
        labels: utf8(headers[`${prefix}event-labels`]),
        labelBytes: headers[`${prefix}event-labels`]?.length ?? 0,
        key: keyOf(headers['idempotency-key']),
      };
      const text = await parts.catalog.use(params.dataset, (dataset) => {
        const work = async (): Promise<string> => {
          parts.quota.check(new Date());
          const sent = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
          // Not held while the engine stores its events.
          request.body = undefined;
          const { unpack } = request.getDecorator<Admitted>('admitted');
          const body = await decompress(sent, headers['content-encoding'], bodyBytes, unpack);
          return ingest(parts, dataset, body, options);
        };
        return options.key === undefined ? work() : parts.keys.once(dataset.id, options.key, work);
      });
      return reply.type('application/json; charset=utf-8').send(text);
    };
    const endpoint = endpointsOf(scope, 'ingest');
    const told = {
      ...DOC,
      ...(!parts.personalIngest && { tokens: 'api' as const }),
      need: { kind: 'dataset', right: 'ingest' } as const,
    };
    for (const path of PATHS)
      endpoint(`POST ${path}`, told, handle, {
        // Before the body is read, after the token was.
        onRequest: (request, reply, next) => {
          const admitted = admission.enter(request);
          request.setDecorator('admitted', admitted);
          reply.raw.once('close', admitted.release);
          next();
        },
      });
    done();
  });
});

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

interface Admitted {
  /** Waits until so many bytes of an unpacked body have room, in place of those it waited for before. */
  readonly unpack: (bytes: number) => Promise<void>;
  readonly release: () => void;
}

/** `bodyBytes` is the most that one body may have, `ingestBytes` that of all. */
function ingestAdmission({ bodyBytes, ingestBytes }: Pick<ServiceLimits, 'bodyBytes' | 'ingestBytes'>) {
  const requests = new FairBudget(SERVICE_INGESTS_IN_FLIGHT);
  const sent = new FairBudget(ingestBytes);
  const unpacked = new FairBudget(ingestBytes, SERVICE_INGESTS_IN_FLIGHT);
  return {
    /** Admits a request until it is released. Throws an `ApiError` 429 when too much is in flight, of its token or in all. */
    enter(request: FastifyRequest): Admitted {
      const holder = ingestHolder(request);
      const length = Number(request.headers['content-length'] ?? Number.NaN);
      const one = requests.tryTake(holder, 1);
      const body = one && sent.tryTake(holder, Number.isFinite(length) ? Math.min(length, bodyBytes) : bodyBytes);
      if (!body) {
        one?.release();
        throw tooBusy();
      }
      let content: Held | undefined;
      let isReleased = false;
      return {
        async unpack(bytes) {
          content?.release();
          content = await unpacked.take(holder, bytes);
          if (isReleased) content.release();
        },
        release() {
          isReleased = true;
          for (const held of [one, body, content]) held?.release();
        },
      };
    },
  };
}
