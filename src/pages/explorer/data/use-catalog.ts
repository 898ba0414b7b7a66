/** Datasets and what they hold: the sidebar shows them, the editor suggests them. Asked for at sign-in, of the queried dataset with each query, and when a reader asks. */
import { useEffect, useState } from 'preact/hooks';
import type { Dataset, DatasetInfo, VirtualField } from '../../../client/api-types.ts';
import type { Api, EventField } from './api.ts';
import type { QueryOutcome } from './use-query.ts';

/** Of so many datasets it is asked at once what they hold. */
const MOST_INFOS = 50;

export interface CatalogView {
  /** Undefined until they are listed. */
  readonly datasets: readonly Dataset[] | undefined;
  /** By name. */
  readonly infos: Readonly<Record<string, DatasetInfo>>;
  readonly virtual: readonly VirtualField[];
  /** It is known of each what it holds, but of those beyond the first 50. */
  readonly isLoaded: boolean;
  /** Why datasets cannot be listed; empty while they can. */
  readonly problem: string;
}

const NONE: CatalogView = { datasets: undefined, infos: {}, virtual: [], isLoaded: false, problem: '' };

/** Of a dataset: those that events have, then virtual ones. */
export function knownFields({ infos, virtual }: CatalogView, dataset: string | undefined): readonly EventField[] {
  if (dataset === undefined) return [];
  const named = virtual
    .filter((field) => field.dataset === dataset)
    .map(({ name, expression }) => ({ name, type: 'virtual', expression }));
  return [
    ...named,
    ...(infos[dataset]?.fields ?? []).filter(({ name }) => !named.some((field) => field.name === name)),
  ];
}

/** Nothing is stored yet in what the token may see. */
export function isEmpty({ datasets, infos, isLoaded }: CatalogView): boolean {
  return isLoaded && datasets !== undefined && datasets.every(({ name }) => infos[name]?.numEvents === 0);
}

/** The dataset with the newest event, and when that was; undefined where all are empty. */
export function newestOf({ infos, isLoaded }: CatalogView): { readonly name: string; readonly ms: number } | undefined {
  const filled = Object.entries(infos).filter(([, { numEvents }]) => numEvents > 0);
  const dated = filled.map(([name, { maxTime }]) => ({ name, ms: Date.parse(maxTime) })).sort((a, b) => b.ms - a.ms);
  return isLoaded ? dated[0] : undefined;
}

/** `ran` changes with each query. */
export function useCatalog(
  api: Api | undefined,
  dataset: string | undefined,
  ran: QueryOutcome,
): CatalogView & { readonly refresh: () => void } {
  const [catalog, setCatalog] = useState(NONE);
  const [asked, setAsked] = useState(0);
  useEffect(() => setCatalog(NONE), [api]);
  useEffect(() => {
    let isOver = false;
    const load = async (from: Api) => {
      const datasets = await from.datasets();
      if (isOver) return;
      setCatalog((known) => ({ ...known, datasets, problem: '' }));
      // An addition: who may not read them sees none.
      const virtual = await from.virtualFields().catch(() => []);
      if (isOver) return;
      setCatalog((known) => ({ ...known, virtual }));
      for (const { name } of datasets.slice(0, MOST_INFOS)) {
        const info = await from.info(name).catch(() => undefined);
        if (isOver) return;
        if (info) setCatalog((known) => ({ ...known, infos: { ...known.infos, [name]: info } }));
      }
      setCatalog((known) => ({ ...known, isLoaded: true }));
    };
    if (api)
      load(api).catch((error: unknown) => {
        if (!isOver) setCatalog((known) => ({ ...known, problem: String(error) }));
      });
    return () => {
      isOver = true;
    };
  }, [api, asked]);
  useEffect(() => {
    if (!api || dataset === undefined || ran.kind !== 'found') return undefined;
    let isOver = false;
    api.info(dataset).then(
      (info) => {
        if (!isOver) setCatalog((known) => ({ ...known, infos: { ...known.infos, [dataset]: info } }));
      },
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [api, ran]);
  return { ...catalog, refresh: () => setAsked((times) => times + 1) };
}
