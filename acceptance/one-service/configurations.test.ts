/**
 * Configurations of many kinds, each with what it needs to come through plan, waiting, and apply unharmed.
 */
import assert from 'node:assert/strict';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { withoutTerraform } from '../programs.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  deployAndEnd,
  deployNew,
  untilEnd,
  untilStatus,
  wholeLog,
} from '../runs.ts';
import { type Files, makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const { client, folder, home } = await joinOneService();

describe('a configuration', { concurrency: 3, skip: withoutTerraform }, () => {
  const make = async (name: string, files: Files) => (await makeRepository(folder, name, files)).path;

  test('the apply finds the tree as the plan left it: modes, links, unusual names and the same path', async () => {
    const unusual = 'ä file with "quotes" \'and\' $signs';
    const repository = await makeRepository(folder, 'tree', {
      'sub/main.tf': `resource "terraform_data" "it" {
  input = abspath(path.module)
  provisioner "local-exec" {
    command = "'./run me.sh'"
    working_dir = path.module
  }
}
output "path" { value = terraform_data.it.output }
`,
      'sub/run me.sh': `#!/bin/sh\nset -e\ntest -L linked; test "$(cat linked)" = content; cat '${unusual.replaceAll("'", `'\\''`)}'; test -x "$0"; test ! -x linked; test -f ../big; echo all there\n`,
      [`sub/${unusual}`]: 'unusual content\n',
      'sub/target': 'content',
      big: 'x'.repeat(3_000_000),
    });
    await chmod(join(repository.path, 'sub/run me.sh'), 0o755);
    await symlink('target', join(repository.path, 'sub/linked'));
    await repository.commit({});
    const { deploymentId } = await createEnvironment(client, home, {
      repository: repository.path,
      path: 'sub',
      requiresApproval: true,
    });
    const done = await approveAndEnd(client, deploymentId);
    assert.match(await wholeLog(client, deploymentId), /all there/);
    assert.match(String(done.output?.path?.value), /\/sub$/);
  });

  test('ephemeral and sensitive variables reach the plan and the apply', async () => {
    const { deploymentId } = await createEnvironment(client, home, {
      repository: await make('ephemeral', {
        'main.tf': `variable "passing" {
  type      = string
  ephemeral = true
}
variable "kept" {
  type      = string
  sensitive = true
}
resource "terraform_data" "it" {
  input = sha256(var.kept)
  provisioner "local-exec" {
    command     = "[ \\"$PASSING\\" = ephemeral-value-1 ] && echo it arrived"
    environment = { PASSING = var.passing }
  }
}
`,
      }),
      requiresApproval: true,
      configurationChanges: [
        { name: 'passing', value: 'ephemeral-value-1', type: 1, isSensitive: true },
        { name: 'kept', value: 'kept-value-2', type: 1, isSensitive: true },
      ],
    });
    const done = await approveAndEnd(client, deploymentId);
    assert.equal(done.resourceCount, 1);
  });

  test('replaced, moved, imported and forgotten resources are reported', async () => {
    covers('Deployment', 'plan', 'planSummary');
    covers('ResourceChange', 'actionReason', 'previousAddress', 'importing', 'importing.id');
    covers('PlanSummary', 'imported', 'replaced', 'forgotten', 'moved');
    covers('ResourceChange', 'kind');
    covers('Deployment', 'isPlanEmpty');
    const source = await makeRepository(folder, 'moving', {
      'main.tf':
        'resource "terraform_data" "old" { triggers_replace = ["one"] }\nresource "terraform_data" "replaced" { triggers_replace = ["one"] }\nresource "terraform_data" "gone" {}\n',
    });
    const { id } = await deployNew(client, home, { repository: source.path });
    await source.commit({
      'main.tf': `resource "terraform_data" "new" { triggers_replace = ["one"] }
resource "terraform_data" "replaced" { triggers_replace = ["two"] }
resource "terraform_data" "imported" {}
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
import {
  to = terraform_data.imported
  id = "known-elsewhere"
}
removed {
  from = terraform_data.gone
  lifecycle { destroy = false }
}
`,
    });
    const run = await deployAndEnd(client, id);
    assert.deepEqual(run.planSummary, {
      added: 1,
      changed: 0,
      destroyed: 1,
      imported: 1,
      replaced: 1,
      forgotten: 1,
      moved: 1,
    });
    const change = (path: string) => run.plan?.resourceChanges.find((each) => each.path === path);
    assert.equal(change('terraform_data.replaced')?.action, 'recreate');
    assert.deepEqual(
      ['replaced', 'new', 'imported', 'gone'].map((name) => change(`terraform_data.${name}`)?.kind),
      ['replace', 'move', 'import', 'forget'],
    );
    assert.equal(run.isPlanEmpty, false);
    assert.equal(change('terraform_data.replaced')?.actionReason, 'replace_because_cannot_update');
    assert.equal(change('terraform_data.new')?.previousAddress, 'terraform_data.old');
    assert.deepEqual(change('terraform_data.imported')?.importing, { id: 'known-elsewhere' });
    assert.equal(run.resourceCount, 3);
  });

  test('outputs of every type are returned, with sensitive parts hidden', async () => {
    covers('Deployment', 'output');
    const { deployment, id } = await deployNew(client, home, {
      repository: await make('outputs', {
        'main.tf': `output "number" { value = 12345678901234567890 }
output "text" { value = "a\\nb" }
output "list" { value = [1, "two", null] }
output "object" { value = { a = true, b = { c = [] } } }
output "nothing" { value = null }
output "hidden" {
  value     = { password = "hidden-in-an-object" }
  sensitive = true
}
`,
      }),
    });
    const value = (name: string) => deployment.output?.[name]?.value;
    assert.equal(value('text'), 'a\nb');
    assert.deepEqual(value('list'), [1, 'two', null]);
    assert.deepEqual(value('object'), { a: true, b: { c: [] } });
    assert.deepEqual(deployment.output?.list?.type, ['tuple', ['number', 'string', 'dynamic']]);
    assert.ok(!JSON.stringify(deployment).includes('hidden-in-an-object'));
    assert.equal(deployment.resourceCount, 0);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });

  test('an empty configuration deploys, and a missing one fails with that reason', async () => {
    const empty = await deployNew(client, home, {
      repository: await make('empty', { 'main.tf': '# nothing yet\n' }),
    });
    assert.equal(empty.deployment.resourceCount, 0);
    const again = await deployAndEnd(client, empty.id);
    assert.deepEqual(again.planSummary, { added: 0, changed: 0, destroyed: 0 });
    const none = await createEnvironment(client, home, {
      repository: await make('none', { 'README.md': 'no code\n' }),
    });
    const failed = await untilEnd(client, none.deploymentId, 'FAILURE');
    assert.match(failed.error?.message ?? '', /No configuration files: the root of .* has no \.tf file/);
    const emptied = await makeRepository(folder, 'emptied', {
      'main.tf': 'resource "terraform_data" "it" {}\n',
    });
    const { id } = await deployNew(client, home, { repository: emptied.path });
    await emptied.git('mv', 'main.tf', 'main.txt');
    await emptied.commit({});
    await untilEnd(client, (await deploy(client, id)).id, 'FAILURE');
    const destroyed = await client.call('destroyEnvironment', {
      params: { id },
      query: { checkoutUpdatedCode: true },
    });
    assert.equal((await untilEnd(client, destroyed.id)).resourceCount, 0);
  });

  test('a condition that fails only at apply fails the apply, and a provider that cannot be obtained fails init', async () => {
    const late = await createEnvironment(client, home, {
      repository: await make('late', {
        'main.tf':
          'resource "terraform_data" "it" { input = "x" }\nresource "terraform_data" "judge" {\n  input = terraform_data.it.id\n  lifecycle {\n    postcondition {\n      condition     = self.output == "never"\n      error_message = "The judge says no."\n    }\n  }\n}\n',
      }),
    });
    const judged = await untilEnd(client, late.deploymentId, 'FAILURE');
    assert.equal(judged.failedCommand, 'terraform apply');
    assert.match(judged.error?.message ?? '', /The judge says no\./);
    assert.ok(judged.stateVersionId);
    const missing = await createEnvironment(client, home, {
      repository: await make('missing', {
        'main.tf':
          'terraform {\n  required_providers {\n    nowhere = { source = "127.0.0.1:1/nobody/nowhere" }\n  }\n}\nresource "nowhere_thing" "it" {}\n',
      }),
    });
    const failed = await untilEnd(client, missing.deploymentId, 'FAILURE');
    assert.equal(failed.failedCommand, 'terraform init');
    assert.match(failed.error?.message ?? '', /nobody\/nowhere/);
  });

  test('the state stays in the backend of the code, except with a local backend', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.isRemoteBackend');
    const kept = join(folder, 'kept-elsewhere');
    await mkdir(kept);
    await chmod(kept, 0o777);
    const code = (name: string) => ({
      'main.tf': `terraform {\n  backend "http" {\n    address = "http://127.0.0.1:1/${name}"\n  }\n}\nresource "terraform_data" "it" { input = "${name}" }\n`,
    });
    const repository = await make('backend', code('backend'));
    const own = await createEnvironment(client, home, { repository });
    const failed = await untilEnd(client, own.deploymentId, 'FAILURE');
    assert.match(failed.error?.message ?? '', /127\.0\.0\.1:1|state/i);
    const wanted = await createEnvironment(client, home, { repository, isRemoteBackend: true });
    const unmoved = await untilEnd(client, wanted.deploymentId, 'FAILURE');
    assert.match(
      unmoved.error?.message ?? '',
      /could not be read from the backend .* nothing was changed/,
      'nothing is left behind there unnoticed',
    );
    assert.deepEqual(await client.call('listStateVersions', { params: { id: wanted.id } }), []);
    const local = await deployNew(client, home, {
      repository: await make('local-backend', {
        'main.tf': `terraform {\n  backend "local" { path = "${kept}/terraform.tfstate" }\n}\nresource "terraform_data" "it" {}\n`,
      }),
    });
    assert.ok(local.deployment.stateVersionId, 'a local backend is taken over');
  });

  test('a destroy uses the deployed code, or newer code on request', async () => {
    const source = await makeRepository(folder, 'destroyed', {
      'main.tf': 'resource "terraform_data" "it" {}\n',
    });
    const { id, deployment } = await deployNew(client, home, { repository: source.path });
    const newer = await source.commit({ 'main.tf': 'this is not code any more\n' });
    const broken = await client.call('destroyEnvironment', {
      params: { id },
      query: { checkoutUpdatedCode: true },
    });
    assert.equal((await untilEnd(client, broken.id, 'FAILURE')).gitMetadata?.commit, newer);
    const destroyed = await untilEnd(
      client,
      (await client.call('destroyEnvironment', { params: { id }, body: { comment: 'no longer needed' } })).id,
    );
    assert.equal(destroyed.gitMetadata?.commit, deployment.gitMetadata?.commit);
    assert.equal(destroyed.comment, 'no longer needed');
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'INACTIVE');
  });

  test('a run gets its own variables and the facts of its request', async () => {
    covers(
      'deployEnvironment',
      'body.customServiceEnvironmentVariables',
      'body.gitUserData',
      'body.triggerName',
      'body.envName',
      'body.ttl',
    );
    covers('Environment', 'name', 'lifespanEndAt', 'workspaceName');
    covers('CustomServiceEnvironmentVariables', 'prAuthor', 'oidcToken');
    const { id, deploymentId, environment } = await createEnvironment(client, home, {
      name: 'named',
      preventAutoDeploy: true,
      repository: await make('variables', {
        'main.tf':
          'resource "terraform_data" "it" {\n  provisioner "local-exec" { command = "env | grep ^ENVARIUM_ | sort; echo workspace ${terraform.workspace}" }\n}\n',
      }),
    });
    assert.ok(deploymentId);
    const run = await deploy(client, id, {
      envName: 'renamed',
      ttl: { type: 'HOURS', value: '5' },
      triggerName: 'terraform-cli',
      gitUserData: { gitUser: 'somebody', prNumber: '17' },
      customServiceEnvironmentVariables: { prAuthor: 'somebody else', oidcToken: 'given' },
    });
    const done = await untilEnd(client, run.id);
    const log = await wholeLog(client, run.id);
    for (const line of [
      `ENVARIUM_ENVIRONMENT_ID=${id}`,
      'ENVARIUM_ENVIRONMENT_NAME=renamed',
      `ENVARIUM_DEPLOYMENT_LOG_ID=${run.id}`,
      'ENVARIUM_DEPLOYMENT_TYPE=deploy',
      `ENVARIUM_PROJECT_ID=${home.projectId}`,
      `ENVARIUM_ORGANIZATION_ID=${home.organizationId}`,
      `ENVARIUM_WORKSPACE_NAME=${environment.workspaceName}`,
      `ENVARIUM_COMMIT_HASH=${done.gitMetadata?.commit}`,
      'ENVARIUM_PR_AUTHOR=somebody else',
      `workspace ${environment.workspaceName}`,
    ])
      assert.ok(log.includes(line), line);
    assert.deepEqual([done.gitUser, done.prNumber, done.triggerName], ['somebody', '17', 'terraform-cli']);
    assert.partialDeepStrictEqual(done.customServiceEnvironmentVariables, {
      prAuthor: 'somebody else',
      oidcToken: '********',
    });
    const now = await client.call('getEnvironment', { params: { id } });
    assert.equal(now.name, 'renamed');
    const hours = (Date.parse(now.lifespanEndAt ?? '') - Date.now()) / 3_600_000;
    assert.ok(hours > 4.9 && hours <= 5, String(hours));
  });

  test('queued deployments can be cancelled one by one or all at once, and the others continue', async () => {
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: await make('line', { 'main.tf': 'resource "terraform_data" "it" {}\n' }),
      requiresApproval: true,
    });
    await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    const behind = [];
    for (let index = 0; index < 3; index++) behind.push(await deploy(client, id));
    assert.deepEqual(
      behind.map(({ status }) => status),
      ['QUEUED', 'QUEUED', 'QUEUED'],
    );
    await client.call('cancelDeployment', { params: { id: behind[0]?.id ?? '' } });
    await client.call('approveDeployment', { params: { id: deploymentId } });
    await untilEnd(client, deploymentId);
    assert.equal(
      (await untilStatus(client, behind[1]?.id ?? '', 'WAITING_FOR_USER')).status,
      'WAITING_FOR_USER',
    );
    const { ids } = await client.call('cancelQueuedDeployments', { params: { id } });
    assert.deepEqual(ids, [behind[2]?.id]);
    await client.call('cancelDeployment', { params: { id: behind[1]?.id ?? '' } });
    for (const { id: each } of behind) await untilEnd(client, each, 'CANCELLED');
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });
});
