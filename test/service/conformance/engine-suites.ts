/** The suites of what an engine does whatever its events hold: they run on each engine. */
import './datasets.ts';
import './trim.ts';
import './ingest-keys.ts';
import './query-running.ts';
import './query-streams.ts';
import './delete-limit.ts';
