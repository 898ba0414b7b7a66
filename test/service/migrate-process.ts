/** A move to a cluster in a process of its own, for tests that end it: folder, engine and rows at a time. Says each chunk on stdout. */
import { silentLog } from '../../src/core/log.ts';
import { moveToCluster } from '../../src/service/run/migrate.ts';

const [dataDir = '', to = '', chunkRows = ''] = process.argv.slice(2);
const onProgress = (): void => void process.stdout.write('chunk\n');
await moveToCluster({ dataDir, to, sync: false, log: silentLog, env: {}, chunkRows: Number(chunkRows), onProgress });
process.stdout.write('done\n');
