/** Plain data as YAML that reads back as the same. */
import { stringify } from 'yaml';

export function printYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0 });
}
