/** The conformance suite on two ClickHouse servers, the shards of a cluster: all of it that an engine can change. */
import './conformance/engine-suites.ts';
import './conformance/field-suites.ts';
import { runOn } from './conformance/under.ts';

runOn('clickhouse');
