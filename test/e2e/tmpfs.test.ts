/** The suites about files that are rotated, truncated and deleted under the real agent once more, on tmpfs. */
import { onTmpfs } from '../support/on-tmpfs.ts';

onTmpfs({
  holes: () => import('./hole.test.ts'),
  rotation: () => import('./rotation.test.ts'),
  storm: () => import('./storm.test.ts'),
});
