/** The suites about files that are rotated, truncated and deleted under the real agent once more, on tmpfs. */
import { onTmpfs } from '../support/on-tmpfs.ts';

onTmpfs({
  'deleted files': () => import('./deleted-files.test.ts'),
  holes: () => import('./hole.test.ts'),
  identity: () => import('./identity.test.ts'),
  'joined events': () => import('./joined-rotation.test.ts'),
  rotation: () => import('./rotation.test.ts'),
  storm: () => import('./storm.test.ts'),
  truncation: () => import('./truncation.test.ts'),
});
