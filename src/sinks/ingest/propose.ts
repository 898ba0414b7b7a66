/** The entry of an ingest sink in a new configuration. */
import { commented, yamlText } from '../../config/yaml/entry-text.ts';
import type { ServiceAddress } from '../common/sink-type.ts';

export const proposeIngest = ({ url, dataset, tokenFile, exists }: ServiceAddress): readonly string[] => [
  '  store:',
  '    type: ingest',
  commented(`    url: ${yamlText(url)}`, "your service's address"),
  tokenFile === undefined
    ? commented('    token: ${TAILRACE_TOKEN}', 'a variable of the environment; or token_file: FILE')
    : commented(`    token_file: ${yamlText(tokenFile)}`, 'read again when it changes'),
  commented(`    dataset: ${yamlText(dataset)}`, '`dataset` of a source overrides it'),
  ...(exists ? [] : [commented('    create_dataset: true', 'where the service has none of that name')]),
];
