/** The conformance suite on the embedded engine, where the fields of the first request to a dataset get columns of their own: all of it that fields are in. */
import './conformance/field-suites.ts';
import { runOn } from './conformance/under.ts';

runOn('embedded', { ownColumnSample: 1 });
