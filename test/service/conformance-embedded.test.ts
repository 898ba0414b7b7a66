/** The conformance suite on the embedded engine. */
import './conformance/service-suites.ts';
import './conformance/engine-suites.ts';
import './conformance/field-suites.ts';
import { runOn } from './conformance/under.ts';

runOn('embedded');
