/** Reactions to bad input: a clear error that names the field or setting, nothing half-written, nothing lost. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { covers } from '#contract/documents/coverage.ts';
import { withDatabase } from './database.ts';
import { type GitServer, makeBare, startGitServer } from './git-server.ts';
import { withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  deploy,
  deployAndEnd,
  deployNew,
  destroy,
  type EnvironmentRequest,
  type Home,
  homeOf,
  stepLines,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from './runs.ts';
import { type Files, makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const good: Files = {
  'main.tf':
    'resource "terraform_data" "it" { input = "good" }\noutput "it" { value = terraform_data.it.output }\n',
};
const password = 'right-password-8c1f';
const wrongPassword = 'wrong-password-5d20';

describe('bad input', { concurrency: 3, skip: withoutTerraform }, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let elsewhere: GitServer;
  let server: GitServer;
  let repository: string;

  before(async () => {
    folder = await scratchFolder();
    const root = join(folder, 'bare');
    await mkdir(root);
    elsewhere = await startGitServer({ root, user: 'other', password: 'other' });
    server = await startGitServer({ root, user: 'reader', password, redirectTo: `http://${elsewhere.host}` });
    const settings = {
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_AGENT_CONCURRENCY: '4',
      ENVARIUM_GIT_HTTP_HOSTS: [server.host, elsewhere.host, '127.0.0.1:1'].join(','),
    };
    service = await startService({ folder, settings });
    client = service.client;
    home = await homeOf(client);
    repository = (await makeRepository(folder, 'good', good)).path;
    await makeBare(repository, join(root, 'good.git'));
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await elsewhere?.[Symbol.asyncDispose]();
  });

  const make = async (name: string, files: Files) => (await makeRepository(folder, name, files)).path;
  /** A first deployment that fails. */
  const failing = async (request: EnvironmentRequest): Promise<Deployment> => {
    const { id, deploymentId } = await createEnvironment(client, home, request);
    const deployment = await untilEnd(client, deploymentId, 'FAILURE');
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'FAILED');
    return deployment;
  };
  const refused = (request: EnvironmentRequest, message: RegExp) =>
    assert.rejects(createEnvironment(client, home, request), { status: 400, message });

  test('a repository that does not answer fails the deployment with that reason', async () => {
    covers('Deployment', 'error', 'failedCommand');
    const { error, failedCommand } = await failing({ repository: 'http://127.0.0.1:1/code.git' });
    assert.match(error?.message ?? '', /repository http:\/\/127\.0\.0\.1:1\/code\.git does not answer/);
    assert.equal(failedCommand, 'git clone');
  });

  test('a wrong repository password is reported, the right one works, and neither is ever shown', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.repository', 'body.tokenId');
    const wrong = await failing({ repository: `http://reader:${wrongPassword}@${server.host}/good.git` });
    assert.match(wrong.error?.message ?? '', /token: repository .* refused its user or password/);
    const bare = await failing({ repository: `http://${server.host}/good.git` });
    assert.match(bare.error?.message ?? '', /requires credentials/);
    const byAddress = await deployNew(client, home, {
      repository: `http://reader:${password}@${server.host}/good.git`,
    });
    const token = await client.call('createGitToken', {
      body: { organizationId: home.organizationId, name: 'reader', value: `reader:${password}` },
    });
    const byToken = await deployNew(client, home, {
      repository: `http://${server.host}/good.git`,
      tokenId: token.id,
    });
    for (const { id, deploymentId, environment } of [byAddress, byToken]) {
      const shown = [
        environment,
        token,
        await client.call('listGitTokens', { query: { organizationId: home.organizationId } }),
        await client.call('getDeployment', { params: { id: deploymentId } }),
        await client.call('getEnvironment', { params: { id } }),
        await client.call('getTemplate', { params: { id: environment.blueprintId } }),
        await wholeLog(client, deploymentId),
      ];
      assert.ok(!JSON.stringify(shown).includes(password));
    }
    assert.ok(!(await wholeLog(client, wrong.id ?? '')).includes(wrongPassword));
    assert.ok(!service.log().includes(password) && !service.log().includes(wrongPassword));
  });

  test('a redirect does not forward the password', async () => {
    const { error } = await failing({
      repository: `http://reader:${password}@${server.host}/moved/good.git`,
    });
    assert.match(error?.message ?? '', /redirects elsewhere/);
    assert.deepEqual(elsewhere.requests, []);
  });

  test('a revision that does not exist, or looks like an option, is refused', async () => {
    const { error } = await failing({ repository, revision: 'nowhere' });
    assert.match(error?.message ?? '', /revision "nowhere" does not exist/);
    const commit = await failing({ repository, revision: 'f'.repeat(40) });
    assert.match(commit.error?.message ?? '', /revision "f{40}" does not exist/);
    await refused({ repository, revision: '--upload-pack=touch' }, /body\/revision.*-/);
    const { id } = await createEnvironment(client, home, { repository, preventAutoDeploy: true });
    await assert.rejects(deploy(client, id, { blueprintRevision: '-x' }), {
      status: 400,
      message: /blueprintRevision/,
    });
    await assert.rejects(client.call('destroyEnvironment', { params: { id }, query: { revision: '-x' } }), {
      status: 400,
      message: /revision/,
    });
  });

  test('a path that leaves the repository, follows a link, or names a file or nothing is refused', async () => {
    const linked = await makeRepository(folder, 'linked', good);
    await symlink('/etc', join(linked.path, 'away'));
    await linked.commit({ 'file.txt': 'text' });
    await refused({ repository, path: '../other' }, /body\/path/);
    await refused({ repository, path: '/../etc' }, /body\/path/);
    for (const [path, message] of [
      ['away', /outside the repository through a symbolic link/],
      ['missing', /path "missing" does not exist/],
      ['file.txt', /path "file.txt" is not a folder/],
    ] as const) {
      const { error } = await failing({ repository: linked.path, path });
      assert.match(error?.message ?? '', message);
    }
  });

  test('an address of a repository that must not be read is refused', async () => {
    const outside = await make('../outside', good);
    await symlink(outside, join(folder, 'repositories', 'door'));
    for (const address of [
      'ext::sh -c touch% /tmp/x',
      'ext::sh',
      `file://${outside}`,
      outside,
      '/etc',
      `${folder}/repositories/../outside`,
      'fd::3',
      '-x',
      'http://example.com/a.git',
      'git://example.com/a',
      'C:\\code',
      'file://host/x',
      'https://',
    ]) {
      await refused({ repository: address }, /body\/repository/);
    }
    const { id } = await createEnvironment(client, home, { repository, preventAutoDeploy: true });
    await assert.rejects(deploy(client, id, { blueprintRepository: 'ext::sh' }), {
      status: 400,
      message: /blueprintRepository/,
    });
    const { error } = await failing({ repository: join(folder, 'repositories', 'door') });
    assert.match(error?.message ?? '', /ENVARIUM_GIT_LOCAL_PATHS through a symbolic link/);
    const inside = await deployNew(client, home, { repository: `file://${repository}` });
    assert.equal(inside.deployment.output?.it?.value, 'good');
  });

  test('code that does not parse, or rejects its variables, fails with the diagnostics of the tool', async () => {
    const unparsable = await failing({
      repository: await make('unparsable', {
        'main.tf': 'resource "terraform_data" "it" {\n  input = \n}\n',
      }),
    });
    assert.equal(unparsable.failedCommand, 'terraform init');
    assert.match(unparsable.error?.message ?? '', /main\.tf line 2/);
    const invalid = await failing({
      repository: await make('invalid', {
        'main.tf':
          'variable "size" {\n  type = number\n  validation {\n    condition     = var.size < 10\n    error_message = "The size must stay below ten."\n  }\n}\n',
      }),
      configurationChanges: [{ name: 'size', value: '12', type: 1 }],
    });
    assert.equal(invalid.failedCommand, 'terraform plan');
    assert.match(invalid.error?.message ?? '', /The size must stay below ten\./);
    assert.equal(invalid.resourceCount, 0);
    const steps = await client.call('listSteps', { params: { deploymentLogId: invalid.id ?? '' } });
    assert.deepEqual(
      steps.filter(({ status }) => status === 'FAIL').map(({ name }) => name),
      ['tf:plan'],
    );
  });

  test('an apply that fails halfway keeps its state, and the next deploy continues from it', async () => {
    covers('Environment', 'status');
    covers('Deployment', 'error', 'failedCommand', 'stateVersionId', 'resources');
    covers('DeploymentError', 'message', 'exitCode');
    const half = await make('half', {
      'main.tf':
        'variable "code" { type = string }\nresource "terraform_data" "first" {}\nresource "terraform_data" "second" {\n  depends_on = [terraform_data.first]\n  provisioner "local-exec" { command = "echo told to fail >&2; exit ${var.code}" }\n}\noutput "first" { value = terraform_data.first.id }\n',
    });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: half,
      configurationChanges: [{ name: 'code', value: '3', type: 1 }],
    });
    const failed = await untilEnd(client, deploymentId, 'FAILURE');
    assert.equal(failed.failedCommand, 'terraform apply');
    assert.match(failed.error?.message ?? '', /local-exec provisioner error/);
    assert.match(failed.error?.message ?? '', /exit status 3/);
    assert.equal(failed.error?.exitCode, 1);
    assert.ok(failed.stateVersionId);
    assert.deepEqual(
      failed.resources?.map(({ name }) => name),
      ['first', 'second'],
    );
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'FAILED');
    const state = JSON.parse(
      Buffer.from(
        await client.bytes('getStateContent', { params: { id: failed.stateVersionId } }),
      ).toString(),
    ) as {
      resources: { name: string; instances: { attributes: { id: string } }[] }[];
    };
    const first = state.resources.find(({ name }) => name === 'first')?.instances[0]?.attributes.id;
    const next = await deployAndEnd(client, id, {
      configurationChanges: [{ name: 'code', value: '0', type: 1 }],
    });
    assert.equal(next.output?.first?.value, first, 'what was made is not made again');
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });

  test('values with quotes, line breaks, templates, other scripts and 1 MB arrive byte for byte', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.configurationChanges');
    covers('VariableChange', 'schema.format');
    const value =
      '"quoted" \'single\' `back` \\ \\n ${path.module} $${x} %{ if true } %%{x} # // /* \t\r\n second line\n\nжük 漢字 🙂\u2028 \u0001 end ';
    const large = `${value}${'0123456789abcdef'.repeat(65_536)}`;
    const echo = await make('echo', {
      'main.tf':
        'variable "value" { type = string }\nvariable "large" { type = string }\nresource "terraform_data" "it" {\n  input = var.value\n  provisioner "local-exec" { command = "printf %s \\"$STRANGE\\" | sha256sum; printf %s \\"$LONG\\" | sha256sum" }\n}\noutput "value" { value = terraform_data.it.output }\noutput "large" { value = var.large }\noutput "object" { value = var.object }\nvariable "object" { type = object({ a = list(number), b = string }) }\n',
    });
    const long = 'x'.repeat(131_000);
    const { deployment } = await deployNew(client, home, {
      repository: echo,
      configurationChanges: [
        { name: 'value', value, type: 1 },
        { name: 'large', value: large, type: 1 },
        { name: 'STRANGE', value, type: 0 },
        { name: 'LONG', value: long, type: 0 },
        { name: 'object', value: '{ a = [1, 2], b = "x" }', type: 1, schema: { format: 'HCL' } },
      ],
    });
    assert.equal(deployment.output?.value?.value, value);
    assert.ok(deployment.output?.large?.value === large, 'the large value differs');
    assert.deepEqual(deployment.output?.object?.value, { a: [1, 2], b: 'x' });
    const log = await wholeLog(client, deployment.id ?? '');
    for (const each of [value, long])
      assert.ok(
        log.includes(createHash('sha256').update(each).digest('hex')),
        'an environment variable differs',
      );
    await refused(
      { repository: echo, configurationChanges: [{ name: 'LONG', value: 'x'.repeat(131_072), type: 0 }] },
      /LONG.*128 KiB/,
    );
    await refused(
      { repository: echo, configurationChanges: [{ name: 'ZERO', value: 'a\0b', type: 0 }] },
      /configurationChanges.*NUL|NUL/,
    );
    await refused(
      { repository: echo, configurationChanges: [{ name: 'TF_DATA_DIR', value: '/tmp', type: 0 }] },
      /TF_DATA_DIR/,
    );
    await refused(
      {
        repository: echo,
        configurationChanges: [{ name: 'TF_CLI_ARGS_plan', value: '-state=/tmp/x', type: 0 }],
      },
      /TF_CLI_ARGS_plan/,
    );
    await refused(
      { repository: echo, configurationChanges: [{ name: 'a b', value: 'x', type: 1 }] },
      /configurationChanges\/0\/name/,
    );
  });

  test('an abort during the apply keeps the state, and the next deploy continues from it', async () => {
    covers('Deployment', 'abortedBy', 'abortedByUser', 'status');
    const slow = await make('abortable', {
      'main.tf': `resource "terraform_data" "first" {}\nresource "terraform_data" "second" {\n  depends_on = [terraform_data.first]\n  provisioner "local-exec" { command = "[ \\"$GATE\\" = open ] || { echo arrived; while :; do sleep 0.05; done; }" }\n}\noutput "first" { value = terraform_data.first.id }\n`,
    });
    const { id, deploymentId } = await createEnvironment(client, home, { repository: slow });
    await until('the second resource', async () => {
      const steps = await client.call('listSteps', { params: { deploymentLogId: deploymentId } });
      if (steps.find(({ name }) => name === 'tf:apply')?.status !== 'IN_PROGRESS') return false;
      return (await stepLines(client, deploymentId, 'tf:apply')).some(({ message }) =>
        message.includes('arrived'),
      );
    });
    const isFirstListed = async () =>
      (await client.call('listDeploymentResources', { params: { id: deploymentId } }))
        .map(({ name }) => name)
        .join() === 'first';
    await until('the first resource, which is listed as soon as it is made', isFirstListed);
    await client.call('abortDeployment', { params: { id: deploymentId } });
    const aborted = await untilEnd(client, deploymentId, 'ABORTED');
    assert.ok(aborted.abortedBy);
    assert.equal(aborted.abortedByUser?.user_id, aborted.abortedBy);
    assert.ok(aborted.stateVersionId);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ABORTED');
    await assert.rejects(client.call('abortDeployment', { params: { id: deploymentId } }), {
      status: 409,
      message: /ABORTED/,
    });
    const configurationChanges = [{ name: 'GATE', value: 'open', type: 0 as const }];
    const next = await deployAndEnd(client, id, { configurationChanges });
    assert.equal(next.resourceCount, 2);
    const [current] = await client.call('listStateVersions', { params: { id } });
    assert.equal(current?.follows, aborted.stateVersionId);
  });

  test('only one of two simultaneous approvals counts, and only the plan that was read can be approved', async () => {
    const { deploymentId } = await createEnvironment(client, home, { repository, requiresApproval: true });
    await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    await assert.rejects(
      client.call('approveDeployment', { params: { id: deploymentId }, body: { planHash: '0'.repeat(64) } }),
      {
        status: 409,
        message: /planHash/,
      },
    );
    const approvals = await Promise.allSettled(
      [1, 2, 3].map(() => client.call('approveDeployment', { params: { id: deploymentId } })),
    );
    assert.deepEqual(approvals.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
    for (const approval of approvals)
      if (approval.status === 'rejected') assert.equal((approval.reason as { status: number }).status, 409);
    const done = await untilEnd(client, deploymentId);
    assert.equal(done.reviewers.length, 1);
    await assert.rejects(client.call('approveDeployment', { params: { id: deploymentId } }), {
      status: 409,
      message: /SUCCESS/,
    });
    await assert.rejects(client.call('cancelDeployment', { params: { id: deploymentId } }), { status: 409 });
  });

  test('a plan cannot be approved once the state has changed', async () => {
    const { id, deployment } = await deployNew(client, home, { repository });
    const waiting = await deploy(client, id, { userRequiresApproval: true });
    await untilStatus(client, waiting.id, 'WAITING_FOR_USER');
    // No operation moves the state past a deployment that waits: this simulates a state that arrives late.
    const moveTo = (version: string | null) =>
      withDatabase(service, (database) =>
        database.query('UPDATE environment SET current_state_version_id = $1 WHERE id = $2', [version, id]),
      );
    await moveTo(null);
    await assert.rejects(client.call('approveDeployment', { params: { id: waiting.id } }), {
      status: 409,
      message: /outdated/,
    });
    assert.equal(
      (await client.call('getDeployment', { params: { id: waiting.id } })).status,
      'WAITING_FOR_USER',
    );
    await moveTo(deployment.stateVersionId ?? null);
    await client.call('approveDeployment', { params: { id: waiting.id } });
    await untilEnd(client, waiting.id);
  });

  test('a locked environment refuses deployments and approvals, and says why', async () => {
    covers('Environment', 'isLocked', 'lockStatus');
    covers('LockStatus', 'reason');
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository,
      requiresApproval: true,
    });
    await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    await client.call('setEnvironmentLock', {
      params: { id },
      body: { isLocked: true, reason: 'an audit is under way' },
    });
    const locked = { status: 409, message: /locked.*an audit is under way|locked/ };
    await assert.rejects(client.call('approveDeployment', { params: { id: deploymentId } }), locked);
    await assert.rejects(deploy(client, id), {
      status: 409,
      message: /an audit is under way/,
    });
    await assert.rejects(destroy(client, id), {
      status: 409,
      message: /an audit is under way/,
    });
    const environment = await client.call('getEnvironment', { params: { id } });
    assert.deepEqual([environment.isLocked, environment.lockStatus?.reason], [true, 'an audit is under way']);
    await client.call('setEnvironmentLock', { params: { id }, body: { isLocked: false } });
    await client.call('approveDeployment', { params: { id: deploymentId } });
    await untilEnd(client, deploymentId);
  });
});
