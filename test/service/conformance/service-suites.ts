/** The suites that no engine changes, as they end before one is asked: who may what, what is kept beside events, and refusals. They run once. */
import './auth.ts';
import './endpoints.ts';
import './users.ts';
import './tokens.ts';
import './saved.ts';
import './errors.ts';
import './openapi.ts';
import './data-folder.ts';
import './query-echo.ts';
