/** Relations between the bounds of modules: asserted when a command other than `run` starts, and by a test, so that no bound is changed alone. */
import * as agent from '../agent/limits.ts';
import * as client from '../client/limits.ts';
import * as config from '../config/limits.ts';
import * as core from '../core/limits.ts';
import * as kernel from '../kernel/limits.ts';
import * as language from '../language/limits.ts';
import * as parsers from '../parsers/limits.ts';
import * as service from '../service/limits.ts';
import * as shaping from '../shaping/limits.ts';
import * as sinks from '../sinks/ingest/limits.ts';
import * as file from '../sources/file/limits.ts';
import * as framing from '../sources/framing/limits.ts';
import * as syslog from '../sources/syslog/limits.ts';
import * as state from '../state/limits.ts';

/** The longest path that the system allows, and its surroundings in a template. */
const PATH_AND_TABLES_BYTES = 8 * 1024;

/** Throws what does not hold. */
export function assertLimits(): void {
  const broken = relations.filter(([, holds]) => !holds).map(([claim]) => claim);
  if (broken.length > 0) throw new Error(`limits contradict each other: ${broken.join('; ')}`);
}

const relations: readonly (readonly [claim: string, holds: boolean])[] = [
  [
    'escaped fields and a path fit a template',
    2 * config.MAX_FIELDS_BYTES + PATH_AND_TABLES_BYTES <= kernel.MAX_TEMPLATE_BYTES,
  ],
  ['the service takes the largest batch', core.MAX_BATCH_BYTES <= service.SERVICE_BODY_BYTES],
  ['the service takes the most events of a batch', core.MAX_BATCH_EVENTS <= service.SERVICE_REQUEST_EVENTS],
  ['the service takes a batch with the most columns', core.MAX_CSV_COLUMNS <= service.SERVICE_DATASET_FIELDS],
  ['a batch takes a shaped event', shaping.MAX_SHAPED_BYTES <= core.MAX_BATCH_BYTES],
  ['a batch takes a chunk of the client', client.CLIENT_CHUNK_BYTES <= core.MAX_BATCH_BYTES],
  ['the service returns a page of the client', client.CLIENT_PAGE_ROWS <= service.SERVICE_QUERY_MAX_EVENTS],
  ['the client receives the largest result', service.SERVICE_RESULT_BYTES <= client.CLIENT_ANSWER_BYTES],
  ['a request of the client outlasts a query', service.SERVICE_QUERY_SECONDS * 1000 < client.CLIENT_TIMEOUT_MS],

  ['a string fits a body', core.SERVICE_STRING_BYTES <= service.SERVICE_BODY_BYTES],
  ['a body may be set to its default', service.SERVICE_BODY_BYTES <= service.SERVICE_MOST_BODY_BYTES],
  ['fields may be set to their default', service.SERVICE_DATASET_FIELDS <= service.SERVICE_MOST_FIELDS],
  ['one body may be under way', service.SERVICE_BODY_BYTES <= service.SERVICE_INGEST_BYTES_IN_FLIGHT],
  [
    'the default page is one that may be asked for',
    service.SERVICE_QUERY_DEFAULT_EVENTS <= service.SERVICE_QUERY_MAX_EVENTS,
  ],
  ['an escaped value fits a field of the engine', 2 * service.SERVICE_BOUND_VALUE_BYTES <= 128 * 1024],
  ['a statement fits the engine', service.SERVICE_QUERY_SQL <= 256 * 1024],
  ['selects nest as deep as the engine allows', service.SERVICE_QUERY_NESTING <= 100],
  ['a body may hold a filter as deep as a query', service.SERVICE_JSON_DEPTH > 2 * language.SERVICE_QUERY_DEPTH],
  ['a query may be nested as deep as it has nodes', language.SERVICE_QUERY_DEPTH <= language.SERVICE_QUERY_NODES],

  ['a read shows the whole fingerprint', core.HEAD_BYTES <= framing.READ_CHUNK_BYTES],
  ['a read shows the whole header of a CSV file', parsers.MAX_CSV_HEADER_BYTES <= framing.READ_CHUNK_BYTES],
  ['a turn is whole reads', file.TURN_BYTES % framing.READ_CHUNK_BYTES === 0],
  ['the tail fits the last part', core.TAIL_BYTES <= file.LAST_PART_BYTES],
  ['parts are whole last parts', file.PART_BYTES % file.LAST_PART_BYTES === 0],
  ['open files shrink to fewer', file.MIN_OPEN_FILES < file.MAX_OPEN_FILES],
  ['a listing settles before it is too old', file.LISTING_SETTLES_MS < file.MAX_LISTING_AGE_MS],
  ['a parked watch waits longer each time', file.PARK_MS < file.MAX_PARK_MS],
  ['names are looked up more often than content', file.NAMES_CHECK_MS < file.APPEND_CHECK_MS],
  ['a file that may be a copy is kept open until that is decided', file.DECIDE_COPY_MS <= file.KEEP_OPEN_MS],
  ['a lost file is remembered for longer than it is kept open', file.KEEP_OPEN_MS < file.FORGET_AFTER_MS],
  ['scans are apart less than they may be late', config.MAX_SCAN_INTERVAL_MS < file.SCAN_GRACE_MS],

  ['events are handed over before the window is full', syslog.SYSLOG_HAND_OVER_BYTES <= syslog.SYSLOG_PENDING_BYTES],
  ['a message of several reads is longer than one read', syslog.SYSLOG_READ_BYTES < syslog.SYSLOG_SINGLE_BYTES],
  ['datagrams fit their places', syslog.SYSLOG_DATAGRAM_BYTES <= syslog.SYSLOG_DATAGRAMS_BYTES],
  ['the receive buffer holds the places', syslog.SYSLOG_DATAGRAMS_BYTES <= syslog.UDP_RECEIVE_BUFFER_BYTES],
  [
    'the kernel holds datagrams and a message',
    syslog.SYSLOG_DATAGRAMS_BYTES + syslog.SYSLOG_SINGLE_BYTES < syslog.SYSLOG_KERNEL_BYTES,
  ],
  ['a stop waits for a listener that stops', syslog.SYSLOG_STOP_MS <= agent.SOURCE_STOP_GRACE_MS],

  ['idle connections close before they are too old', sinks.MAX_IDLE_CONNECTION_MS < sinks.MAX_CONNECTION_AGE_MS],
  ['a service may ask for longer idle connections', sinks.IDLE_CONNECTION_MS <= sinks.MAX_IDLE_CONNECTION_MS],
  ['the head of an answer fits its bound', sinks.MAX_RESPONSE_HEAD_BYTES <= sinks.MAX_ANSWER_BYTES],
  ['waits of the client grow', client.CLIENT_FIRST_WAIT_MS <= client.CLIENT_LAST_WAIT_MS],
  ['settlements are saved before they count as calm', state.SAVE_SETTLED_MS < state.CALM_SETTLEMENTS_MS],
];
