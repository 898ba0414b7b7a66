/** The conformance suite on the embedded engine, where the fields of the first request to a dataset get columns of their own. */
import './conformance/suites.ts';
import { runOn } from './conformance/under.ts';

runOn('embedded', { ownColumnSample: 1 });
