/** Bounds of a file source. */

/** Files held open at a time by one file source. */
export const MAX_OPEN_FILES = 256;
/** The fewest files that a file source keeps open where the process runs out of descriptors; */
export const MIN_OPEN_FILES = 8;
/** after this long it doubles their number again. */
export const OPEN_FILES_GROW_MS = 60_000;
/** So many NULs at the beginning of a file are a NUL gap; in a truncated file, as many as it had bytes, if fewer. */
export const GAP_BYTES = 1024;
/** Such a run before text is passed over this long after it was first seen, or after the file's last change: until then it may be filled. */
export const HOLE_SETTLES_MS = 10_000;
/** Bytes read from one file before the next one gets its turn. */
export const TURN_BYTES = 4 * 1024 * 1024;
/** After the text by whose end a file is recognised, at most so many NULs; after more, it is recognised by NULs. */
export const MAX_TAIL_NULS = 4 * TURN_BYTES;
/** Directories that one scan visits for one glob. */
export const MAX_DIRECTORIES = 20_000;
/** A folder's listing is cached if its modification time was this old when it was read, */
export const LISTING_SETTLES_MS = 3_000;
/** and for this long. */
export const MAX_LISTING_AGE_MS = 30_000;
/** Files checked in a row before sockets and timers run. */
export const SCAN_SLICE_FILES = 500;
/** How often a scan observes and decides anew the undecided files; the rest waits for the next scan. */
export const MAX_ROUNDS = 8;
/** Originals that one look compares a copy candidate with; the next look goes on. */
export const MAX_ORIGINALS = 128;
/** A due scan without progress for this long is overdue: the watchdog is not fed. */
export const SCAN_GRACE_MS = 60_000;
/** How often deleted files and those with an unfinished line are checked between scans. */
export const LOOK_EVERY_MS = 1_000;
/** A file stays open this long after its last change; then the unfinished line of a rotated file is sent at the latest. */
export const KEEP_OPEN_MS = 10_000;
/** A possible copy counts as a file of its own this long after its last change. */
export const DECIDE_COPY_MS = 10_000;
/** Bytes of a copy that one scan compares with its original. */
export const COPY_CHECK_BYTES = 64 * 1024 * 1024;
/** Content sums are kept in parts, to recognise a copy that ends early. The part at the end of the file. */
export const LAST_PART_BYTES = 4 * 1024;
/** Every other part. */
export const PART_BYTES = 32 * 1024;
/** The last lines of a file, of which a footer is one, have sums of their own, so many. */
export const LAST_LINES = 16;
/** A file that was changed in its middle is read on if so many bytes of it, and at least half, are as they were. */
export const MIN_KEPT_BYTES = 1024;
/** Those bytes must have so many different lines among the last. */
export const MIN_KEPT_LINES = 3;
/** `fallocate` cuts out multiples of this. */
export const CUT_OUT_UNIT_BYTES = 4096;
/** The most that may have been appended since the last look. */
export const MAX_APPENDED_BYTES = 16 * 1024 * 1024;
/** A file that is changed in place, and cannot be read on, is read from its beginning once in this time. */
export const READ_AGAIN_MS = 60_000;
/** How much a file system's clock may be behind the system's. */
export const BIRTH_SLACK_MS = 50;
/** Streams created within this time may come from one scan, which creates them in any order. */
export const STREAM_ORDER_MS = 20;
/** How long a file is searched for that is found neither by path nor by inode. */
export const FORGET_AFTER_MS = 60_000;
/** Streams are kept this long while their mount is away. */
export const MAX_AWAY_MS = 24 * 3_600_000;
/** Longest wait between two tries to open a file. */
export const MAX_OPEN_RETRY_MS = 30_000;
/** Folders that one source watches; the others are scanned only. */
export const MAX_WATCHED_FOLDERS = 1_000;
/** A folder with so many changes within a second is polled instead, its watch closed. */
export const HOT_EVENTS = 10;
/** A busy folder is polled for this long at first, twice as long each time it is busy again. */
export const PARK_MS = 1_000;
/** The longest time that a busy folder is polled. */
export const MAX_PARK_MS = 8_000;
/** Shortest time between two checks of a folder for appended bytes: a shorter one costs more CPU than it saves time. */
export const APPEND_CHECK_MS = 250;
/** The same for a polled folder: reading and sending less at a time costs more CPU an event. */
export const HOT_CHECK_MS = 500;
/** Shortest time between two listings of a folder, while files come and go. */
export const NAMES_CHECK_MS = 20;
/** A polled folder that grows by so many bytes a second is listed every `FAST_NAMES_CHECK_MS`. */
export const FAST_GROWTH_BYTES = 1024 * 1024;
/** A log that fills fast is rotated fast. */
export const FAST_NAMES_CHECK_MS = 100;
/** Milliseconds of pause for each file after checking a folder: about twenty times the cost of the check. */
export const CHECK_PAUSE_MS_PER_FILE = 0.1;
/** A change found by a full scan counts as missed if its watch did not report it within this time. */
export const TELL_MS = 1_000;
/** A watch that could not be set up is tried again after this long. */
export const WATCH_RETRY_MS = 60_000;
/** Related files that `explain` names. */
export const MAX_EXPLAINED_RELATIVES = 20;
/** Different subjects (usually paths) that one file source remembers to have logged. */
export const MAX_NOTICES = 1_000;
/** Streams whose content is remembered, to recognise it in a compressed file. */
export const MAX_KNOWN_CONTENTS = 10_000;
/** A compressed file is read once it is unchanged this long. */
export const COMPRESSED_SETTLES_MS = 5_000;
/** How long to wait for the rest of an incomplete one before its unfinished line is sent. */
export const COMPRESSED_CUT_MS = 60_000;
/** Symbolic links that one path may lead through: as many as Linux follows. */
export const MAX_LINKS = 40;
/** Links and private files that a source left out and remembers to have logged and counted. */
export const MAX_REFUSALS = 1_000;
/** A link that may be followed is not judged again for this long while it leads to the same file; it is whenever that is opened. */
export const LINK_VERDICT_MS = 30_000;
/** The files of the data folder are listed again after this long at the earliest. */
export const PRIVATE_FILES_AGE_MS = 1_000;
/** They are listed again after so many times the cost of a listing. */
export const PRIVATE_FILES_PAUSE = 50;
/** Files that were secrets and are remembered, so that a hard link to one is not read. */
export const MAX_FORMER_SECRETS = 1_000;
/** Names of files that are gone and ended inside of a line, which the next file of the name goes on with. */
export const MAX_ENDED_IN_LINE = 1_000;
/** Last bytes of a compressed content that are kept, to know whether it goes on in the next one. */
export const RECENT_TEXT_BYTES = 256 * 1024;
/** Bytes before a position in which the last header of a W3C log is looked for, where none is saved. */
export const MAX_HEADER_SEARCH_BYTES = 16 * 1024 * 1024;
/** Headers saved of one stream, and characters of them; the last one is saved whatever its length. */
export const MAX_SAVED_HEADERS = 32;
export const MAX_SAVED_HEADER_CHARACTERS = 64 * 1024;
