import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { StopWatch } from '../../processes/stop-watch.ts';
import { spoolPaths } from '../../spool/layout.ts';
import { readMark } from '../../spool/read-attempt.ts';
import { storeMark } from './store-mark.ts';

test('a runner that cannot watch its folder still notices that its mark is stored', {
  timeout: 10_000,
}, async (t) => {
  const folder = temporaryFolder(t, 'mark-');
  // A folder that cannot be watched, for whatever reason.
  const spool = { ...spoolPaths(folder), folder: join(folder, 'none') };
  const limits = {
    runSeconds: 60,
    abortSeconds: 5,
    offlineGraceSeconds: 60,
    stepLogBytes: 1e6,
    travelBytes: 1e6,
  };
  using stop = new StopWatch(spool, limits);
  const storing = storeMark({ spool, stop });
  storing.catch(() => undefined);
  for (let mark; mark === undefined; await new Promise(setImmediate)) {
    mark = readMark(spool)?.mark;
    if (mark !== undefined) writeFileSync(spool.markStored, mark);
  }
  await storing;
  assert.ok(readMark(spool));
});
