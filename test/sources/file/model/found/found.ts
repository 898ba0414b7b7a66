/** Failures that the model test found, each as the smallest schedule that showed it, by the promise that it would break. */
import { altered } from './altered.ts';
import { counted } from './counted.ts';
import { judge } from './judge.ts';
import { lost } from './lost.ts';
import { repeated } from './repeated.ts';
import { settled } from './settled.ts';
import type { Found } from './steps.ts';

const promises: Readonly<Record<string, readonly Found[]>> = {
  'loses nothing': lost,
  'stores nothing twice': repeated,
  'stores only what was written': altered,
  'counts what is lost to the byte': counted,
  'settles everything': settled,
  'asks for nothing that no agent can find': judge,
};

export const found: readonly (Found & { readonly promise: string })[] = Object.entries(promises).flatMap(
  ([promise, schedules]) => schedules.map((each) => ({ ...each, promise })),
);
