import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type RunnerSetup, withTerraform } from '../../../testing/runner-setup.ts';

/** A remote plan of a folder. */
function remotePlan(setup: RunnerSetup, files: Record<string, string>, path?: string) {
  const folder = join(setup.folder, 'upload');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const archive = execFileSync('tar', ['-czf', '-', '-C', folder, '.']);
  const job = setup.job();
  const changes: Partial<Job> = {
    type: 'remotePlan',
    source: {
      ...job.source,
      ...(path === undefined ? {} : { path }),
      archive: { sha256: sha256(archive), bytes: archive.length },
    },
  };
  return setup.run({ ...job, ...changes }, { prepare: (spool) => writeFileSync(spool.inputSource, archive) });
}

test(
  'uploaded code is planned with the variables and the state of its environment, and nothing is stored',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, {
      'main.tf': 'resource "terraform_data" "a" { input = "of the repository" }\n',
    });
    const ran = await remotePlan(
      setup,
      {
        'envs/one/main.tf': 'module "it" { source = "../../modules/it" }\n',
        'modules/it/main.tf': 'resource "terraform_data" "uploaded" {}\n',
      },
      'envs/one',
    );
    assert.equal(ran.outcome.result, 'planned', JSON.stringify(ran.outcome));
    assert.deepEqual(
      ran.outcome.plan?.resourceChanges.map(({ path }) => path),
      ['module.it.terraform_data.uploaded'],
    );
    assert.deepEqual(
      [ran.outcome.approvedParts, ran.outcome.commit, ran.steps()['source:unpack']],
      [undefined, undefined, 'SUCCESS'],
    );
    assert.match(ran.log('source:unpack'), /Unpacking the uploaded code: \d+ entries/);
  },
);

test(
  'links in uploaded code are as in a clone of it: followed inside, and no obstacle if they lead out',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': '' });
    const folder = join(setup.folder, 'upload', 'stacks', 'app');
    mkdirSync(folder, { recursive: true });
    for (const [name, target] of [
      ['common.tf', '../../common.tf'],
      ['absolute', '/etc/hostname'],
      ['dangling', 'nowhere'],
      ['out', '../../../../x'],
    ] as const)
      symlinkSync(target, join(folder, name));
    const ran = await remotePlan(
      setup,
      { 'common.tf': 'resource "terraform_data" "common" {}\n' },
      'stacks/app',
    );
    assert.deepEqual(
      ran.outcome.plan?.resourceChanges.map(({ path }) => path),
      ['terraform_data.common'],
      JSON.stringify(ran.outcome),
    );
  },
);

test(
  'uploaded code without the named folder or in another format fails with a clear message',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': '' });
    const ran = await remotePlan(setup, { 'main.tf': '' }, 'elsewhere');
    assert.deepEqual([ran.outcome.result, ran.steps()['source:unpack']], ['failed', 'FAIL']);
    assert.match(failureMessageOf(ran), /path "elsewhere" is not a folder of the uploaded archive/);
    assert.ok(readFileSync(ran.spool.inputSource).length > 0);
  },
);
