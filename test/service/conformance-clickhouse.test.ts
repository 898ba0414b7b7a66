/** The conformance suite on two ClickHouse servers, the shards of a cluster. */
import './conformance/suites.ts';
import { runOn } from './conformance/under.ts';

runOn('clickhouse');
