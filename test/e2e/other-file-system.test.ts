/** The suites whose files keep their places by inode and time once more on tmpfs, which numbers files and keeps times in another way than disks do. */
import { onOtherFileSystem } from '../support/on-other-file-system.ts';

onOtherFileSystem({
  rotation: () => import('./rotation.test.ts'),
  storm: () => import('./storm.test.ts'),
});
