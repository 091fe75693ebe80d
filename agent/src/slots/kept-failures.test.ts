import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { spoolPaths } from '../spool/layout.ts';
import { logKeptFailures, removeOldFailures, setAsideSpool } from './kept-failures.ts';
import { keepWorkFolder, workFolderPaths } from './work-folder.ts';

const day = 86_400;

test('the newest folders of failed runs are kept, listed, and removed after a while', async (t) => {
  const folder = temporaryFolder(t, 'kept-failures-');
  const [workFolder, spoolFolder] = [join(folder, 'work'), join(folder, 'spool')];
  const lines: object[] = [];
  const note = (data: object) => void lines.push(data);
  const options = {
    workFolder,
    spoolFolder,
    limit: 2,
    days: 30,
    log: { info: note, warn: note, error: note },
  };
  mkdirSync(workFolder, { recursive: true });
  const kept = [40, 3, 2, 1].map((daysAgo, index) => {
    const spool = spoolPaths(join(spoolFolder, 'attempts', `job-${index}-1`));
    mkdirSync(spool.folder, { recursive: true });
    writeFileSync(spool.outcome, '{}');
    const paths = workFolderPaths(workFolder, {
      type: 'deploy',
      environmentId: `environment-${index}`,
      deploymentId: 'd',
    });
    mkdirSync(paths.tree, { recursive: true });
    keepWorkFolder(paths, { jobId: `job-${index}`, attempt: 1 });
    const both = [`${paths.root}.kept-job-${index}-1`, setAsideSpool(spool)];
    assert.ok(both.every((path) => existsSync(path)));
    const at = Date.now() / 1000 - daysAgo * day;
    for (const path of both) utimesSync(path, at, at);
    return both;
  });
  mkdirSync(join(workFolder, 'environment-in-use', 'tree'), { recursive: true });

  await removeOldFailures(options);
  const isThere = kept.map((both) => both.map((path) => existsSync(path)));
  assert.deepEqual(isThere, [
    [false, false],
    [false, false],
    [true, true],
    [true, true],
  ]);
  await removeOldFailures({ ...options, limit: 10, days: 1.5 });
  assert.deepEqual(
    kept.flat().filter((path) => existsSync(path)),
    kept[3],
  );
  lines.length = 0;
  logKeptFailures(options);
  assert.deepEqual(lines, [{ folders: kept[3], states: [] }]);
  assert.deepEqual(readdirSync(workFolder).sort(), ['environment-3.kept-job-3-1', 'environment-in-use']);
});
