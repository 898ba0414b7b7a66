/** Every bound that is not configurable, in one place. Units are in the names. */

/** Bytes read from a file at a time. */
export const READ_CHUNK_BYTES = 256 * 1024;
/** The kernel writes whole vectors and may overwrite this many bytes past the end of its output. */
export const KERNEL_SLACK_BYTES = 64;
/** Fields that may be added to an event (`fields` of the agent and of the source together). */
export const MAX_FIELDS = 60;
/** Depth of nested JSON up to which a line passes through; deeper ones are wrapped as text. */
export const MAX_JSON_DEPTH = 10_000;
/** Files held open at a time by one file source. */
export const MAX_OPEN_FILES = 256;
/** The least that a file source gets by with where the process has no descriptor left; */
export const MIN_OPEN_FILES = 8;
/** then it tries to have twice as many again after this long. */
export const OPEN_FILES_GROW_MS = 60_000;
/** Files that one file source follows; more are said in the log and left for later. */
export const MAX_FILES = 100_000;
/** Bytes of a file's head that identify it. */
export const HEAD_BYTES = 1024;
/** So many NULs at the beginning of a file are a hole; of one that was truncated, as many as were in it before, where those were fewer. */
export const HOLE_BYTES = 1024;
/** Bytes before a position that are hashed, to recognise the file. */
export const TAIL_BYTES = 64;
/** Retry-After is obeyed up to this long. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
/** Datasets that `to_dataset` sends the events of one sink to, beside the sink's own. */
export const MAX_ROUTED_DATASETS = 16;
/** Characters of a pipeline. */
export const MAX_TRANSFORM_CHARACTERS = 64 * 1024;
/** Bytes of a transform script. */
export const MAX_SCRIPT_BYTES = 1024 * 1024;
/** How long a script may take for one event; up to twice that pass before it is noticed. */
export const MAX_SCRIPT_EVENT_MS = 2000;
/** How long a script may take to be evaluated. */
export const MAX_SCRIPT_START_MS = 20_000;
/** Memory of a script's process: its heap, what it takes outside of that (buffers), and what of all is resident. */
export const MAX_SCRIPT_HEAP_MIB = 128;
export const MAX_SCRIPT_EXTERNAL_BYTES = 128 * 1024 * 1024;
export const MAX_SCRIPT_RSS_BYTES = 256 * 1024 * 1024;
/** Bytes of one reply of a script's process. */
export const MAX_SCRIPT_REPLY_BYTES = 64 * 1024 * 1024;
/** Bytes of one event after its transform, and of all events that it made of one. */
export const MAX_SHAPED_BYTES = 10 * 1024 * 1024;
/** Runs of events that fare alike in one batch, at most, where a transform leaves some out. */
export const MAX_FATE_RUNS = 50_000;
/** Requests beyond the first that finding the events at fault in one batch may cost. */
export const MAX_EXTRA_REQUESTS = 64;
/** A service that refuses, and stored nothing for this long, is not waited for at a stop, when nothing can be lost. */
export const HOPELESS_AFTER_MS = 5000;
/** Bytes of an answer that are read. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Bytes of the head of an answer, of its trailer, and of the line before a chunk of it. */
export const MAX_RESPONSE_HEAD_BYTES = 16 * 1024;

// Configuration
/** Bytes of a configuration file. */
export const MAX_CONFIG_BYTES = 1024 * 1024;
/** Files that `include_config` may name, and bytes of all of them. */
export const MAX_INCLUDED_FILES = 1000;
export const MAX_INCLUDED_BYTES = 16 * 1024 * 1024;
/** Levels of nesting in a configuration file, `fields` included. */
export const MAX_CONFIG_DEPTH = 32;
/** Bytes of `fields` as JSON, of the agent and a source together: twice that and a file's path fit a kernel template. */
export const MAX_FIELDS_BYTES = 16 * 1024;
/** Problems of a configuration that are told; the rest are counted. */
export const MAX_CONFIG_PROBLEMS = 1000;
/** Sources, and sinks, of one agent. */
export const MAX_COMPONENTS = 200;
/** Bytes of a file that holds a token. */
export const MAX_SECRET_BYTES = 64 * 1024;
/** Bytes of one event as the service takes it, at most; also the largest batch. */
export const MAX_BATCH_BYTES = 10 * 1024 * 1024;
/** Events of one request as the service takes it. */
export const MAX_BATCH_EVENTS = 10_000;
/** Requests of one sink under way at a time. */
export const MAX_CONCURRENCY = 64;

// File source
/** Bytes read from one file before the next one gets its turn. */
export const TURN_BYTES = 4 * 1024 * 1024;
/** Directories that one scan visits for one glob. */
export const MAX_DIRECTORIES = 20_000;
/** A folder's listing is kept when its modification time had stood still this long before, */
export const LISTING_SETTLES_MS = 3_000;
/** and for this long. */
export const MAX_LISTING_AGE_MS = 30_000;
/** Files looked at in one go; then sockets and timers get their turn. */
export const SCAN_SLICE_FILES = 500;
/** Below it the agent warns: an agent of files takes about 100 MB under load. */
export const LEAST_MEMORY_BYTES = 96 * 1024 ** 2;
/** A scan that is due and makes no progress for so long is overdue: the watchdog is not fed. */
export const SCAN_GRACE_MS = 60_000;
/** Where scans are further apart, open files are looked at this often: deleted ones, and those with an unfinished line. */
export const LOOK_EVERY_MS = 1_000;
/** A file that is read to its end stays open this long after its last change; what then is still unfinished in a rotated or deleted file is sent. */
export const KEEP_OPEN_MS = 10_000;
/** A file that may be a copy of another one is taken for a file of its own this long after its last change. */
export const DECIDE_COPY_MS = 10_000;
/** Bytes of a file that one scan compares with what was read of its original. */
export const COPY_CHECK_BYTES = 64 * 1024 * 1024;
/** What is read of a file is summed up in parts, to tell a copy that ends inside of it: the last bytes of the file … */
export const LAST_PART_BYTES = 4 * 1024;
/** … and those before. */
export const PART_BYTES = 32 * 1024;
/** Former places of a mark that are kept with it, to tell a copy of the file that was made before the last of it was read. */
export const MAX_MARK_POINTS = 8;
/** How much a file system's clock may be behind the system's. */
export const BIRTH_SLACK_MS = 50;
/** Streams that were made no further apart may be of one scan, which makes them in any order. */
export const STREAM_ORDER_MS = 20;
/** A file that cannot be found by path or inode is looked for this long. */
export const FORGET_AFTER_MS = 60_000;
/** What is known of files is kept for so long while what they are mounted on is away. */
export const MAX_AWAY_MS = 24 * 3_600_000;
/** Longest wait between two tries to open a file that refused. */
export const MAX_OPEN_RETRY_MS = 30_000;
/** Full scans are this far apart at most where watches tell of every change, and `scan_interval` is not written. */
export const MAX_SCAN_INTERVAL_MS = 30_000;
/** Folders that one source watches; the others are scanned only. */
export const MAX_WATCHED_FOLDERS = 1_000;
/** A folder whose watch tells of so many changes within a second is looked at in turns instead, its watch closed, … */
export const HOT_EVENTS = 10;
/** … for this long at first, and twice as long each time that it is as busy again, … */
export const PARK_MS = 1_000;
/** … up to this. */
export const MAX_PARK_MS = 8_000;
/** Shortest time between two looks at what was appended in a folder: beyond it, an event costs more CPU than it saves time. */
export const APPEND_LOOK_MS = 250;
/** The same for a folder whose watch is parked: reading and sending less at a time costs more CPU an event. */
export const HOT_LOOK_MS = 500;
/** Shortest time between two looks at the names in a folder, while files come and go there. */
export const NAMES_LOOK_MS = 20;
/** A parked folder that grows by so many bytes a second is looked at for new names at least … */
export const FAST_GROWTH_BYTES = 1024 * 1024;
/** … this often: a log that fills fast is rotated fast. */
export const FAST_NAMES_LOOK_MS = 100;
/** A look at a folder is followed by a pause of so many milliseconds for each of its files: some twenty times what it takes. */
export const LOOK_PAUSE_MS_PER_FILE = 0.1;
/** A change that a full scan found is missed once its watch has not told of it for this long. */
export const TELL_MS = 1_000;
/** A watch that could not be had is asked for again after this long. */
export const WATCH_RETRY_MS = 60_000;
/** Related files that `explain` names. */
export const MAX_EXPLAINED_RELATIVES = 20;
/** Different things (paths, as a rule) that one file source remembers to have said in the log. */
export const MAX_NOTICES = 1_000;

/** Generations whose content is remembered, to recognise what of an archive was read. */
export const MAX_KNOWN_CONTENTS = 10_000;
/** An archive is read once it stood still this long. */
export const ARCHIVE_SETTLES_MS = 5_000;
/** One that ends inside of a member is waited for so long: after that, its unfinished line is sent. */
export const ARCHIVE_CUT_MS = 60_000;

// The local service.
/** Bytes of an ingest body after decompression; over it 413. */
export const SERVICE_BODY_BYTES = 10 * 1024 * 1024;
/** Events of one ingest request; over it 413 and nothing is stored. */
export const SERVICE_REQUEST_EVENTS = 10_000;
/** UTF-8 bytes of one string value; over it the event fails. */
export const SERVICE_STRING_BYTES = 1024 * 1024;
/** UTF-8 bytes of a field's flattened name; over it the event fails. */
export const SERVICE_FIELD_NAME_BYTES = 200;
/** Fields a dataset may have; an event that would add one more fails. */
export const SERVICE_DATASET_FIELDS = 1024;
/** What the two above may be set to at most. */
export const SERVICE_MOST_BODY_BYTES = 256 * 1024 * 1024;
export const SERVICE_MOST_FIELDS = 60_000;
/** Nesting of one event's value; over it the event fails. */
export const SERVICE_EVENT_DEPTH = 100;
/** Datasets of one service (each is a table of the engine). */
export const SERVICE_DATASETS = 10_000;
/** Days that a dataset may keep its events for, as far as it is limited. */
export const SERVICE_RETENTION_DAYS = 36_500;
/** Annotations, and starred queries, of one service. */
export const SERVICE_SAVED = 10_000;
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
/** Ingest requests under way at a time, and bytes of their bodies; over either 429, before the body is read. */
export const SERVICE_INGESTS_IN_FLIGHT = 64;
export const SERVICE_INGEST_BYTES_IN_FLIGHT = 128 * 1024 * 1024;
/** How much larger a compressed body is taken to be, until it is known. */
export const SERVICE_GUESSED_COMPRESSION = 10;
/** Connections at a time; more are closed at once. */
export const SERVICE_CONNECTIONS = 1024;
/** Time that a request has, first byte to last. */
export const SERVICE_REQUEST_SECONDS = 120;
/** Events of a page when the query sets no limit, and the most it may ask for. */
export const SERVICE_QUERY_DEFAULT_EVENTS = 1000;
export const SERVICE_QUERY_MAX_EVENTS = 50_000;
/** Queries that wait for events at a time, and how long one may wait. */
export const SERVICE_HELD_QUERIES = 512;
export const SERVICE_HOLD_SECONDS = 60;
/** What one query may use. */
export const SERVICE_QUERY_SECONDS = 10;
export const SERVICE_QUERY_MEMORY_BYTES = 1024 * 1024 * 1024;
/** Bytes of waiting blocks that go into the engine as one insert. */
export const SERVICE_INSERT_GROUP_BYTES = 16 * 1024 * 1024;
/** Connections to one server of the engine, and selects under way at a time. */
export const SERVICE_ENGINE_CONNECTIONS = 16;
export const SERVICE_SELECTS_IN_FLIGHT = 8;
/** Time that a server of the engine has for an insert, for another statement, and to say that it is there. */
export const SERVICE_INSERT_SECONDS = 30;
export const SERVICE_STATEMENT_SECONDS = 120;
export const SERVICE_PING_MS = 5000;
/** How long a server that did not answer in time is not asked again. */
export const SERVICE_SILENCE_MS = 5000;
/** Rows, and bytes by their average size, that a move between engines takes at a time. */
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
/** Events that mv-expand makes of one in a transform. */
export const TRANSFORM_EXPANDED_ROWS = 10_000;
/** Characters of a text that a transform makes: far more than an event may have. */
export const TRANSFORM_TEXT_CHARS = 16 * 1024 * 1024;
/** Characters of a query's text. */
export const SERVICE_QUERY_TEXT = 64 * 1024;
/** Literals, names, functions and operators of one query. */
export const SERVICE_QUERY_NODES = 5000;
/** How deep expressions may be nested. */
/** Queries that one is made of: joined, united, behind `in` and in `toscalar`. */
export const SERVICE_QUERY_SUBQUERIES = 32;
/** Rows of `datatable`, and values of `range`. */
export const SERVICE_QUERY_MADE_ROWS = 100_000;
export const SERVICE_QUERY_DEPTH = 100;
/** Operators between the pipes of one query. */
export const SERVICE_QUERY_STAGES = 100;
/** Selects inside each other that a query may need; the engine takes 100. */
export const SERVICE_QUERY_NESTING = 20;
/** Characters of the SQL of one statement; the engine takes 256 KiB. */
export const SERVICE_QUERY_SQL = 200 * 1024;
/** Items that make_list and make_set collect at most in a group. */
export const SERVICE_QUERY_LIST_ITEMS = 100_000;
/** Values of one topk, bins of one histogram. */
export const SERVICE_QUERY_TOPK = 1000;
/** Cells of a reply with all fields of a dataset; over it, fields that no row of the page has are left out. */
export const SERVICE_QUERY_CELLS = 5_000_000;

// Stdin and syslog.
/** Bytes read from a pipe at a time: what Linux keeps in one. */
export const PIPE_READ_BYTES = 64 * 1024;
/** Bytes of unfinished messages that all connections of one syslog source may hold together. */
export const MAX_SYSLOG_UNFINISHED_BYTES = 16 * 1024 * 1024;
/** Digits of an octet count; a longer number is text. */
export const MAX_OCTET_COUNT_DIGITS = 10;
/** Bytes of finished syslog events that wait in memory for the lane, in each of two halves of the window, before reading stops. */
export const SYSLOG_PENDING_BYTES = 256 * 1024;
/** Room for the events of all parts of one syslog message that came whole, where messages are split. */
export const SYSLOG_PARTS_BYTES = 3 * 1024 * 1024;
/** Fewer bytes of syslog events wait this long for more before they are handed to the lane. */
export const SYSLOG_HAND_OVER_BYTES = 64 * 1024;
export const SYSLOG_HAND_OVER_MS = 5;
/** What the JSON of one syslog event may have beside `max_event_bytes`; a longer one is cut. */
export const SYSLOG_EVENT_MARGIN_BYTES = 128 * 1024;
/** Bytes of a syslog message that came in several reads, and of its suffix, that the kernel still reads; a longer one is JavaScript's. */
export const SYSLOG_SINGLE_BYTES = 65 * 1024;
/** Bytes read from a syslog connection at a time. */
export const SYSLOG_READ_BYTES = 64 * 1024;
/** Places that syslog datagrams of a source are read into, in one call of the system, and bytes of one over UDP; unix sockets have fewer and larger ones. */
export const SYSLOG_DATAGRAMS_BYTES = 4 * 1024 * 1024;
export const SYSLOG_DATAGRAM_BYTES = 64 * 1024;
/** Time that a new syslog connection has for its PROXY header, and then for its TLS handshake. */
export const SYSLOG_HANDSHAKE_MS = 10_000;
/** Senders of datagrams whose names are kept in memory. */
export const MAX_SYSLOG_SENDERS = 4096;
/** Kernel memory of a syslog source beside its window: what the above say, tables and suffixes. */
export const SYSLOG_KERNEL_BYTES = 5 * 1024 * 1024;
/** Syslog connections that may each hold one read's bytes while there is no room; over it all of the source stop reading. */
export const MAX_SYSLOG_WAITING_READERS = 64;
/** What net.core.rmem_max should allow at least: rates are stated for it. */
export const UDP_RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** How long at most a stopping listener goes on taking what was already received; as a rule it takes milliseconds. */
export const SYSLOG_STOP_MS = 5_000;
/** How long a stop waits, once everything is delivered or `shutdown_timeout` is over, for a source that does not end. */
export const SOURCE_STOP_GRACE_MS = 5_000;
/** A repeated log line of a listener is written this often at most. */
export const SYSLOG_NOTICE_MS = 10_000;
/** Streams of closed connections that are remembered until they are settled. */
export const MAX_CLOSED_STREAMS = 10_000;

// The disk buffer.
/** Batches that a sink's disk buffer writes at a time: half of the thread pool, since each may wait for a slow disk. */
export const MAX_SPOOL_WRITES = 2;
/** The log says this often at most that a disk buffer is full. */
export const FULL_NOTICE_MS = 60_000;

// The kernel's.
/** Bytes of the fields that are added to each event, encoded, with their tables. */
export const MAX_TEMPLATE_BYTES = 64 * 1024;

// Formats.
/** Bytes of a CSV file's first record, which names its columns. */
export const MAX_CSV_HEADER_BYTES = 64 * 1024;
/** Lines that the pieces of one container message, or one CSV record, may take. */
export const MAX_JOINED_LINES = 10_000;
/** How long the pieces of one container message wait for the rest. */
export const JOIN_TIMEOUT_MS = 5_000;

// The ingest sink.
/** Columns of one CSV body, as many as a dataset has fields; keys beyond them go into the column for the rest. */
export const MAX_CSV_COLUMNS = 1024;
/** Bytes of `labels` as JSON text of ASCII, which is one header. */
export const MAX_LABELS_BYTES = 4 * 1024;
/** Bytes of a certificate or key file. */
export const MAX_TLS_FILE_BYTES = 1024 * 1024;
/** A connection takes no new request after this long, so that a changed name, certificate or route takes effect. */
export const MAX_CONNECTION_AGE_MS = 5 * 60_000;
/** An idle connection is closed after this long, … */
export const IDLE_CONNECTION_MS = 30_000;
/** … and after this long at most where the service asks for longer. */
export const MAX_IDLE_CONNECTION_MS = 60_000;
/** Longest wait for a connection. */
export const MAX_CONNECT_MS = 10_000;
/** Time between two attempts to create a dataset. */
export const CREATE_DATASET_PAUSE_MS = 10_000;

// The client.
/** Bytes of an answer that the client reads: a whole page of a query. */
export const CLIENT_ANSWER_BYTES = 256 * 1024 * 1024;
/** How long a whole request may take, first byte sent to last byte of the answer. */
export const CLIENT_TIMEOUT_MS = 60_000;
/** Requests of one client under way at a time. */
export const CLIENT_CONNECTIONS = 8;
/** Tries of a request that may be sent again, and of one that stores events: those last through a restart of the service. */
export const CLIENT_TRIES = 6;
export const CLIENT_INGEST_TRIES = 10;
/** The ceiling of the first wait between two tries; it doubles up to the last one. */
export const CLIENT_FIRST_WAIT_MS = 250;
export const CLIENT_LAST_WAIT_MS = 30_000;
/** A service that asks to wait for longer is answered with an error. */
export const CLIENT_MAX_ASKED_WAIT_MS = 5 * 60_000;
/** Bytes of the events of one ingest request, before compression; an event that is larger goes alone. */
export const CLIENT_CHUNK_BYTES = 4 * 1024 * 1024;
/** Ingest requests under way at a time. */
export const CLIENT_CHUNKS_IN_FLIGHT = 3;
/** Events that came slowly are sent after this long. */
export const CLIENT_FLUSH_MS = 1000;
/** Failed events that are named; the rest are counted. */
export const CLIENT_NAMED_FAILURES = 1000;
/** Rows of a page when all are wanted. */
export const CLIENT_PAGE_ROWS = 10_000;

/** Part of the digest of what shapes events: raised whenever the same configuration makes other events of the same bytes. */
export const SHAPING_VERSION = 1;
/** Reads whose times one span keeps. */
export const MAX_SPAN_READS = 256;

/** What is settled waits for so long for a commit that takes it along; twice as long at most until it is saved. */
export const SAVE_SETTLED_MS = 20;
/** Where no settlement was written for so long, the next one waits for no commit: there are few, and a waking costs as much as saving. */
export const CALM_SETTLEMENTS_MS = 100;
/** Bytes of disk that are taken at the start for positions and the spans of batches, which a full disk must not stop. */
export const STATE_RESERVE_BYTES = 16 * 1024 * 1024;
