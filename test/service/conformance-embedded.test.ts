/** The conformance suite on the embedded engine. */
import './conformance/suites.ts';
import { runOn } from './conformance/under.ts';

runOn('embedded');
