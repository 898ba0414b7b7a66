/** Bounds of a syslog source. */

/** Bytes of an unfinished message that every connection may hold. */
export const SYSLOG_SHARE_BYTES = 8 * 1024;
/** Bytes of longer unfinished messages that all connections of one syslog source may hold together; who finds no room is not read from. */
export const MAX_SYSLOG_UNFINISHED_BYTES = 16 * 1024 * 1024;
/** An unfinished message is given as it is this long after its first byte. */
export const SYSLOG_UNFINISHED_MS = 60_000;
/** While others wait for room, one over its share has this long, and another of these for each so many bytes that it has brought. */
export const SYSLOG_SLOW_MS = 1_000;
export const SYSLOG_SLOW_BYTES = 256 * 1024;
/** Bytes that no octet count agrees with wait this long for the next count. */
export const SYSLOG_OUT_OF_STEP_MS = 1_000;
/** How often those times are looked at. */
export const SYSLOG_LOOK_MS = 500;
/** Where connections run out, the one idle longest is closed for a new one, if it is idle this long. */
export const SYSLOG_IDLE_MS = 60_000;
/** Bytes of a read of a connection that brings little, and connections that may read more at once. */
export const SYSLOG_SMALL_READ_BYTES = 4 * 1024;
/** So many small reads in a row make it one that brings little. */
export const SYSLOG_SMALL_READS = 64;
export const MAX_SYSLOG_LARGE_READERS = 128;
/** Digits of an octet count; a longer number is text. */
export const MAX_OCTET_COUNT_DIGITS = 10;
/** Bytes of finished syslog events that wait in memory for the lane, in each of two halves of the window, before reading stops. */
export const SYSLOG_PENDING_BYTES = 256 * 1024;
/** Memory for the events of all parts of one syslog message that came whole, where messages are split. */
export const SYSLOG_PARTS_BYTES = 3 * 1024 * 1024;
/** Fewer bytes of syslog events wait this long for more before they are handed to the lane. */
export const SYSLOG_HAND_OVER_BYTES = 64 * 1024;
export const SYSLOG_HAND_OVER_MS = 5;
/** Bytes that the JSON of one syslog event may have beside `max_event_bytes`; a longer one is cut. */
export const SYSLOG_EVENT_MARGIN_BYTES = 128 * 1024;
/** Bytes of a syslog message that came in several reads, and of its suffix, that the kernel still reads; a longer one is JavaScript's. */
export const SYSLOG_SINGLE_BYTES = 65 * 1024;
export const SYSLOG_READ_BYTES = 64 * 1024;
/** Places that syslog datagrams of a source are read into, in one call of the system, and bytes of one over UDP; unix sockets have fewer and larger ones. */
export const SYSLOG_DATAGRAMS_BYTES = 4 * 1024 * 1024;
export const SYSLOG_DATAGRAM_BYTES = 64 * 1024;
/** Time that a new syslog connection has for its PROXY header, and then for its TLS handshake. */
export const SYSLOG_HANDSHAKE_MS = 10_000;
/** Senders of datagrams whose names are kept in memory. */
export const MAX_SYSLOG_SENDERS = 4096;
/** Kernel memory of a syslog source beside its window: the datagrams and the message above, tables and suffixes. */
export const SYSLOG_KERNEL_BYTES = 5 * 1024 * 1024;
/** Connections that may each hold the bytes of one read while the window is full; beyond it, every connection of the source stops reading. */
export const MAX_SYSLOG_WAITING_READERS = 64;
/** The least net.core.rmem_max for the documented rates. */
export const UDP_RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Time for a stopping listener, or a connection that is closed, to read bytes that were sent; usually milliseconds. Less than a reload waits. */
export const SYSLOG_STOP_MS = 4_000;
/** A connection whose end we announced is read until it brings nothing for so long. */
export const SYSLOG_LINGER_MS = 250;
/** As many times that, in the middle of a message. */
export const SYSLOG_UNFINISHED_LOOKS = 4;
/** A stopping listener waits so long for the first message of a sender that has connected, and looks for it so often. */
export const SYSLOG_FIRST_MS = 1_000;
export const SYSLOG_FIRST_LOOK_MS = 5;
/** A repeated log line of a listener is written this often at most. */
export const SYSLOG_NOTICE_MS = 10_000;
/** Streams of closed connections that are remembered until they are settled. */
export const MAX_CLOSED_STREAMS = 10_000;
/** Fields that `parse` makes of one message; the rest of it is left in `message`. */
export const MAX_BODY_FIELDS = 1_000;
/** Characters of a message that may precede its CEF or LEEF header. */
export const MAX_BODY_PREFIX = 512;
/** Bytes of a header that is looked for in the table of forms. */
export const MAX_HEAD_BYTES = 1024;
