import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { drivers } from '../index.ts';

const s3 = 'backend "s3" {}';
const firstPlan: Partial<Job> = { workspaceName: 'envarium12ab34', isWorkspaceNew: true };

for (const [type, driver] of Object.entries({ terraform: drivers.terraform, opentofu: drivers.opentofu })) {
  const others = (inner: string, changes: Partial<Job>, stateFolder: string | null = null) =>
    driver.state!.file!.otherWorkspaces({
      job: jobOf(changes),
      tree: treeFrom({ 'main.tf': `terraform {\n  ${inner}\n}\n` }),
      configurationFolder: '/srv/tree',
      planFile: '/srv/plan',
      temporaryFolder: '/srv/tmp',
      stateFolder,
    });

  describe(`the other workspaces of the code's backend, for ${type}`, () => {
    it('are checked before a first plan of every type that shows what would be created', async () => {
      for (const planned of ['deploy', 'prPlan', 'remotePlan', 'dryRun'] as const) {
        const found = await others(s3, { ...firstPlan, type: planned });
        assert.deepEqual([found?.backend, found?.list.args], ['s3', ['workspace', 'list']]);
        assert.deepEqual(found?.names(Buffer.from('* default\n  production\n')), ['default', 'production']);
        const pull = found?.pull('production');
        assert.deepEqual(pull?.args, ['state', 'pull']);
        assert.deepEqual(pull?.environment, { TF_WORKSPACE: 'production' });
      }
    });

    it('are not checked in other runs', async () => {
      for (const other of ['destroy', 'driftDetection', 'task'] as const)
        assert.equal(await others(s3, { ...firstPlan, type: other }), null);
      assert.equal(await others(s3, { ...firstPlan, phase: 'apply' }), null);
    });

    it('are not checked if the name was specified or something was applied', async () => {
      assert.equal(await others(s3, { workspaceName: 'production' }), null);
      assert.equal(await others(s3, { ...firstPlan, isWorkspaceNew: false }), null);
    });

    it('are not checked if the service stores the state, or the backend has no workspaces', async () => {
      assert.equal(await others(s3, firstPlan, '/srv/state'), null);
      for (const inner of ['required_version = ">= 1.0"', 'backend "local" {}', 'backend "http" {}'])
        assert.equal(await others(inner, firstPlan), null);
    });

    it('are not checked if the run is allowed to start empty, or selects no workspace', async () => {
      for (const name of ['ENVARIUM_ALLOW_EMPTY_WORKSPACE', 'ENVARIUM_SKIP_WORKSPACE'])
        assert.equal(await others(s3, { ...firstPlan, systemVariables: { [name]: 'true' } }), null);
    });
  });
}
