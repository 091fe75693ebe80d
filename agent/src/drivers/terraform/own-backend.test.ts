import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { drivers } from '../index.ts';

const block = (inner: string) => ({ 'main.tf': `terraform {\n  ${inner}\n}\n` });
const own = (inner: string, changes: Partial<Job> = {}, driver = drivers.terraform) =>
  driver.state?.file?.elsewhere({
    job: jobOf(changes),
    tree: treeFrom(block(inner)),
    configurationFolder: '/srv/tree',
    planFile: '/srv/plan',
    temporaryFolder: '/srv/tmp',
    stateFolder: null,
  });
const listing = (...names: string[]) =>
  new Map([
    [
      'own-workspaces',
      Buffer.from(names.map((name, index) => `${index === 0 ? '*' : ' '} ${name}\n`).join('')),
    ],
  ]);

for (const [type, driver] of Object.entries({ terraform: drivers.terraform, opentofu: drivers.opentofu })) {
  describe(`the state that the code keeps elsewhere, for ${type}`, () => {
    it('code without a backend or with a local one has no own backend', async () => {
      for (const inner of ['required_version = ">= 1.0"', 'backend "local" {}'])
        assert.equal(await own(inner, {}, driver), null);
    });

    it("is read in the environment's workspace, which is neither selected nor made", async () => {
      const kept = await own('backend "s3" {}', {}, driver);
      assert.deepEqual(
        kept?.reach.map(({ args }) => args.slice(0, 2)),
        [
          ['init', '-input=false'],
          ['workspace', 'list'],
        ],
      );
      const reading = kept.read(listing('default', 'network-abc123'));
      assert.ok('args' in reading);
      assert.deepEqual(
        [reading.args, reading.environment],
        [['state', 'pull'], { TF_WORKSPACE: 'network-abc123' }],
      );
    });

    it('a missing workspace is reported with the existing ones', async () => {
      const kept = await own('backend "s3" {}', {}, driver);
      const reading = kept?.read(listing('default', 'prod'));
      assert.ok(reading && 'nothing' in reading);
      assert.match(
        reading.nothing,
        /no workspace network-abc123, .* It has default, prod: if one of them is meant, import its state/,
      );
    });

    it('is read as it is where the backend knows one state only, or the workspace is skipped', async () => {
      for (const inner of ['backend "http" {}', 'cloud {\n workspaces {\n name = "x"\n }\n }']) {
        const kept = await own(inner, {}, driver);
        assert.equal(kept?.reach.length, 1);
        const reading = kept.read(new Map());
        assert.ok('args' in reading && reading.environment === undefined);
      }
      const skips = { systemVariables: { ENVARIUM_SKIP_WORKSPACE: 'true' } };
      const reading = (await own('backend "s3" {}', skips, driver))?.read(listing('default'));
      assert.ok(reading && 'args' in reading);
      assert.deepEqual(reading.environment, { TF_WORKSPACE: 'default' });
    });
  });
}
