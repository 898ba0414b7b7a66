/** The suites of this folder that depend on how a file system numbers files, gives numbers again and keeps times, once more on the other one. */
import { onOtherFileSystem } from '../../support/on-other-file-system.ts';

onOtherFileSystem({
  compressed: () => import('./compressed.test.ts'),
  'copies at any speed': () => import('./copies-at-any-speed.test.ts'),
  copytruncate: () => import('./copytruncate.test.ts'),
  holes: () => import('./nul-gap.test.ts'),
  'changes in place': () => import('./in-place.test.ts'),
  joining: () => import('./joining.test.ts'),
  'compressed files that are left': () => import('./unread-compressed.test.ts'),
  links: () => import('./links.test.ts'),
  'NULs at the end': () => import('./nul-tail.test.ts'),
  'inodes given again': () => import('./reuse.test.ts'),
  rotation: () => import('./rotation.test.ts'),
  tailing: () => import('./tailing.test.ts'),
  truncations: () => import('./truncation-races.test.ts'),
  watching: () => import('./watching.test.ts'),
});
