/**
 * A real ClickHouse server as a process: the engine's library holds the whole of ClickHouse, and its command line, asked to start the HTTP
 * and TCP interfaces, serves until the process ends. Arguments: library, folder, HTTP port, TCP port, configuration file, seconds to live.
 * Run with --experimental-ffi.
 */
import { dlopen, getRawPointer } from 'node:ffi';

const [library = '', folder = '', httpPort = '', tcpPort = '', config = '', seconds = ''] = process.argv.slice(2);

// The server dies with the process that started it, however that ends: the call below never gives this thread back.
const { functions: libc } = dlopen('libc.so.6', { prctl: { arguments: ['i32', 'u64'], return: 'i32' } });
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
libc.prctl(PR_SET_PDEATHSIG, BigInt(SIGKILL));

const { functions: chdb } = dlopen(library, {
  chdb_query_cmdline: { arguments: ['i32', 'pointer'], return: 'pointer' },
});
const wait = `SELECT sleepEachRow(1) FROM numbers(${seconds}) SETTINGS max_block_size=1, function_sleep_max_microseconds_per_block=0 FORMAT Null`;
const args = [
  'clickhouse',
  '--path',
  folder,
  '--http_port',
  httpPort,
  '--tcp_port',
  tcpPort,
  '--listen_host',
  '127.0.0.1',
  '--config-file',
  config,
  '--multiquery',
  '--query',
  `SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; ${wait}`,
].map((text) => Buffer.from(`${text}\0`));
const argv = Buffer.alloc(8 * (args.length + 1));
for (const [n, arg] of args.entries()) argv.writeBigUInt64LE(getRawPointer(arg), n * 8);
chdb.chdb_query_cmdline(args.length, getRawPointer(argv));
