/**
 * The layout of a compressor's memory, which is sized once. Reads and writes of 8 and 16 bytes go past the end of a part, so
 * each part has `SLACK` behind it.
 */
export const SLACK: usize = 64;

/** Bytes compressed in one call: matches reach back to its start and no further. */
export const SEGMENT_BYTES: usize = 1 << 20;
/** Bytes that share one set of codes. */
export const BLOCK_BYTES: usize = 1 << 18;
/** Shorter ones are not found, so a block has at most a sequence for each four bytes. */
export const MIN_MATCH_BYTES: usize = 4;

/** Tables of the encoder, then of the Huffman codes: their own files divide them up. */
export const ENCODER_TABLES: usize = 0x400;
export const HUFFMAN_TABLES: usize = ENCODER_TABLES + 0x6000;

/** The last place of each hash: u32 addresses. */
export const PLACES: usize = HUFFMAN_TABLES + 0x4000;
export const PLACES_LOG: u64 = 13;
export const PLACES_BYTES: usize = 4 << 13;

/** Of one block: a u64 for each sequence, and the bytes between the matches. */
export const SEQUENCES: usize = PLACES + PLACES_BYTES;
export const LITERALS: usize = SEQUENCES + (BLOCK_BYTES / MIN_MATCH_BYTES) * 8;

/** Enough for a segment that does not shrink: it is stored, with a few bytes for each 64 KiB. A format's header fits before it. */
export const OUTPUT: usize = LITERALS + BLOCK_BYTES + 2 * SLACK;
export const INPUT: usize = OUTPUT + SEGMENT_BYTES + 4096;
export const END: usize = INPUT + SEGMENT_BYTES + SLACK;
