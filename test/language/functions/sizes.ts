/** What functions of sizes give. */
import type { FunctionCases } from '../function-cases.ts';
import type { SIZES } from '../../../src/language/functions/sizes/spec.ts';

export const SIZES_CASES: FunctionCases<typeof SIZES> = {
  format_bytes: [['20010332, 2', '19.08 MB', { source: 'Kusto, format_bytes()' }], ['564', '564 Bytes'], ['10332, 1', '10.1 KB'], ['20010332', '19 MB'],
    ['20010332, 0, "KB"', '19541 KB'], ['2048, 3', '2 KB'], ['1500, 1, "", 10', '1.5 KB'], ['1000000, 2, "KiB", 10', '976.56 KiB'], ['0', '0 Bytes'],
    ['-1536, 1', '-1.5 KB'], ['0.25, 2', '0.25 Bytes'], ['1048576, 0, "Bytes"', '1048576 Bytes'], ['most', '8 EB'], ['1e300', null], ['sqrt(-1)', null],
    ['long(null)', null]],
  parse_bytes: [['"1.5 KB"', 1536], ['"500"', 500], ['"20 MiB"', 20_971_520], ['"1 kb", 10', 1000], ['"1 KiB", 10', 1024], ['" 2GB "', 2_147_483_648],
    ['"10 bytes"', 10], ['"1 b"', 1], ['"1.9"', 1], ['"-2 K"', -2048], ['"1 E"', 2n ** 60n], ['"3 miles"', 0, { source: 'APL, parse_bytes()' }], ['""', 0],
    ['"9999 EB"', 0], ['"1e3"', 0], ['"1 000"', 0], ['string(null)', null]],
}; // prettier-ignore
