/** Files that terragrunt reads and our parser does not, with the real tool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectResult } from '../../../testing/outcomes.ts';
import {
  createTerragrunt,
  moduleCode,
  unitCode,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';
import { terraformFiles } from '../terraform/code/files.ts';
import { unitsWithBackend } from './backends.ts';

/** Nested more deeply than our parser allows. */
const deep = `locals {\n  deep = ${'['.repeat(120)}${']'.repeat(120)}\n}\n`;
const includes = `include {
  path = find_in_parent_folders("root.hcl")
}
include "common" {
  path = "../common.hcl"
}
`;

test('terragrunt, and not our parser, is the judge of its files', withTerragrunt(), async (t) => {
  const setup = createTerragrunt(t, 'opentofu', {
    'modules/one/main.tf': moduleCode,
    'root.hcl': '',
    'live/common.hcl': 'inputs = {\n  input = "common"\n}\n',
    'live/both/terragrunt.hcl': `${includes}terraform {\n  source = "../../modules//one"\n}\n`,
    'live/deep/terragrunt.hcl': `${deep}${unitCode('on ${dependency.it.outputs.input}', 'both')}`,
  });
  const planned = await expectResult('planned', setup.plan());
  const inputs = planned.outcome.plan?.resourceChanges.map(({ path, actionReason = '' }) => [
    path,
    actionReason,
  ]);
  assert.deepEqual(inputs, [
    ['both/terraform_data.it', ''],
    ['deep/terraform_data.it', 'not applied with this plan: it was planned with mock outputs of both'],
  ]);
  const applied = await setup.apply(planned);
  assert.equal(applied.outcome.outputs?.['both.input']?.value, 'common');
  setup.commit({ 'live/common.hcl': 'inputs = {\n  input = "other"\n}\n' });
  await expectResult('applied', setup.deploy());
});

test('the text of a file that does not parse says whether there is a backend', async () => {
  const state = (backend: string) => `remote_state {\n  backend = "${backend}"\n  config  = {}\n}\n`;
  const tf = (block: string) => `terraform {\n  ${block}\n}\nlocals {\n  broken\n}\n`;
  const files: Record<string, string> = {
    'a/terragrunt.hcl': `${deep}${state('s3')}`,
    'b/terragrunt.hcl': `${deep}${state('local')}`,
    'c/terragrunt.hcl': includes,
    'common.hcl': state('gcs'),
    'd/terragrunt.hcl': '',
    'd/main.tf': tf('backend "s3" {}'),
    'e/terragrunt.hcl': '',
    'e/main.tf': tf('backend "local" {}'),
    'f/terragrunt.hcl.json': JSON.stringify({ remote_state: { backend: 's3', config: {} } }),
  };
  const names = Object.keys(files);
  const tree = {
    list: async (folder: string) =>
      names.flatMap((name) => (name.startsWith(`${folder}/`) ? [name.slice(folder.length + 1)] : [])),
    text: async (name: string) => files[name] ?? null,
  };
  const job = { source: { repository: '/r', httpHosts: [], localPaths: [] } };
  const context = { job, tree } as unknown as Parameters<typeof unitsWithBackend>[0];
  const units = ['a', 'b', 'c', 'd', 'e', 'f'].map((path) => ({
    path,
    dependencies: [],
    reading: path === 'c' ? ['common.hcl'] : [],
  }));
  assert.deepEqual(await unitsWithBackend(context, units, terraformFiles), ['a', 'c', 'd', 'f']);
});
