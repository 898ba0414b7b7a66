/** Every suite of the conformance tests; importing one declares its tests. */
import './auth.ts';
import './users.ts';
import './tokens.ts';
import './datasets.ts';
import './trim.ts';
import './errors.ts';
import './openapi.ts';
import './data-folder.ts';
import './ingest-formats.ts';
import './ingest-limits.ts';
import './ingest-values.ts';
import './ingest-keys.ts';
import './query-request.ts';
import './query-results.ts';
import './query-pages.ts';
import './query-legacy.ts';
import './query-language.ts';
