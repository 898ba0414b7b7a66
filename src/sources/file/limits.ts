/** Bounds of a file source. */

/** Files held open at a time by one file source. */
export const MAX_OPEN_FILES = 256;
/** The least that a file source gets by with where the process has no descriptor left; */
export const MIN_OPEN_FILES = 8;
/** then it tries to have twice as many again after this long. */
export const OPEN_FILES_GROW_MS = 60_000;
/** So many NULs at the beginning of a file are a hole; of one that was truncated, as many as were in it before, where those were fewer. */
export const HOLE_BYTES = 1024;
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
