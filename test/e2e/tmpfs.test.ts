/** The suites whose files keep their places by inode and time once more, on tmpfs, which numbers files and keeps times in another way. */
import { onTmpfs } from '../support/on-tmpfs.ts';

onTmpfs({
  rotation: () => import('./rotation.test.ts'),
  storm: () => import('./storm.test.ts'),
});
