/** Datasets with what they hold, and the fields of the one that is asked, each with its commonest values. */
import { useEffect, useState } from 'preact/hooks';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMany,
  formatShort,
  formatTime,
  nameMany,
} from '../parts/format.ts';
import { formatCell } from '../parts/show-text.ts';
import type { DatasetInfo } from '../../client/api-types.ts';
import type { Api, CellValue, EventField } from './data/api.ts';
import { toQueryRange } from './data/link-state.ts';
import { fieldText, type FieldFilter } from './data/filters.ts';
import { quoteName } from './data/query-text.ts';
import { rowsOf } from './data/results.ts';
import { type CatalogView, knownFields } from './data/use-catalog.ts';
import { useNameSearch } from '../parts/name-search.tsx';

const MOST_FIELDS = 200;
const MOST_DATASETS = 100;
/** More are searched. */
const FEW_DATASETS = 15;
const MOST_VALUES = 8;

export interface SidebarProps {
  readonly api: Api | undefined;
  readonly catalog: CatalogView & { readonly refresh: () => void };
  readonly dataset: string | undefined;
  readonly range: string;
  readonly onDataset: (name: string) => void;
  readonly onFilter: (filter: FieldFilter) => void;
}

export function Sidebar({ api, catalog, dataset, range, onDataset, onFilter }: SidebarProps) {
  const { datasets, infos, problem, refresh } = catalog;
  const info = dataset === undefined ? undefined : infos[dataset];
  const search = useNameSearch('dataset', datasets ?? [], ({ name }) => name, MOST_DATASETS);
  return (
    <aside aria-label="Datasets and fields">
      {api && (
        <h2>
          Datasets
          <button
            type="button"
            class="quiet"
            aria-label="Ask again what the datasets hold"
            title="Ask again"
            onClick={refresh}
          >
            ↻
          </button>
        </h2>
      )}
      {(datasets?.length ?? 0) > FEW_DATASETS && search.field}
      {datasets && problem !== '' && <p class="note">{problem}</p>}
      {api && datasets?.length === 0 && <p class="soft">None that this token may see.</p>}
      <ul class="datasets">
        {search.found.map(({ name, description }) => (
          <li key={name}>
            <button type="button" aria-current={name === dataset} title={description} onClick={() => onDataset(name)}>
              <span>{name}</span>
              <DatasetFacts info={infos[name]} />
            </button>
          </li>
        ))}
      </ul>
      {search.others}
      {api && dataset !== undefined && info && (
        <Fields key={dataset} {...{ api, dataset, range, onFilter }} fields={knownFields(catalog, dataset)} />
      )}
    </aside>
  );
}

function DatasetFacts({ info }: { readonly info: DatasetInfo | undefined }) {
  if (!info) return <small>…</small>;
  if (info.numEvents === 0) return <small>empty</small>;
  const age = Date.now() - Date.parse(info.maxTime);
  return (
    <small
      title={`${formatMany(info.numEvents, 'event')}, ${formatBytes(info.compressedBytes)} on disk, the last one of ${formatTime(Date.parse(info.maxTime))}`}
    >
      {formatShort(info.numEvents)} {nameMany(info.numEvents, 'event')} · {formatBytes(info.compressedBytes)} ·{' '}
      {age < 1000 ? 'now' : `${formatDuration(age)} ago`}
    </small>
  );
}

interface FieldsProps extends Pick<SidebarProps, 'range' | 'onFilter'> {
  readonly api: Api;
  readonly dataset: string;
  readonly fields: readonly EventField[];
}

function Fields({ api, dataset, fields, range, onFilter }: FieldsProps) {
  const search = useNameSearch(
    'field',
    fields.filter(({ name }) => name !== '_sysTime'),
    ({ name }) => name,
    MOST_FIELDS,
  );
  return (
    <>
      <h2>
        Fields <small>{formatCount(fields.length)}</small>
      </h2>
      {search.field}
      <ul>
        {search.found.map((field) => (
          <FieldItem key={field.name} {...{ api, dataset, field, range, onFilter }} />
        ))}
      </ul>
      {search.others}
    </>
  );
}

interface FieldItemProps extends Omit<FieldsProps, 'fields'> {
  readonly field: EventField;
}

function FieldItem({ api, dataset, field, range, onFilter }: FieldItemProps) {
  const [isOpen, setOpen] = useState(false);
  const [values, setValues] = useState<readonly (readonly [value: CellValue, count: number])[] | undefined>();
  const [problem, setProblem] = useState('');
  const { name, type } = field;
  useEffect(() => {
    if (!isOpen) return undefined;
    const abort = new AbortController();
    const query = `${quoteName(dataset)} | summarize count_ = count() by value = ${fieldText(name)} | sort by count_ desc | take ${MOST_VALUES}`;
    api.query(query, toQueryRange(range), abort.signal).then(
      (result) => {
        const { names, columns, count } = rowsOf(result);
        const [at, counts] = [columns[names.indexOf('value')] ?? [], columns[names.indexOf('count_')] ?? []];
        setValues(Array.from({ length: count }, (_, row) => [at[row] ?? null, Number(counts[row])] as const));
        setProblem('');
      },
      (error: unknown) => abort.signal.aborted || setProblem(String(error)),
    );
    return () => abort.abort();
  }, [isOpen, range]);
  const most = Math.max(1, ...(values ?? []).map(([, count]) => count));
  return (
    <li>
      <button
        type="button"
        class="field"
        title={field.expression}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <bdi>{formatCell(name, 100)}</bdi> <small>{type}</small>
      </button>
      {isOpen && problem !== '' && <p class="note">{problem}</p>}
      {isOpen && values?.length === 0 && <p class="soft">No values in this range.</p>}
      {isOpen && (
        <ul class="values">
          {values?.map(([value, count], index) => (
            <li key={index}>
              <button type="button" title="Add as a filter" onClick={() => onFilter({ name, value })}>
                <bdi>{value === null ? 'none' : formatCell(value, 60)}</bdi>
                <small>{formatCount(count)}</small>
                <meter aria-hidden="true" min={0} max={most} value={count} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
