/** The life of environments, from create to destroy, on the real tool. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { covers } from '#contract/documents/coverage.ts';
import { toolOf } from './family-tools.ts';
import { type GitServer, makeBare, startGitServer } from './git-server.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  deployAndEnd,
  deployNew,
  destroy,
  destroyAndEnd,
  type Home,
  homeOf,
  openGate,
  stepLines,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from './runs.ts';
import { makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const network = `variable "range" { type = string }

resource "terraform_data" "subnet" {
  input = var.range
}

output "subnet" { value = terraform_data.subnet.output }
`;

/** @param more additional code */
const configuration = (more = '') => `variable "greeting" {
  type    = string
  default = "hello"
}

variable "password" {
  type      = string
  sensitive = true
  default   = "unset"
}

module "network" {
  source = "./modules/network"
  range  = "10.0.0.0/16"
}

resource "terraform_data" "first" {
  input = var.greeting
}

resource "terraform_data" "second" {
  input = "\${var.greeting} again"
}

${more}
output "message" { value = terraform_data.first.output }
output "range" { value = module.network.subnet }
output "password" {
  value     = var.password
  sensitive = true
}
`;

/** One output, which shows the branch or the folder. */
const named = (name: string) => ({
  'main.tf': `resource "terraform_data" "it" { input = "${name}" }\noutput "name" { value = terraform_data.it.output }\n`,
});

const greeting = (value: string) => [{ name: 'greeting', value, type: 1 as const }];

const { type, steps: prefix, path, skip } = await toolOf('lifecycle');

describe(`the lifecycle of an environment of ${type}`, { concurrency: 2, skip }, () => {
  let folder: string;
  let bare: string;
  let server: GitServer;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let repository: string;

  before(async () => {
    folder = await scratchFolder();
    bare = join(folder, 'bare');
    await mkdir(bare);
    server = await startGitServer({ root: bare, user: 'reader', password: 'password-of-the-reader' });
    const settings = {
      PATH: path,
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_AGENT_CONCURRENCY: '4',
      ENVARIUM_GIT_HTTP_HOSTS: server.host,
    };
    service = await startService({ folder, settings, isLaunched: true });
    client = service.client;
    home = { ...(await homeOf(client)), type };
    repository = (
      await makeRepository(service.folder, 'whole', {
        'main.tf': configuration(),
        'modules/network/main.tf': network,
      })
    ).path;
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  /** The same code with a module of another repository, both served to clients that know the password. */
  const makeServed = async () => {
    const module = await makeRepository(service.folder, 'module', { 'main.tf': network });
    await module.git('tag', 'v1.2.0');
    const moduleName = `${basename(module.path)}.git`;
    await makeBare(module.path, join(bare, moduleName));
    const tagged = `module "tagged" {\n  source = "git::http://${server.host}/${moduleName}?ref=v1.2.0"\n  range  = "10.1.0.0/16"\n}\n`;
    const whole = await makeRepository(service.folder, 'with-modules', {
      'main.tf': configuration(tagged),
      'modules/network/main.tf': network,
    });
    const wholeName = `${basename(whole.path)}.git`;
    await makeBare(whole.path, join(bare, wholeName));
    return `http://reader:password-of-the-reader@${server.host}/${wholeName}`;
  };
  const output = async (id: string, name = 'name') =>
    (await client.call('getDeployment', { params: { id } })).output?.[name]?.value;

  test('an environment is planned, waits for approval, is applied exactly as approved, and reports all of it', async () => {
    covers(
      'createEnvironmentWithoutTemplate',
      'body.name',
      'body.repository',
      'body.type',
      'body.workspaceName',
      'body.configurationChanges',
    );
    covers(
      'Deployment',
      'plan',
      'planSummary',
      'output',
      'resources',
      'resourceCount',
      'providerVersions',
      'moduleVersions',
      'gitMetadata',
      'stateFileHash',
      'stateVersionId',
    );
    covers(
      'Deployment',
      'status',
      'startedAt',
      'finishedAt',
      'comment',
      'reviewedBy',
      'reviewers',
      'reviewersUsers',
      'reviewedByUser',
      'variables',
    );
    const workspaceName = `whole-${randomUUID()}`;
    const { id, deploymentId, environment } = await createEnvironment(client, home, {
      name: 'whole',
      repository: await makeServed(),
      requiresApproval: true,
      workspaceName,
      deployRequest: { comment: 'the first one' },
      configurationChanges: [
        ...greeting('good morning'),
        { name: 'password', value: 'hidden-value-71', type: 1, isSensitive: true },
      ],
    });
    covers('Plan', 'resourceChanges');
    covers(
      'ResourceChange',
      'path',
      'action',
      'type',
      'name',
      'providerName',
      'moduleName',
      'attributes[].name',
      'attributes[].after',
    );
    covers('PlanSummary', 'added', 'changed', 'destroyed');
    covers('GitMetadata', 'commit', 'branch', 'timestamp');
    covers('Resource', 'provider', 'type', 'name', 'moduleName');
    covers('WaitingFor', 'kind', 'text');
    covers(
      'Deployment',
      'stateFileHash.value',
      'reviewers[].userId',
      'reviewers[].action',
      'reviewersUsers[].user',
      'reviewersUsers[].action',
    );
    covers('DeploymentVariable', 'name', 'value', 'isSensitive', 'scope', 'type');
    assert.equal(environment.status, 'CREATED');
    const planned = await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    assert.equal(planned.status, 'WAITING_FOR_USER', planned.error?.message);
    assert.equal(planned.waitingFor?.kind, 'approval');
    assert.deepEqual(planned.planSummary, { added: 4, changed: 0, destroyed: 0 });
    assert.deepEqual(planned.plan?.resourceChanges.map(({ path, action }) => `${action} ${path}`).sort(), [
      'create module.network.terraform_data.subnet',
      'create module.tagged.terraform_data.subnet',
      'create terraform_data.first',
      'create terraform_data.second',
    ]);
    assert.match(planned.waitingFor?.text ?? '', /4 to add/);
    const subnet = planned.plan?.resourceChanges.find(({ path }) => path.startsWith('module.network.'));
    assert.deepEqual(
      [subnet?.type, subnet?.name, subnet?.moduleName, subnet?.providerName],
      ['terraform_data', 'subnet', 'module.network', 'terraform.io/builtin/terraform'],
    );
    assert.equal(subnet?.attributes.find(({ name }) => name === 'input')?.after, '10.0.0.0/16');
    const variable = (name: string) => planned.variables?.find((each) => each.name === name);
    assert.deepEqual(
      [variable('greeting')?.value, variable('greeting')?.scope, variable('greeting')?.type],
      ['good morning', 'ENVIRONMENT', 1],
    );
    assert.deepEqual([variable('password')?.isSensitive, variable('password')?.value], [true, '********']);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'WAITING_FOR_USER');
    const done = await approveAndEnd(client, deploymentId);
    assert.deepEqual(done.output?.message, { value: 'good morning', sensitive: false, type: 'string' });
    assert.equal(done.output?.range?.value, '10.0.0.0/16');
    assert.equal(done.output?.password?.sensitive, true);
    assert.ok(!JSON.stringify(done).includes('hidden-value-71'));
    assert.equal(done.resourceCount, 4);
    assert.equal(done.resources?.length, 4);
    assert.deepEqual(
      done.resources?.find(({ moduleName }) => moduleName === 'module.network'),
      { provider: 'terraform', type: 'terraform_data', name: 'subnet', moduleName: 'module.network' },
    );
    assert.deepEqual(
      await client.call('listDeploymentResources', { params: { id: deploymentId } }),
      done.resources,
    );
    assert.ok(Object.keys(done.providerVersions ?? {}).includes('terraform.io/builtin/terraform'));
    assert.deepEqual(done.moduleVersions, { tagged: 'v1.2.0' }, 'a local module has no version of its own');
    assert.match(done.gitMetadata?.commit ?? '', /^[0-9a-f]{40}$/);
    assert.equal(done.gitMetadata?.branch, 'main');
    assert.ok(!Number.isNaN(Date.parse(done.gitMetadata?.timestamp ?? '')));
    assert.equal(done.comment, 'the first one');
    assert.equal(done.reviewers[0]?.action, 'approved');
    assert.equal(done.reviewedBy, done.reviewers[0]?.userId);
    assert.deepEqual(done.reviewersUsers, [{ user: done.reviewedByUser, action: 'approved' }]);
    assert.ok(Date.parse(done.finishedAt ?? '') >= Date.parse(done.startedAt ?? ''));
    const content = await client.bytes('getStateContent', { params: { id: done.stateVersionId ?? '' } });
    assert.match(done.stateFileHash?.value ?? '', /^[0-9a-f]{64}$/);
    assert.ok(Buffer.from(content).includes('hidden-value-71'), "the state is the tool's own");
    assert.ok((await wholeLog(client, deploymentId)).includes(workspaceName));
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });

  test('an environment is changed, deployed in part, destroyed and deployed again, and every state is kept', async () => {
    covers('deployEnvironment', 'body.configurationChanges', 'body.targets');
    covers('Deployment', 'targets', 'type');
    const { id, deployment } = await deployNew(client, home, { repository });
    const changed = await deploy(client, id, {
      configurationChanges: greeting('changed'),
      targets: ['terraform_data.first'],
    });
    const aimed = await untilEnd(client, changed.id);
    assert.deepEqual(aimed.targets, ['terraform_data.first']);
    assert.deepEqual(aimed.planSummary, { added: 0, changed: 1, destroyed: 0 });
    covers('ResourceChange', 'attributes', 'attributes[].before');
    covers(
      'Plan',
      'outputChanges',
      'outputChanges[].name',
      'outputChanges[].action',
      'outputChanges[].attributes',
    );
    const first = aimed.plan?.resourceChanges.find(({ path }) => path === 'terraform_data.first');
    assert.deepEqual(
      first?.attributes.find(({ name }) => name === 'input'),
      { name: 'input', before: 'hello', after: 'changed' },
    );
    const updated = aimed.plan?.outputChanges.filter(({ action }) => action === 'update');
    assert.deepEqual(
      updated?.map(({ name }) => name),
      ['message'],
    );
    const [value] = updated?.[0]?.attributes ?? [];
    assert.deepEqual([value?.before, value?.after], ['hello', '(known after apply)']);
    const rest = await deployAndEnd(client, id);
    assert.deepEqual(
      rest.plan?.resourceChanges.filter(({ action }) => action === 'update').map(({ path }) => path),
      ['terraform_data.second'],
    );
    assert.equal(rest.output?.message?.value, 'changed');
    const destroyed = await destroyAndEnd(client, id);
    assert.equal(destroyed.type, 'destroy');
    assert.deepEqual(destroyed.planSummary, { added: 0, changed: 0, destroyed: 3 });
    assert.equal(destroyed.resourceCount, 0);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'INACTIVE');
    await assert.rejects(destroy(client, id), {
      status: 400,
      message: /inactive/,
    });
    const again = await deployAndEnd(client, id);
    assert.equal(again.resourceCount, 3);
    assert.equal(again.output?.message?.value, 'changed');
    const versions = await client.call('listStateVersions', { params: { id } });
    assert.deepEqual(
      versions.map(({ standing }) => standing),
      ['current', 'superseded', 'superseded', 'superseded', 'superseded'],
    );
    assert.deepEqual(
      versions.map(({ deploymentLogId }) => deploymentLogId),
      [again.id, destroyed.id, rest.id, aimed.id, deployment.id],
    );
    assert.deepEqual(
      versions.slice(0, -1).map(({ follows }) => follows),
      versions.slice(1).map((version) => version.id),
    );
    assert.equal(new Set(versions.map(({ lineage }) => lineage)).size, 1);
    for (const version of versions) {
      const content = Buffer.from(await client.bytes('getStateContent', { params: { id: version.id } }));
      assert.equal(content.length, version.bytes);
      assert.equal((JSON.parse(content.toString()) as { serial: number }).serial, version.serial);
    }
  });

  test('a deploy that finds nothing to change keeps state, outputs and resources', async () => {
    covers('Deployment', 'stateFileHash', 'resourceCount', 'output');
    const { id, deployment } = await deployNew(client, home, { repository });
    const same = await deployAndEnd(client, id);
    assert.deepEqual(same.planSummary, { added: 0, changed: 0, destroyed: 0 });
    assert.deepEqual(
      [same.stateFileHash, same.output, same.resources, same.resourceCount],
      [deployment.stateFileHash, deployment.output, deployment.resources, deployment.resourceCount],
    );
    assert.deepEqual([same.resourceCount, same.output?.message?.value], [3, 'hello']);
    const body = { configurationChanges: greeting('other') };
    const other = await deployAndEnd(client, id, body);
    assert.notDeepEqual(other.stateFileHash, deployment.stateFileHash);
  });

  test('a dry run reports what would change and changes nothing', async () => {
    covers('Deployment', 'plan', 'type');
    const { id, deployment } = await deployNew(client, home, { repository });
    const dry = await deployAndEnd(client, id, {
      deploymentType: 'dryRun',
      configurationChanges: greeting('dry'),
    });
    assert.deepEqual(dry.planSummary, { added: 0, changed: 2, destroyed: 0 });
    assert.equal(dry.stateVersionId, undefined);
    assert.equal(dry.type, 'dryRun');
    assert.deepEqual(
      dry.plan?.resourceChanges.flatMap(({ path, action }) => (action === 'update' ? path : [])),
      ['terraform_data.first', 'terraform_data.second'],
    );
    const environment = await client.call('getEnvironment', { params: { id } });
    assert.equal(environment.status, 'ACTIVE');
    assert.equal(
      (await client.call('listStateVersions', { params: { id } }))[0]?.id,
      deployment.stateVersionId,
    );
    assert.deepEqual(
      (await client.call('listSteps', { params: { deploymentLogId: dry.id ?? '' } })).map(
        ({ name, status }) => `${name} ${status}`,
      ),
      ['git:clone', 'variables:setup', `${prefix}:init`, `${prefix}:workspace`, `${prefix}:plan`].map(
        (name) => `${name} SUCCESS`,
      ),
    );
  });

  test('a PR plan runs alongside an apply, and a deploy waits behind it', async () => {
    const slow = await makeRepository(service.folder, 'slow', {
      'main.tf':
        'resource "terraform_data" "slow" {\n  provisioner "local-exec" { command = "until [ -e gate ]; do sleep 0.05; done" }\n}\n',
    });
    const { id, deploymentId } = await createEnvironment(client, home, { repository: slow.path });
    await until('the apply', async () =>
      (await client.call('listSteps', { params: { deploymentLogId: deploymentId } })).some(
        ({ name, status }) => name === `${prefix}:apply` && status === 'IN_PROGRESS',
      ),
    );
    const behind = await deploy(client, id);
    assert.equal(behind.status, 'QUEUED');
    assert.deepEqual([behind.waitingFor?.kind, behind.waitingFor?.id], ['deployment', deploymentId]);
    const alongside = await deploy(client, id, { deploymentType: 'prPlan' });
    assert.equal(alongside.status, 'IN_PROGRESS');
    await untilEnd(client, alongside.id);
    assert.equal(
      (await client.call('getDeployment', { params: { id: deploymentId } })).status,
      'IN_PROGRESS',
    );
    await openGate(service, id);
    await untilEnd(client, deploymentId);
    await untilEnd(client, behind.id);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });

  test('each change of a resource is reported live, and the state of an aborted apply is kept', async () => {
    const source = await makeRepository(service.folder, 'told', {
      'main.tf':
        'resource "terraform_data" "quick" {}\nresource "terraform_data" "slow" {\n  depends_on = [terraform_data.quick]\n  provisioner "local-exec" { command = "until [ -e gate ]; do sleep 0.05; done" }\n}\n',
    });
    const { id, deploymentId } = await createEnvironment(client, home, { repository: source.path });
    const reported: string[] = [];
    const signal = AbortSignal.timeout(60_000);
    for await (const event of client.stream('streamDeployment', { params: { id: deploymentId }, signal })) {
      if (event.event !== 'resource') continue;
      reported.push(`${event.data.status} ${event.data.action} ${event.data.address}`);
      if (event.data.address === 'terraform_data.slow') break;
    }
    assert.deepEqual(reported, [
      'started create terraform_data.quick',
      'done create terraform_data.quick',
      'started create terraform_data.slow',
    ]);
    await client.call('abortDeployment', { params: { id: deploymentId } });
    const aborted = await untilEnd(client, deploymentId, 'ABORTED');
    const content = Buffer.from(
      await client.bytes('getStateContent', { params: { id: aborted.stateVersionId ?? '' } }),
    );
    assert.match(content.toString(), /"name": "quick"/);
    await source.commit({ 'main.tf': 'resource "terraform_data" "quick" {}\n' });
    const next = await deployAndEnd(client, id);
    assert.equal(next.planSummary?.added, 0, 'what was made is known');
  });

  test('a drift run reports undeployed code and changed resources, and a deploy ends the drift', async (t) => {
    covers('deployEnvironment', 'body.deploymentType');
    covers('Deployment', 'driftDetected');
    covers('Environment', 'driftStatus');
    covers('getDriftStatus', 'reply');
    covers('DriftStatusResult', 'driftDeployment', 'eventsScanStatus');
    let level = 'low';
    const world = createServer((_request, response) => {
      const outputs = { level: { value: level, type: 'string' } };
      response.end(
        JSON.stringify({
          version: 4,
          terraform_version: '1.11.4',
          serial: 1,
          lineage: 'world',
          resources: [],
          outputs,
        }),
      );
    });
    await new Promise<void>((resolve) => world.listen(0, '127.0.0.1', resolve));
    t.after(() => world.close());
    const address = `http://127.0.0.1:${(world.address() as AddressInfo).port}/state`;
    const source = await makeRepository(service.folder, 'drifting', {
      'main.tf': `data "terraform_remote_state" "world" {\n  backend = "http"\n  config  = { address = "${address}" }\n}\nresource "terraform_data" "it" { input = data.terraform_remote_state.world.outputs.level }\n`,
    });
    const { id } = await deployNew(client, home, { repository: source.path });
    const drift = async () => {
      const run = await deployAndEnd(client, id, { deploymentType: 'driftDetection' });
      const { driftStatus, status } = await client.call('getEnvironment', { params: { id } });
      const answer = await client.call('getDriftStatus', { params: { id: run.id ?? '' } });
      assert.equal(answer.driftDeployment.id, run.id);
      assert.equal(answer.eventsScanStatus, 'NOT_CONFIGURED');
      return { driftStatus, status, driftDetected: run.driftDetected, run };
    };
    const { driftStatus: before, driftDetected: found } = await drift();
    assert.deepEqual([before, found], ['OK', false]);
    level = 'high';
    const moved = await drift();
    assert.deepEqual([moved.driftStatus, moved.driftDetected], ['DRIFTED', true]);
    assert.deepEqual(moved.run.planSummary, { added: 0, changed: 1, destroyed: 0 });
    const remedy = await deployAndEnd(client, id);
    assert.equal((await client.call('getEnvironment', { params: { id } })).driftStatus, 'OK');
    await assert.rejects(client.call('getDriftStatus', { params: { id: remedy.id ?? '' } }), {
      status: 404,
    });
    await source.commit({ 'more.tf': 'resource "terraform_data" "more" {}\n' });
    const unapplied = await drift();
    assert.deepEqual([unapplied.driftStatus, unapplied.driftDetected], ['DRIFTED', true]);
    assert.deepEqual(
      unapplied.run.plan?.resourceChanges.filter(({ action }) => action === 'create').map(({ path }) => path),
      ['terraform_data.more'],
    );
  });

  test('the variable, the deploy request and the environment decide about approval, in this order', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.requiresApproval');
    covers('deployEnvironment', 'body.userRequiresApproval');
    covers('Environment', 'requiresApproval');
    const { id, deployment } = await deployNew(client, home, { repository });
    const steps = await client.call('listSteps', { params: { deploymentLogId: deployment.id ?? '' } });
    const statusOf = (name: string) => steps.find((step) => step.name === name)?.status;
    assert.deepEqual(
      [statusOf('approval:wait'), statusOf('apply:prepare'), statusOf(`${prefix}:apply`)],
      ['SKIPPED', 'SKIPPED', 'SUCCESS'],
    );
    const awaiting = await deploy(client, id, {
      userRequiresApproval: true,
      configurationChanges: greeting('asked'),
    });
    await approveAndEnd(client, awaiting.id);
    const later = await client.call('listSteps', { params: { deploymentLogId: awaiting.id } });
    assert.deepEqual(
      later
        .filter(({ name }) => ['approval:wait', 'apply:prepare'].includes(name))
        .map(({ status }) => status),
      ['SUCCESS', 'SKIPPED'],
      'the same agent continues in the tree of the plan',
    );
    assert.equal((await client.call('getEnvironment', { params: { id } })).requiresApproval, true);
    await deployAndEnd(client, id, {
      configurationChanges: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false', type: 0 }],
    });
    const against = await deploy(client, id, {
      userRequiresApproval: false,
      configurationChanges: [
        { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'true', type: 0 },
        ...greeting('against'),
      ],
    });
    assert.equal((await untilStatus(client, against.id, 'WAITING_FOR_USER')).status, 'WAITING_FOR_USER');
    await client.call('cancelDeployment', { params: { id: against.id } });
    const cancelled = await untilEnd(client, against.id, 'CANCELLED');
    assert.equal(cancelled.reviewers[0]?.action, 'cancelled');
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });

  test('a revision can be a branch, a tag, a commit or an abbreviated commit, and a path a folder', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.revision', 'body.path');
    covers('deployEnvironment', 'body.blueprintRevision');
    covers('Deployment', 'blueprintRevision', 'blueprintPath', 'gitMetadata');
    const source = await makeRepository(service.folder, 'revisions', named('first'));
    const first = await source.git('rev-parse', 'HEAD');
    await source.git('tag', 'v1');
    await source.commit(named('second'));
    await source.git('switch', '--quiet', '--create', 'feature/one');
    await source.commit(named('feature'));
    await source.git('switch', '--quiet', 'main');
    await source.commit(
      Object.fromEntries(Object.entries(named('below')).map(([name, text]) => [`deep/er/${name}`, text])),
    );
    const { id, deployment } = await deployNew(client, home, { repository: source.path, revision: 'v1' });
    assert.equal(await output(deployment.id ?? ''), 'first');
    for (const [blueprintRevision, expected, branch] of [
      ['feature/one', 'feature', 'feature/one'],
      ['v1', 'first', 'v1'],
      ['main', 'second', 'main'],
      [first, 'first', first],
      [first.slice(0, 9), 'first', first.slice(0, 9)],
    ] as const) {
      const run = await deployAndEnd(client, id, { blueprintRevision });
      assert.equal(run.output?.name?.value, expected, blueprintRevision);
      assert.equal(run.blueprintRevision, blueprintRevision);
      assert.equal(run.gitMetadata?.branch, branch);
    }
    const below = await deployNew(client, home, { repository: source.path, path: './deep/er/' });
    assert.equal(await output(below.deploymentId), 'below');
    assert.equal(below.deployment.blueprintPath, './deep/er/');
  });

  test('an environment with automatic deployment turned off deploys only on request', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.preventAutoDeploy');
    const { id, environment } = await createEnvironment(client, home, {
      repository,
      preventAutoDeploy: true,
    });
    assert.equal(environment.status, 'NEVER_DEPLOYED');
    assert.deepEqual(
      (await client.call('listDeployments', { params: { id } })).filter(
        ({ status }) => status !== 'NEVER_DEPLOYED',
      ),
      [],
    );
    await assert.rejects(destroy(client, id), {
      status: 400,
      message: /never deployed/,
    });
    await deployAndEnd(client, id);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });

  test('an environment without resources is destroyed without running its tool', async () => {
    const broken = await makeRepository(service.folder, 'never-worked', {
      'main.tf': 'resource "terraform_data" {\n',
    });
    const { id, deploymentId } = await createEnvironment(client, home, { repository: broken.path });
    await untilEnd(client, deploymentId, 'FAILURE');
    const destroyed = await destroyAndEnd(client, id);
    assert.ok(
      (await client.call('listSteps', { params: { deploymentLogId: destroyed.id ?? '' } })).every(
        ({ status }) => status === 'SKIPPED',
      ),
    );
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'INACTIVE');
  });

  test('the lines of a step have times, and a skipped step has no lines', async () => {
    const { deployment } = await deployNew(client, home, { repository });
    const lines = await stepLines(client, deployment.id ?? '', `${prefix}:apply`);
    assert.ok(lines.some(({ message }) => message.includes('Apply complete!')));
    assert.ok(lines.every(({ timestamp }) => !Number.isNaN(Date.parse(timestamp))));
    assert.deepEqual(await stepLines(client, deployment.id ?? '', 'approval:wait'), []);
  });
});
