/**
 * Logs behind symbolic links: a pattern matches the link, and rotation goes on beside its target. Every form of link, with every way in
 * which the log changes there, while the source runs and while it is stopped: every line once, under the path that was matched.
 */
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { createFileSource } from '../../../src/sources/file/source.ts';
import { fileSourceConfig } from '../../support/source-config.ts';
import { plainRegion } from '../lane-double.ts';
import { scenarios } from './scenario.ts';
import { playSteps } from './steps.ts';
import { TailRig } from './tail-rig.ts';

/** How a pattern comes to a file in another folder. */
interface Layout {
  readonly glob: string;
  /** Makes folders and links. */
  readonly begin: string;
  /** The matched path, and where it leads. */
  readonly link: string;
  readonly real: string;
  /** Has the matched path lead to another file, or nowhere. */
  readonly retarget: string;
  readonly unlink: string;
  readonly next: string;
}

const LAYOUTS: Readonly<Record<string, Layout>> = {
  'a link that a wildcard matches': {
    glob: 'links/*.log',
    begin: 'mkdir links; mkdir real; mkdir other; link ../real/app.log links/app.log',
    link: 'links/app.log',
    real: 'real/app.log',
    retarget: 'rm links/app.log; link ../other/app.log links/app.log',
    unlink: 'rm links/app.log',
    next: 'other/app.log',
  },
  'a link that the pattern names': {
    glob: 'app.log',
    begin: 'mkdir real; mkdir other; link real/app.log app.log',
    link: 'app.log',
    real: 'real/app.log',
    retarget: 'rm app.log; link other/app.log app.log',
    unlink: 'rm app.log',
    next: 'other/app.log',
  },
  'a link of another name': {
    glob: 'links/*.log',
    begin: 'mkdir links; mkdir pods; link ../pods/0 links/app.log',
    link: 'links/app.log',
    real: 'pods/0',
    retarget: 'rm links/app.log; link ../pods/1 links/app.log',
    unlink: 'rm links/app.log',
    next: 'pods/1',
  },
  'a chain of links': {
    glob: 'links/*.log',
    begin:
      'mkdir links; mkdir hop; mkdir real; mkdir other; link ../real/app.log hop/app; link ../hop/app links/app.log',
    link: 'links/app.log',
    real: 'real/app.log',
    retarget: 'rm hop/app; link ../other/app.log hop/app',
    unlink: 'rm hop/app',
    next: 'other/app.log',
  },
  "a linked folder in the pattern's fixed part": {
    glob: 'current/logs/*.log',
    begin:
      'mkdir releases; mkdir releases/1; mkdir releases/1/logs; mkdir releases/2; mkdir releases/2/logs; link releases/1 current',
    link: 'current/logs/app.log',
    real: 'releases/1/logs/app.log',
    retarget: 'rm current; link releases/2 current',
    unlink: 'rm current',
    next: 'releases/2/logs/app.log',
  },
  "a linked folder in the pattern's wildcard part": {
    glob: 'apps/*/app.log',
    begin: 'mkdir apps; mkdir releases; mkdir releases/1; mkdir releases/2; link ../releases/1 apps/x',
    link: 'apps/x/app.log',
    real: 'releases/1/app.log',
    retarget: 'rm apps/x; link ../releases/2 apps/x',
    unlink: 'rm apps/x',
    next: 'releases/2/app.log',
  },
  'a linked folder under a pattern of any depth': {
    glob: 'apps/**/*.log',
    begin: 'mkdir apps; mkdir releases; mkdir releases/1; mkdir releases/2; link ../releases/1 apps/x',
    link: 'apps/x/app.log',
    real: 'releases/1/app.log',
    retarget: 'rm apps/x; link ../releases/2 apps/x',
    unlink: 'rm apps/x',
    next: 'releases/2/app.log',
  },
};

/** Changes behind the link, with LINK, REAL and NEXT for the paths, and the lines read. */
const CHANGES: Readonly<Record<string, { readonly steps: string; readonly reads: string }>> = {
  'renamed and made anew': {
    steps: 'append REAL two; mv REAL REAL.1; write REAL three; append REAL.1 late',
    reads: 'two late three',
  },
  'renamed by date and made anew': {
    steps: 'append REAL two; mv REAL REAL-20261121; write REAL three',
    reads: 'two three',
  },
  'renamed twice, with lines in each generation': {
    steps: 'append REAL two; mv REAL REAL.1; born; write REAL three; mv REAL.1 REAL.2; mv REAL REAL.1; write REAL four',
    reads: 'two three four',
  },
  'renamed, with nothing in its place': { steps: 'append REAL two; mv REAL REAL.1', reads: 'two' },
  'copied and truncated': { steps: 'append REAL two; copytruncate REAL; append REAL three', reads: 'two three' },
  'copied and truncated twice': {
    steps:
      'append REAL two; copytruncate REAL; append REAL three; copytruncate REAL; append REAL "four, longer than before"',
    reads: 'two three "four, longer than before"',
  },
  'pointed elsewhere': {
    steps: 'append REAL two; RETARGET; write NEXT three; append REAL late',
    reads: 'two late three',
  },
  'renamed, made anew and pointed elsewhere': {
    steps: 'append REAL two; mv REAL REAL.1; born; write REAL three; RETARGET; write NEXT four',
    reads: 'two three four',
  },
  'pointed elsewhere and renamed': {
    steps: 'append REAL two; RETARGET; write NEXT three; mv REAL REAL.1',
    reads: 'two three',
  },
  'copied, truncated and pointed elsewhere': {
    steps: 'append REAL two; copytruncate REAL; append REAL three; RETARGET; write NEXT four',
    reads: 'two three four',
  },
  removed: { steps: 'append REAL two; UNLINK; append REAL late', reads: 'two late' },
  'removed and renamed': { steps: 'append REAL two; UNLINK; mv REAL REAL.1', reads: 'two' },
  'renamed, made anew and removed': {
    steps: 'append REAL two; mv REAL REAL.1; born; write REAL three; UNLINK',
    reads: 'two three',
  },
};

const WHEN: Readonly<Record<string, { readonly before: string; readonly after: string }>> = {
  'while the source is stopped': { before: 'start; drain; reads one; commit', after: 'start; drain' },
  'between two runs of --once': { before: 'start once; run; reads one; commit', after: 'start once; run' },
  'between two looks': { before: 'start; drain; reads one', after: 'pass 15' },
  'between two looks at a closed file': { before: 'start; pass 15; reads one; stats idle=1', after: 'pass 15' },
};

/** The script with the names of a layout. */
function fill(script: string, { link, real, next, retarget, unlink }: Layout): string {
  const names: Readonly<Record<string, string>> = {
    LINK: link,
    REAL: real,
    NEXT: next,
    RETARGET: retarget,
    UNLINK: unlink,
  };
  return script.replaceAll(/LINK|REAL|NEXT|RETARGET|UNLINK/g, (name) => names[name]!);
}

for (const [form, layout] of Object.entries(LAYOUTS))
  for (const [when, { before, after }] of Object.entries(WHEN))
    test.for(Object.entries(CHANGES))(`behind ${form}, %s ${when}: every line once`, async ([, { steps, reads }]) => {
      const { glob, begin, link, real } = layout;
      const script = fill(steps, layout);
      const isRestarted = after.startsWith('start');
      const rig = new TailRig({ glob });
      const all = isRestarted ? reads : `one ${reads}`;
      await playSteps(
        rig,
        `${begin}; write ${real} one; born; ${before}; ${script}; ${after}; reads-any ${all}; files ${link}; lost 0`,
      );
      await playSteps(rig, 'commit; start; drain; reads-nothing; lost 0');
    });

// The link still leads to the folder in which the file was rotated: one that leads nowhere tells nothing.
test.for(Object.keys(LAYOUTS))(
  'behind %s, positions of an earlier version have no real path: nothing is lost by an upgrade',
  async (form) => {
    const layout = LAYOUTS[form]!;
    for (const [change, { steps, reads }] of Object.entries(CHANGES)) {
      if (/RETARGET|UNLINK/.test(steps) || change === 'renamed, with nothing in its place') continue;
      const rig = new TailRig({ glob: layout.glob });
      await playSteps(rig, `${layout.begin}; write ${layout.real} one; born; start; drain; commit`);
      for (const record of rig.streams.list('app')) {
        const { realPath, ...identity } = record.identity!;
        expect(realPath).toBe(rig.path(layout.real));
        rig.streams.identify(record.id, identity);
      }
      await playSteps(rig, `${fill(steps, layout)}; start; drain; reads-any ${reads}; lost 0`).catch(
        (cause: unknown) => {
          throw new Error(change, { cause });
        },
      );
    }
  },
);

const BEHIND = { glob: 'links/*.log' };
const MADE = 'mkdir links; mkdir real; mkdir other; link ../real/app.log links/app.log; write real/app.log one; born';

scenarios(
  {
    'target that is gone counts as lost, once, whether or not the link is there': `
      ${MADE}; link ../real/b.log links/b.log; write real/b.log bee; start; drain; commit; append real/app.log two; append real/b.log bees; scan
      rm real/app.log; rm real/b.log; rm links/b.log; start once; run; lost 9; said 2 was not read to its end; start once; run; lost 0`,
    'target that is gone with nothing unread is no loss': `${MADE}; start; drain; commit; rm real/app.log; start once; run; lost 0; reads-nothing`,
    'target that cannot be looked at now is no loss when it can be again': `
      ${MADE}; start; drain; commit; append real/app.log two; fail open real/app.log EACCES; start; drain; mend; pass 5; reads two; lost 0`,
    'two links to one file are read once, also when both follow a rotation, and when one is pointed elsewhere': `
      ${MADE}; link ../real/app.log links/b.log; start; drain; reads one; mv real/app.log real/app.log.1; append real/app.log.1 two; write real/app.log three
      drain; reads-any one three two; commit; append real/app.log four; rm links/b.log; write other/b.log bee; link ../other/b.log links/b.log
      start; drain; reads-any bee four; files links/app.log links/b.log; lost 0`,
    'link that is pointed to a file that is known under another link: each is read on': `
      ${MADE}; write other/b.log bee; link ../other/b.log links/b.log; start; drain; commit; append real/app.log two; append other/b.log bees
      rm links/app.log; link ../other/b.log links/app.log; start; drain; by-file links/app.log two + links/b.log bees; lost 0
      append other/b.log more; append real/app.log late; pass 35; by-file links/app.log two late + links/b.log bees more`,
    'links that change places while the source is stopped: each file once': `
      ${MADE}; write other/b.log bee; link ../other/b.log links/b.log; start; drain; commit; append real/app.log two; append other/b.log bees
      rm links/app.log; rm links/b.log; link ../other/b.log links/app.log; link ../real/app.log links/b.log; start; drain; reads-any bees two; lost 0`,
    'link that is moved back: nothing twice': `
      ${MADE}; write other/app.log other; start; drain; commit; rm links/app.log; link ../other/app.log links/app.log; start; drain; reads other; commit
      rm links/app.log; link ../real/app.log links/app.log; append real/app.log two; append other/app.log late; start; drain; reads-any late two; lost 0`,
    'link that becomes a plain file, and a plain file that becomes a link': `
      ${MADE}; write links/b.log bee; start; drain; commit; append real/app.log two; rm links/app.log; write links/app.log plain
      append links/b.log bees; mv links/b.log real/b.log; link ../real/b.log links/b.log; start; drain; reads-any bees plain two; commit
      append real/b.log late; mv real/b.log real/b.log.1; write real/b.log fresh; start; drain; reads-any fresh late; lost 0`,
    'folder of a target is renamed with the target in it, and rotated': `
      ${MADE}; start; drain; commit; append real/app.log two; mv real moved; rm links/app.log; link ../moved/app.log links/app.log
      mv moved/app.log moved/app.log.1; write moved/app.log three; start; drain; reads-any three two; lost 0`,
    'target whose link was removed, and that was copied and truncated before a kill, is read on': `
      ${MADE}; start; drain; commit; rm links/app.log; drain; append real/app.log two; copytruncate real/app.log; drain; reads one two; commit
      append real/app.log three; start; drain; reads three; lost 0; commit; start; drain; reads-nothing`,
    'compressed file beside a target that is left out is named': `
      ${MADE}; start; drain; commit; append real/app.log two; scan; compress real/app.log; write real/app.log three; start once; run; reads three; lost 0
      said 1 compressed before it was read to its end`,
  },
  BEHIND,
);

scenarios(
  {
    'file under a link and under its own path is read once, over renames': `
      ${MADE}; start; drain; append real/app.log two; mv real/app.log real/app.log.1; write real/app.log three; drain; reads-any one three two
      commit; append real/app.log four; mv real/app.log.1 real/app.log.2; mv real/app.log real/app.log.1; write real/app.log five; start; drain
      reads-any five four; lost 0`,
    'file under a link and under its own path is read once, over copies': `
      ${MADE}; start; drain; append real/app.log two; copytruncate real/app.log; append real/app.log three; drain; pass 15; reads-any one three two
      commit; append real/app.log four; copytruncate real/app.log; append real/app.log five; start; drain; pass 15; reads-any five four; lost 0`,
    'copy of a file that is read under a link waits for the truncation': `
      ${MADE}; start; drain; append real/app.log two; cp real/app.log real/app.log.1; drain; cut real/app.log; append real/app.log three; drain; pass 15
      reads-any one three two; lost 0`,
  },
  { glob: '{links,real}/*.log*' },
);

test('explain tells of a log behind a link by all of its paths, with an agent and without one', async () => {
  const rig = new TailRig(BEHIND);
  await playSteps(
    rig,
    `${MADE}; start; drain; append real/app.log two; mv real/app.log real/app.log.1; write real/app.log three; drain; commit`,
  );
  const [link, real, old] = ['links/app.log', 'real/app.log', 'real/app.log.1'].map((name) => rig.path(name)) as [
    string,
    string,
    string,
  ];
  expect(rig.source.explain(link)).toMatchObject({
    isRead: true,
    linkTo: '../real/app.log',
    currentPath: link,
    related: [{ path: old }],
  });
  expect(rig.source.explain(real)).toMatchObject({ isRead: true, firstPath: link, currentPath: link });
  expect(rig.source.explain(old)).toMatchObject({
    isRead: true,
    state: 'rotated',
    lastChange: 'renamed',
    firstPath: link,
    currentPath: old,
  });
  // What a start would do.
  const { streams, clock, lane } = rig;
  const context = { streams, clock, lane, log: silentLog, hostname: 'h', reserve: plainRegion, once: false };
  const alone = createFileSource(fileSourceConfig(rig.path(BEHIND.glob)), context);
  expect(alone.explain(link)).toMatchObject({
    isRead: true,
    lastChange: 'continued',
    related: [{ path: old, state: 'known' }],
  });
  expect(alone.explain(real)).toMatchObject({
    isRead: true,
    firstPath: link,
    reason: expect.stringContaining('another name'),
  });
  expect(alone.explain(old)).toMatchObject({
    isRead: true,
    firstPath: link,
    reason: expect.stringContaining('read on'),
  });
  await playSteps(rig, 'rm links/app.log');
  expect(alone.explain(real)).toMatchObject({
    isRead: true,
    firstPath: link,
    reason: expect.stringContaining('read on'),
  });
});
