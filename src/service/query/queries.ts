/** Answers requests for queries, by text and in the legacy form. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Arrivals } from '../datasets/arrivals.ts';
import type { Catalog, DatasetRecord } from '../datasets/catalog.ts';
import { datasetFields } from '../datasets/schemas.ts';
import type { Engine } from '../engine/engine.ts';
import type { FairBudget, Held } from '../fairness/fair-budget.ts';
import { tooMuchUnread } from '../fairness/unread-replies.ts';
import { queryHolder } from '../fairness/holder.ts';
import { badRequest } from '../http/api-error.ts';
import { SERVICE_GUESSED_REPLY, SERVICE_REPLY_PIECE } from '../limits.ts';
import type { Metrics } from '../http/metrics.ts';
import { datasetsOf, usingAll } from './source/datasets-of.ts';
import { type AplBody, type QueryParameters, readCursor, readVariables, withText } from './apl-request.ts';
import type { LegacyBody } from './legacy/schema.ts';
import { legacyStages } from './legacy/stages.ts';
import { planOf, readQuery } from '../../language/text/query-text.ts';
import { ignoredOption, type Message, waitedFor } from './results/answer.ts';
import { echoOf } from './results/echo.ts';
import { writeLegacy } from './results/legacy.ts';
import { ReplyBudget, ReplyText } from './results/reply-text.ts';
import { writeTables } from './results/tabular.ts';
import type { RunningQueries, RunningQuery } from './running-queries.ts';
import { asReply, readRange, runQuery, stepOf, type QueryRequest, type RequestRange } from './run.ts';
import { isLongQuery, type QueryTurns } from './turns.ts';
import { AplError, positionIn } from '../../language/syntax/apl-error.ts';
import { autoStep } from './plan/times.ts';
import { namedIn, virtualOf, type ColumnsOf } from './source/virtual-events.ts';
import type { Column, QueryStage, Tree } from '../../language/plan/tree.ts';
import { isNamed, VirtualFieldError } from '../../language/plan/virtual.ts';

/** A request for a query: of what it asks, and what it is answered with. */
interface QueryExchange<Body> {
  readonly body: () => Body;
  readonly query: () => QueryParameters;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface QueryParts {
  readonly catalog: Catalog;
  readonly engine: Engine;
  readonly arrivals: Arrivals;
  readonly countQuery: Metrics['countQuery'];
  readonly columnsOf: ColumnsOf;
  /** Of replies in flight. */
  readonly replyBytes: number;
  readonly replies: FairBudget;
  readonly turns: QueryTurns;
  readonly headerPrefix: string;
  readonly running: RunningQueries;
}

export function openQueries(parts: QueryParts) {
  const { catalog, engine, arrivals, countQuery, columnsOf, replyBytes, replies, turns, headerPrefix, running } = parts;
  /** A query keeps its turn until its reply is written. */
  const inTurn = (
    request: FastifyRequest,
    named: readonly (readonly DatasetRecord[])[],
    range: RequestRange,
    { signal, is }: RunningQuery,
    work: (text: ReplyText) => Promise<Written>,
  ): Promise<Written> => {
    signal.throwIfAborted();
    return turns.run(queryHolder(request), isLongQuery(engine, named, range), signal, async () => {
      is('running');
      const written = await work(new ReplyText(new ReplyBudget(replyBytes / 2)));
      // The client has got the reason already.
      signal.throwIfAborted();
      return written;
    });
  };
  /** Waits for room for a reply, which is given back once the client has read it. */
  const roomFor = async (request: FastifyRequest, reply: FastifyReply, { signal }: RunningQuery): Promise<Held> => {
    signal.throwIfAborted();
    const room = await replies.take(queryHolder(request), SERVICE_GUESSED_REPLY, signal);
    request.hasReplyRoom = true;
    if (reply.raw.destroyed) room.release();
    else reply.raw.once('close', room.release);
    return room;
  };
  const run: Run = async (request, stagesOf, messages) => {
    const waited = waitedFor(performance.now() - request.startedAt);
    const ran = await runQuery(engine, request, stagesOf, [...messages, ...waited]);
    countQuery(Number(ran.status['elapsedTime']) / 1e6, Number(ran.status['rowsExamined']));
    return ran;
  };
  /**
   * Runs a query and answers with what it found. With `streaming-duration` one that found nothing waits, without using the dataset so that
   * it can be removed, and runs again once events were stored.
   */
  const answer = async (
    { request, reply }: Pick<QueryExchange<unknown>, 'request' | 'reply'>,
    parameters: QueryParameters,
    under: RunningQuery,
    name: string | undefined,
    run: () => Promise<Written>,
  ): Promise<FastifyReply> => {
    const holdMs = name === undefined ? 0 : parameters['streaming-duration'];
    const since = performance.now();
    let room = await roomFor(request, reply, under);
    let written = await run();
    if (holdMs > 0 && written.rowsMatched === 0) {
      room.release();
      under.is('waiting');
      const isStored = await arrivals.wait(catalog.get(name!).id, since, holdMs, under.signal, queryHolder(request));
      room = await roomFor(request, reply, under);
      if (isStored) written = await run();
    }
    return send(reply, parameters, room, written);
  };
  const send = (
    reply: FastifyReply,
    parameters: QueryParameters,
    room: Held,
    { text, bytesRead }: Written,
  ): FastifyReply => {
    const bytes = text.size();
    if (!room.resize(bytes)) throw tooMuchUnread();
    void reply.header(`${headerPrefix}Bytes-Read`, bytesRead);
    // Queries are not kept: the id is only a name for this one.
    if (parameters.saveAsKind) void reply.header(`${headerPrefix}History-Query-Id`, randomUUID());
    void reply.type('application/json; charset=utf-8');
    return bytes <= SERVICE_REPLY_PIECE
      ? reply.send(Buffer.concat(text.pieces()))
      : reply
          .header('Content-Length', bytes)
          .send(
            Readable.from(text.chunks(SERVICE_REPLY_PIECE), { objectMode: false, highWaterMark: SERVICE_REPLY_PIECE }),
          );
  };

  const apl = ({ body: sent, query: asked, request, reply }: QueryExchange<AplBody>): Promise<FastifyReply> => {
    const parameters = asked();
    const body = withText(sent());
    // Errors outside the text have no place in it: report them first.
    askedOf(body, parameters);
    return running.track({ request, reply, text: () => body.apl }, async (under) => {
      const options = { signal: under.signal, fresh: parameters.nocache };
      const variables = readVariables(body.variables);
      let used: readonly string[] = [];
      try {
        const query = readQuery(body.apl);
        const found = datasetsOf(query.datasets, body.apl, catalog, request.caller);
        const [first] = found.all;
        under.reads(found.all.map(({ name }) => name));
        const virtual = virtualOf(query, variables, found, columnsOf);
        used = virtual.used;
        const plan = (): Tree => planOf(query, variables, virtual.eventsOf);
        return await answer({ request, reply }, parameters, under, first?.name, () => {
          // Now is when it runs.
          const full = { ...askedOf(body, parameters), datasets: found.all, datasetsOf: found.of, options };
          return inTurn(request, query.datasets.map(found.of), full.range, under, (to) =>
            usingAll(catalog, found.all, () => runApl(run, to, body, parameters, query, plan, full)),
          );
        });
      } catch (error) {
        throw asReply(error, body.apl, used);
      }
    });
  };
  const legacy = (
    name: string,
    { body: sent, query: asked, request, reply }: QueryExchange<LegacyBody>,
  ): Promise<FastifyReply> => {
    const parameters = asked();
    const body = sent();
    return running.track({ request, reply, text: () => JSON.stringify(body) }, async (under) => {
      const options = { signal: under.signal, fresh: parameters.nocache };
      under.reads([name]);
      const named = namedIn(body);
      const columns = (dataset: DatasetRecord): readonly Column[] =>
        columnsOf(dataset, (field) => isNamed(field, named));
      return answer({ request, reply }, parameters, under, name, () => {
        const when = { options, startedAt: performance.now() };
        return inTurn(request, [[catalog.get(name)]], readRange(body), under, (to) =>
          catalog.use(name, (dataset) => runLegacy(run, to, body, parameters, dataset, columns(dataset), when)),
        );
      });
    });
  };

  return { apl, legacy };
}

type Query = ReturnType<typeof readQuery>;
type Run = (
  request: QueryRequest,
  stagesOf: Parameters<typeof runQuery>[2],
  messages: readonly Message[],
) => ReturnType<typeof runQuery>;
type Apl = ReturnType<typeof withText<AplBody>>;

/** The body of a reply, and what its headers say of it: the API defines every key of the body. */
interface Written {
  readonly text: ReplyText;
  readonly bytesRead: number;
  readonly rowsMatched: number;
}

type Asked = Omit<QueryRequest, 'datasets' | 'datasetsOf' | 'options'> & { readonly include: boolean };

/** Throws an `ApiError` 400. */
function askedOf(body: Apl, parameters: QueryParameters): Asked {
  const cursorText = body.cursor || parameters.cursor;
  const include = body.includeCursor === true || parameters.includeCursor;
  const resolution = body.queryOptions?.['resolution'];
  return {
    range: readRange(body),
    step: stepOf(typeof resolution === 'string' ? resolution : ''),
    limit: body.limit || body.defaultLimit || undefined,
    cursor: readCursor(cursorText, include),
    cursorText,
    include,
    startedAt: performance.now(),
    hints: cursorText === '' && parameters['streaming-duration'] === 0,
  };
}

async function runApl(
  run: Run,
  text: ReplyText,
  body: Apl,
  parameters: QueryParameters,
  query: Query,
  plan: () => Tree,
  request: Asked & QueryRequest,
): Promise<Written> {
  const { datasets, limit, cursorText, include } = request;
  const { line, column } = positionIn(body.apl, query.datasets[0]?.at ?? 0);
  const implicitEnd: Message = {
    priority: 'warn',
    count: 1,
    code: 'apl_implicitendtimeofnowapplied_1',
    msg: `line: ${line}, col: ${column}: implicit end time of 'now' applied`,
  };
  const ran = await run(request, plan, [...(body.endTime ? [] : [implicitEnd]), ...query.options.map(ignoredOption)]);

  const { answer, program, status, start, end } = ran;
  const render = ran.stages.findLast((stage) => stage.kind === 'render');
  const drawn = render ? `,"render":${JSON.stringify({ chart: render.chart, properties: render.properties })}` : '';
  const names = datasets.map(({ name }) => name);
  const meta = `"datasetNames":${JSON.stringify(names)},"fieldsMetaMap":${JSON.stringify(Object.fromEntries(datasets.map((dataset) => [dataset.name, datasetFields(dataset)])))}${drawn}`;
  if (parameters.format === 'tabular') {
    const withCursors = body.includeCursorField === true || parameters.includeCursorField;
    text.add(`{"format":"tabular","status":${JSON.stringify(status)},"tables":`);
    writeTables(text, answer, program, { sources: names, start, end, withCursors });
    text.add(`,${meta}}`);
    return { text, bytesRead: answer.bytesRead, rowsMatched: answer.rowsMatched };
  }
  const echo = echoOf(ran.stages, {
    startTime: start,
    endTime: end,
    limit,
    cursor: cursorText,
    includeCursor: include,
    step: program.series?.width ?? ran.step,
    series: program.series !== undefined,
  });
  text.add(`{"format":"legacy","status":${JSON.stringify(status)},`);
  writeLegacy(text, answer, program);
  text.add(`,${meta},"request":${JSON.stringify(echo)}}`);
  return { text, bytesRead: answer.bytesRead, rowsMatched: answer.rowsMatched };
}

/** What the body says of range and page. Throws an `ApiError` 400. */
function legacyFrameOf(body: LegacyBody, parameters: QueryParameters) {
  const cursorText = body.cursor || body.continuationToken || parameters.cursor;
  const option = body.queryOptions?.['resolution'];
  const resolution =
    body.resolution && body.resolution !== 'auto' ? body.resolution : typeof option === 'string' ? option : '';
  const cursor = readCursor(cursorText, body.includeCursor === true || parameters.includeCursor);
  return { range: readRange(body), step: stepOf(resolution), limit: body.limit || undefined, cursor, cursorText };
}

/** Throws an `ApiError` 400. */
function stagesOf(
  body: LegacyBody,
  { range, step }: ReturnType<typeof legacyFrameOf>,
  dataRange: bigint,
  columns: readonly Column[],
): QueryStage[] {
  try {
    return legacyStages(body, { now: range.now, step: step ?? autoStep(dataRange), range: dataRange, columns });
  } catch (error) {
    // There is no text that the place could be in.
    throw error instanceof AplError ? badRequest(error.message) : error;
  }
}

async function runLegacy(
  run: Run,
  text: ReplyText,
  body: LegacyBody,
  parameters: QueryParameters,
  dataset: DatasetRecord,
  columns: readonly Column[],
  when: Pick<QueryRequest, 'options' | 'startedAt'>,
): Promise<Written> {
  const frame = legacyFrameOf(body, parameters);
  const request = { ...frame, datasets: [dataset], datasetsOf: () => [dataset], ...when };
  const source = { kind: 'datasets', names: [{ text: dataset.name, at: 0 }] } as const;
  try {
    const { status, answer, program } = await run(
      request,
      ({ dataRange }) => ({ source, stages: stagesOf(body, frame, dataRange, columns) }),
      [],
    );
    text.add(`{"status":${JSON.stringify(status)},`);
    writeLegacy(text, answer, program);
    text.add(`,"fieldsMeta":${JSON.stringify(datasetFields(dataset))}}`);
    return { text, bytesRead: answer.bytesRead, rowsMatched: answer.rowsMatched };
  } catch (error) {
    throw error instanceof AplError || error instanceof VirtualFieldError ? badRequest(error.message) : error;
  }
}
