import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';
import { emptyWorkspaceProblem, possiblyMeant } from './code-backend.ts';

const backend = { backend: 's3', variable: 'ALLOW' };
const own = 'envarium12ab34';

test('workspaces of other environments cannot be the one that was meant, and default is checked first', () => {
  const names = ['abc', 'default', own, 'envariumabcdef', 'envarium-eu', 'production'];
  assert.deepEqual(possiblyMeant(names, own), ['default', 'abc', 'envarium-eu', 'production']);
});

test('a first plan continues if all other workspaces are empty', () => {
  assert.equal(emptyWorkspaceProblem(backend, own, []), null);
  assert.equal(emptyWorkspaceProblem(backend, own, [{ name: 'default', resourceCount: 0 }]), null);
});

test('a first plan stops and lists the workspaces with resources, and those that could not be read', () => {
  const problem = emptyWorkspaceProblem(backend, own, [
    { name: 'default', resourceCount: 1 },
    { name: 'empty', resourceCount: 0 },
    { name: 'production', resourceCount: 12 },
    { name: 'sealed', resourceCount: null },
  ]);
  assert.match(
    problem ?? '',
    /^The workspace envarium12ab34 is empty, but other workspaces of the backend s3 are not: default \(1 resource\), production \(12 resources\), sealed \(could not be read\)\. /,
  );
  assert.match(
    problem ?? '',
    /cannot be changed: .* delete this environment \(envarium environment delete\) and create it again with that name \(workspaceName, or --workspace\)/,
  );
  assert.match(problem ?? '', /set the variable ALLOW to true/);
});

test('a first plan runs no additional command if the service stores the state', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': 'resource "terraform_data" "it" {}\n' });
  const ran = await expectResult(
    'planned',
    setup.run(setup.job({ workspaceName: own, isWorkspaceNew: true })),
  );
  const labels = ran.events.flatMap((event) => (event.kind === 'process' ? [event.label] : []));
  assert.deepEqual(
    labels.filter((label) => label.startsWith('terraform ')),
    ['terraform version', 'terraform init', 'terraform plan', 'terraform show'],
  );
});
