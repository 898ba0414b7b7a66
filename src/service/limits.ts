/** Bounds of the service: the fixed ones, then those that its operator may set. */

/** Bytes of an ingest body after decompression; over it 413. */
export const SERVICE_BODY_BYTES = 10 * 1024 * 1024;
/** Events of one ingest request; over it 413 and nothing is stored. */
export const SERVICE_REQUEST_EVENTS = 10_000;
/** Characters that the messages of failed CSV rows of a request may have together; a body with more is refused. */
export const SERVICE_CSV_QUOTED_CHARS = 4 * 1024 * 1024;
/** UTF-8 bytes of a field's flattened name; over it the event fails. */
export const SERVICE_FIELD_NAME_BYTES = 200;
/** Fields a dataset may have; an event that would add one more fails. */
export const SERVICE_DATASET_FIELDS = 1024;
/** The highest settings of body bytes and of fields. */
export const SERVICE_MOST_BODY_BYTES = 256 * 1024 * 1024;
export const SERVICE_MOST_FIELDS = 60_000;
/** Columns that fields of one dataset have of their own. */
export const SERVICE_OWN_COLUMNS = 64;
/** Events that are sampled to choose them, and how many times that pass until the next sample. */
export const SERVICE_OWN_SAMPLE = 2000;
export const SERVICE_OWN_PAUSE = 100;
/** Nesting of one event's value; over it the event fails. */
export const SERVICE_EVENT_DEPTH = 100;
/** Bytes of a JSON body, but of ingest, and of memory for each value in it. */
export const SERVICE_JSON_BYTES = 1024 * 1024;
export const SERVICE_JSON_VALUE_BYTES = 48;
/** Arrays and objects inside each other in a JSON body, but of ingest; a legacy filter takes two for each of its levels. */
export const SERVICE_JSON_DEPTH = 500;
/** Datasets of one service (each is a table of the engine). */
export const SERVICE_DATASETS = 10_000;
/** Days that a dataset may keep its events for, as far as it is limited. */
export const SERVICE_RETENTION_DAYS = 36_500;
/** Annotations, and starred queries, of one service; bytes of one, and of all; and how many may be about one dataset. */
export const SERVICE_SAVED = 10_000;
export const SERVICE_SAVED_ITEM_BYTES = 96 * 1024;
export const SERVICE_SAVED_BYTES = 32 * 1024 * 1024;
export const SERVICE_SAVED_OF_DATASET = 2_000;
/** Virtual fields, and names of map fields, of one dataset. */
export const SERVICE_VIRTUAL_FIELDS = 200;
/** Characters of the virtual fields of one dataset, all together. */
export const SERVICE_VIRTUAL_FIELDS_LENGTH = 512 * 1024;
/** Characters of all descriptions of datasets and fields, which are held in memory. */
export const SERVICE_DESCRIPTIONS_LENGTH = 16 * 1024 * 1024;
export const SERVICE_MAP_FIELDS = 200;
/** Users and tokens of one service; all are held in memory, and each request is compared with every token. */
export const SERVICE_USERS = 1_000;
export const SERVICE_TOKENS = 1_000;
/** Characters of a user's or token's name or e-mail address, of a field's unit, and of a description. */
export const SERVICE_NAME_LENGTH = 200;
export const SERVICE_UNIT_LENGTH = 64;
export const SERVICE_DESCRIPTION_LENGTH = 10_000;
/** Characters of an Idempotency-Key. */
export const SERVICE_KEY_LENGTH = 256;
/** Idempotency keys kept per dataset, at least; pruned when there are half as many more. */
export const SERVICE_KEPT_KEYS = 10_000;
/** Replies kept under them: characters of one kept whole, failures that a longer one keeps, and bytes of all, packed; over it counts alone. */
export const SERVICE_KEPT_REPLY = 64 * 1024;
export const SERVICE_KEPT_FAILURES = 100;
export const SERVICE_KEPT_REPLY_BYTES = 1024 * 1024 * 1024;
/** Columns of a CSV body. */
export const SERVICE_CSV_COLUMNS = 65_536;
/** Fields of all datasets, which are held in memory. */
export const SERVICE_ALL_FIELDS = 1_000_000;
/**
 * Ingest requests in flight at a time, and bytes of their bodies, as sent and, apart, unpacked; over these 429. A token gets half of each
 * while it is not alone.
 */
export const SERVICE_INGESTS_IN_FLIGHT = 64;
export const SERVICE_INGEST_BYTES_IN_FLIGHT = 128 * 1024 * 1024;
/** Bytes of replies to queries in flight; over it a query waits, and a reply that does not fit is a 429. */
export const SERVICE_REPLY_BYTES_IN_FLIGHT = 256 * 1024 * 1024;
/** Bytes that a reply is taken for until it is there, and queries that may wait for room. */
export const SERVICE_GUESSED_REPLY = 256 * 1024;
export const SERVICE_WAITING_QUERIES = 256;
/** Rows in its range, or pairs of rows of two datasets that it names, that make a query a long one. */
export const SERVICE_LONG_QUERY_ROWS = 10_000_000;
/** Bytes of a reply that is not counted among those. */
export const SERVICE_SMALL_REPLY = 16 * 1024;
/** Bytes of the pieces that a large reply is written in. */
export const SERVICE_REPLY_PIECE = 256 * 1024;
/** Bodies and replies must go on at this rate, bytes a second, from this time on. */
export const SERVICE_LEAST_RATE = 16 * 1024;
export const SERVICE_LEAST_RATE_AFTER_MS = 10_000;
/** Connections at a time; more are closed at once. */
export const SERVICE_CONNECTIONS = 1024;
/** Time that a request has, first byte to last. */
export const SERVICE_REQUEST_SECONDS = 120;
/** Events of a page when the query sets no limit, and the most it may ask for. */
export const SERVICE_QUERY_DEFAULT_EVENTS = 1000;
export const SERVICE_QUERY_MAX_EVENTS = 50_000;
/** Events that a request may delete by a query, and row ids in one statement of it, whose text the engine bounds. */
export const SERVICE_DELETED_EVENTS = SERVICE_QUERY_MAX_EVENTS;
export const SERVICE_DELETED_ROW_IDS = 5000;
/** A dataset's space is given back on request once in this time. */
export const SERVICE_VACUUM_SECONDS = 60;
/** Characters of a query's id, and of its text in the list of running ones. */
export const SERVICE_QUERY_ID_CHARS = 64;
export const SERVICE_LISTED_QUERY_CHARS = 2000;
/** A query that waits longer for its turn reports the wait. */
export const SERVICE_TOLD_WAIT_MS = 1000;
/** Queries that wait for events at a time, and how long one may wait. */
export const SERVICE_HELD_QUERIES = 512;
export const SERVICE_HOLD_SECONDS = 60;
/** What one query may use at most. */
export const SERVICE_QUERY_SECONDS = 10;
export const SERVICE_QUERY_MEMORY_BYTES = 1024 * 1024 * 1024;
/** Memory of the process, and of the engine in it, unless the operator says otherwise; below the least, `serve` warns. */
export const SERVICE_MEMORY_BYTES = 4 * 1024 * 1024 * 1024;
export const SERVICE_LEAST_MEMORY_BYTES = 640 * 1024 * 1024;
/** Memory of the process at rest, its program included, and of work that nothing counts: with the embedded engine, and without it. */
export const SERVICE_REST_BYTES = 396 * 1024 * 1024;
export const SERVICE_REST_ALONE_BYTES = 120 * 1024 * 1024;
/** What a dataset takes at rest in the embedded engine, and a field of any in the heap. */
export const SERVICE_DATASET_BYTES = 170 * 1024;
export const SERVICE_FIELD_BYTES = 280;
/** Heap for each value of a body: as it is read, read again exactly, and written, a third of the heap for all. */
export const SERVICE_VALUE_HEAP_BYTES = 300;
/** Bytes of waiting blocks that go into the engine as one insert. */
export const SERVICE_INSERT_GROUP_BYTES = 16 * 1024 * 1024;
/** How long an insert waits for the blocks of senders that were answered together. */
export const SERVICE_INSERT_WAIT_MS = 50;
/** Connections to one server of the engine, and selects in flight at a time. */
export const SERVICE_ENGINE_CONNECTIONS = 16;
export const SERVICE_SELECTS_IN_FLIGHT = 8;
/** Selects that the embedded engine runs side by side. Each has a thread of the process, beside those for inserts, files and others. */
export const SERVICE_EMBEDDED_SELECTS = 4;
export const SERVICE_OWN_THREADS = 8;
/** With less memory there is one at a time: threads take memory that nothing counts. */
const SIDE_BY_SIDE_BYTES = 2 * 1024 * 1024 * 1024;
export const serviceThreads = (memoryBytes: number): number =>
  memoryBytes < SIDE_BY_SIDE_BYTES ? 4 : SERVICE_EMBEDDED_SELECTS + SERVICE_OWN_THREADS;
/** Of a statement of the embedded engine, with the values that it sets, each byte of which may take twelve. */
export const SERVICE_STATEMENT_BYTES = 64 * 1024 * 1024;
/** An aborted select is ended anew so often until it has ended. */
export const SERVICE_END_QUERY_MS = 50;
/** Time that a server of the engine has for an insert, for another statement, and for a ping. */
export const SERVICE_INSERT_SECONDS = 30;
export const SERVICE_STATEMENT_SECONDS = 120;
/** Pause of work that found no memory in the engine. */
export const SERVICE_MEMORY_PAUSE_MS = 250;
export const SERVICE_PING_MS = 5000;
/** Pause before a server that timed out is asked again. */
export const SERVICE_SILENCE_MS = 5000;
/** Rows, and bytes by their average size, of one step of a move between engines. */
export const SERVICE_MOVE_ROWS = 100_000;
export const SERVICE_MOVE_BYTES = 64 * 1024 * 1024;
/** Bytes of one value in a query: a server takes fields of 128 KiB, and escaping may double them. */
export const SERVICE_BOUND_VALUE_BYTES = 60 * 1024;
/** Bytes of one query's result inside the engine. */
export const SERVICE_RESULT_BYTES = 128 * 1024 * 1024;
/** Parts of one query: aggregations, group-by fields, sort keys, projected fields, filter nodes. */
export const SERVICE_QUERY_PARTS = 256;
/** Time buckets of one series. */
export const SERVICE_QUERY_BUCKETS = 10_000;
/** Selects inside each other that a query may need; the engine takes 100. */
export const SERVICE_QUERY_NESTING = 20;
/** Characters of the SQL of one statement; the engine takes 256 KiB. */
export const SERVICE_QUERY_SQL = 200 * 1024;
/** Items that make_list and make_set collect at most in a group. */
export const SERVICE_QUERY_LIST_ITEMS = 100_000;
/** Values of one topk, bins of one histogram. */
export const SERVICE_QUERY_TOPK = 1000;
/** Comparisons of an empty result that are looked at, values that each names, characters of such a value, and the seconds that this may take. */
export const SERVICE_QUERY_HINTS = 3;
export const SERVICE_QUERY_HINT_VALUES = 5;
export const SERVICE_QUERY_HINT_CHARS = 60;
export const SERVICE_QUERY_HINT_SECONDS = 0.2;
/** Different values of a field that spotlight counts on either side, and those of them that it lists. */
export const SERVICE_QUERY_SPOTLIGHT_DISTINCT = 10_000;
export const SERVICE_QUERY_SPOTLIGHT_VALUES = 20;
/** Paths with their types that one buildschema tells apart. */
export const SERVICE_QUERY_SCHEMA = 1000;
/** Cells of a reply with all fields of a dataset; over it, fields that no row of the page has are left out. */
export const SERVICE_QUERY_CELLS = 5_000_000;

/** Deals out the memory that a process may take. `datasets`: how many there are; `wanted`: for one query. */
export function memoryShares(
  memoryBytes: number,
  isEmbedded: boolean,
  datasets = 0,
  wanted = SERVICE_QUERY_MEMORY_BYTES,
) {
  const free = memoryBytes - (isEmbedded ? SERVICE_REST_BYTES : SERVICE_REST_ALONE_BYTES);
  const ofDatasets = isEmbedded ? datasets * SERVICE_DATASET_BYTES : 0;
  const left = Math.max(free - ofDatasets, LEAST_LEFT_BYTES);
  const queryMemoryBytes = isEmbedded ? Math.min(wanted, wholeMib(left / 2)) : wanted;
  const other = left - (isEmbedded ? queryMemoryBytes : 0);
  const heapBytes = wholeMib(Math.max(LEAST_HEAP_BYTES, other * 0.4));
  const replyBytes = Math.min(SERVICE_REPLY_BYTES_IN_FLIGHT, wholeMib(other / 7));
  return {
    queryMemoryBytes,
    /** What the embedded engine may take, all its work together. */
    engineBytes: queryMemoryBytes + wholeMib(other / 4) + ofDatasets,
    /** Of the heap of JavaScript, where the process is `serve`. */
    heapBytes,
    /** Of replies to queries in flight. One may take half. */
    replyBytes,
    /** Of a result inside the engine. */
    resultBytes: Math.min(SERVICE_RESULT_BYTES, wholeMib(replyBytes / 2)),
    /** Of the text of one row. */
    // Its text, its parsed form and its output are in the heap at once, with two bytes a character.
    rowBytes: wholeMib(heapBytes / 12),
    /** Of ingest bodies in flight, as sent and, apart, unpacked. */
    ingestBytes: Math.min(SERVICE_INGEST_BYTES_IN_FLIGHT, wholeMib(other / 20)),
    /** Of JSON bodies in flight, except ingest. */
    jsonBytes: wholeMib(heapBytes / 8),
    datasets: Math.min(
      SERVICE_DATASETS,
      isEmbedded ? Math.floor(Math.max(free, LEAST_LEFT_BYTES) / 2 / SERVICE_DATASET_BYTES) : SERVICE_DATASETS,
    ),
    /** Values of an event, and of a body of JSON or CSV. */
    bodyValues: Math.floor(heapBytes / SERVICE_VALUE_HEAP_BYTES),
    /** Fields of all datasets. */
    allFields: Math.min(SERVICE_ALL_FIELDS, Math.floor(heapBytes / 4 / SERVICE_FIELD_BYTES)),
  };
}

const MIB = 1024 * 1024;
/** With less, a service would answer nothing. */
const LEAST_LEFT_BYTES = 96 * MIB;
const LEAST_HEAP_BYTES = 80 * MIB;
const wholeMib = (bytes: number): number => Math.max(1, Math.floor(bytes / MIB)) * MIB;

/** What a service takes without `serve`, which knows its machine. */
export const DEFAULT_LIMITS = {
  /** Bytes of an ingest body after decompression. */
  bodyBytes: SERVICE_BODY_BYTES,
  /** Fields of one dataset. */
  datasetFields: SERVICE_DATASET_FIELDS,
  /** Events after which fields may get columns of their own. */
  ownColumnSample: SERVICE_OWN_SAMPLE,
  querySeconds: SERVICE_QUERY_SECONDS,
  /** Requests of the organisation a second; 0 for any number. */
  ratePerSecond: 0,
  /** Bytes that a calendar month may bring in; 0 for any number. */
  monthlyBytes: 0,
  /** For a request to arrive whole. */
  requestSeconds: SERVICE_REQUEST_SECONDS,
  /** After which bodies and replies must go on at the least rate. */
  slowMs: SERVICE_LEAST_RATE_AFTER_MS,
  ...memoryShares(SERVICE_MEMORY_BYTES, true),
};

/** What the operator may set. */
export type ServiceLimits = Readonly<typeof DEFAULT_LIMITS>;

export const queryLimitsOf = ({ querySeconds, queryMemoryBytes, resultBytes, rowBytes }: ServiceLimits) => ({
  seconds: querySeconds,
  memoryBytes: queryMemoryBytes,
  resultBytes,
  rowBytes,
});
