/** Datasets and what they hold, asked for once a sign-in: the sidebar shows them, the editor suggests them. */
import { useEffect, useState } from 'preact/hooks';
import { type Api, type Dataset, type DatasetInfo, Refused } from './api.ts';

/** Of so many datasets it is asked at once what they hold. */
const MOST_INFOS = 50;

export interface Catalog {
  /** Undefined until they are listed. */
  readonly datasets: readonly Dataset[] | undefined;
  /** By name. */
  readonly infos: Readonly<Record<string, DatasetInfo>>;
  /** Why datasets cannot be listed; empty while they can. */
  readonly problem: string;
}

const NONE: Catalog = { datasets: undefined, infos: {}, problem: '' };

export function useCatalog(api: Api | undefined): Catalog {
  const [catalog, setCatalog] = useState(NONE);
  useEffect(() => {
    let isOver = false;
    setCatalog(NONE);
    const load = async (from: Api) => {
      const datasets = await from.datasets();
      if (isOver) return;
      setCatalog((known) => ({ ...known, datasets }));
      for (const { name } of datasets.slice(0, MOST_INFOS)) {
        const info = await from.info(name).catch(() => undefined);
        if (isOver) return;
        if (info) setCatalog((known) => ({ ...known, infos: { ...known.infos, [name]: info } }));
      }
    };
    if (api)
      load(api).catch((error: unknown) => {
        if (!isOver) setCatalog((known) => ({ ...known, problem: error instanceof Refused ? error.message : String(error) }));
      });
    return () => {
      isOver = true;
    };
  }, [api]);
  return catalog;
}
