/** Pairs of types on the embedded engine. */
import './conformance/query-types.ts';
import { runOn } from './conformance/under.ts';

runOn('embedded');
