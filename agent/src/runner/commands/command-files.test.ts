import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { openAttempt } from '../../../testing/attempt.ts';
import { inputs } from '../../drivers/interface/command.ts';
import type { Driver } from '../../drivers/interface/driver.ts';
import { RunFailure } from '../../processes/failure.ts';
import { unpackFiles } from '../../slots/packed-files.ts';
import { findLines, readCapture, sealMade } from './command-files.ts';

test('a plan that is too large to be read fails with its size, and is not loaded', (t) => {
  const folder = temporaryFolder(t, 'capture-');
  const file = join(folder, 'plan.json');
  writeFileSync(file, '{}');
  assert.equal(Buffer.from(readCapture(file, 'terraform show')).toString(), '{}');
  truncateSync(file, 600_000_000);
  assert.throws(
    () => readCapture(file, 'terraform show'),
    (error) =>
      error instanceof RunFailure && /terraform show printed 600 MB, and at most 536 MB/.test(error.message),
  );
});

test('lines are found from an offset on, between lines that are longer than any of them', async (t) => {
  const folder = temporaryFolder(t, 'lines-');
  const log = join(folder, 'log');
  const before = 'found before\n';
  writeFileSync(log, `${before}found one\n${'found '.repeat(1_000_000)}\nother\nfound two`);
  const captures = new Map<string, Uint8Array>();
  const finds = { pattern: /^found .+/, as: 'lines' };
  const command = { step: 's', program: 'p', label: 'p', args: [], finds };
  await findLines(command, log, before.length, captures);
  assert.equal(String(captures.get('lines')), 'found one\nfound two');
});

/** @returns the files of a plan that was saved as a folder, and how often it was checked whether the run must stop */
async function sealFolder(
  t: TestContext,
  travelBytes: number,
  type: Job['type'] = 'deploy',
  endless?: string,
) {
  const limits = { runSeconds: 600, abortSeconds: 10, offlineGraceSeconds: 60, stepLogBytes: 1_000_000 };
  const savedPlan = { isFolder: true } as unknown as Driver['savedPlan'];
  const attempt = openAttempt(t, { savedPlan }, { type, limits: { ...limits, travelBytes } });
  const { tree, folders } = attempt;
  for (const name of ['a', 'b/c', 'b/d']) await tree.write(folders.plan, `plans/${name}`, 'x'.repeat(1000));
  if (endless !== undefined) truncateSync(join(folders.plan, 'plans', endless), 2 ** 40);
  const stops = t.mock.method(attempt.stop, 'throwIfStopped').mock;
  const captures = new Map<string, Uint8Array>();
  await sealMade(attempt, join(folders.plan, 'plans'), captures);
  const saved = unpackFiles(captures.get(inputs.saved) ?? assert.fail('nothing was captured'));
  return { names: [...saved.keys()].sort(), stops: stops.callCount() };
}

test('a folder of plans has a limit in total, whatever its files have', async (t) => {
  assert.deepEqual(await sealFolder(t, 3000), { names: ['a', 'b/c', 'b/d'], stops: 3 });
  assert.equal((await sealFolder(t, 2999, 'driftDetection')).names.length, 3, 'it does not travel');
  await assert.rejects(
    sealFolder(t, 2999),
    /^RunFailure: the plan has more than 1 MB, .* raise ENVARIUM_TRAVEL_LIMIT_MB$/,
  );
  await assert.rejects(sealFolder(t, 1_000_000, 'deploy', 'a'), /^RunFailure: the plan has more than 1 MB/);
});
