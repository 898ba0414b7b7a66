/** Pairs of types on the servers of a cluster. */
import './conformance/query-types.ts';
import { runOn } from './conformance/under.ts';

runOn('clickhouse');
