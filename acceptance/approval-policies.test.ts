/** Approval policies on real runs: the plan of the real tool, a repository with real history, and the real opa. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { placeOf, withToolbox } from '../tools/toolbox/places.ts';
import { withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  deploy,
  deployAndEnd,
  type Home,
  homeOf,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from './runs.ts';
import {
  makeRepository,
  type Repository,
  type RunningService,
  scratchFolder,
  startService,
} from './service.ts';

const skip = withoutTerraform || withToolbox('opa').skip;

const code = `variable "token" { sensitive = true }
variable "size" {
  type    = number
  default = 1
}
resource "terraform_data" "it" { input = var.size }
resource "terraform_data" "secret" { input = var.token }
output "size" { value = terraform_data.it.output }`;

const policy = `package envarium

deny contains sprintf("%s is too large: %d", [change.address, change.change.after.input]) if {
  some change in input.plan.resource_changes
  is_number(change.change.after.input)
  change.change.after.input > input.policyData.most
}

pending contains "large ones need an approval" if {
  some change in input.plan.resource_changes
  is_number(change.change.after.input)
  change.change.after.input > 5
  count(input.approvers) == 0
}

allow contains sprintf("plan of terraform %s", [input.plan.terraform_version]) if not large

large if {
  some change in input.plan.resource_changes
  is_number(change.change.after.input)
  change.change.after.input > 5
}

warn contains "the input has the secret" if contains(json.marshal(input), "planted-secret")
`;

describe('approval policies', { skip, concurrency: 1 }, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let policies: Repository;
  const settings = {
    ENVARIUM_LOG_LEVEL: 'warn',
    ENVARIUM_BOOTSTRAP_API_SECRET: 'b'.repeat(43),
    ENVARIUM_OPA: placeOf('opa') ?? '',
    // Slow steps here must not become too slow on a busy machine.
    ENVARIUM_POLICY_TIME_LIMIT_SECONDS: '30',
  };

  before(async () => {
    folder = await scratchFolder();
    service = await startService({ folder, settings });
    client = service.client;
    home = await homeOf(client);
    policies = await makeRepository(folder, 'policies', { 'size.rego': policy });
    const { organizationId, projectId } = home;
    const { id: blueprintId } = await client.call('createApprovalPolicy', {
      body: { organizationId, name: 'size', repository: policies.path },
    });
    await client.call('assignApprovalPolicy', {
      body: { scope: 'PROJECT', scopeId: projectId, blueprintId },
    });
  });
  after(() => service?.[Symbol.asyncDispose]());

  const resize = (id: string, size: number) =>
    deploy(client, id, { configurationChanges: [{ name: 'size', value: String(size), type: 1 }] });

  /** Processes of opa of this service. */
  const evaluators = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(join(folder, 'data', 'policies'));
      } catch {
        return false;
      }
    });

  test('a small plan is applied at once, a large one waits, a huge one is cancelled', async () => {
    const { path: repository } = await makeRepository(folder, 'code', {
      'main.tf': code,
      'limits.json': '{"most": 100}',
    });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository,
      requiresApproval: true,
      configurationChanges: [
        { name: 'token', value: 'planted-secret', type: 1, isSensitive: true },
        { name: 'ENVARIUM_POLICY_DATA_PATH', value: 'limits.json', type: 0 },
        { name: 'ENVARIUM_PRINT_POLICY_INPUT', value: 'true', type: 0 },
      ],
    });
    const small = await untilEnd(client, deploymentId);
    const [verdict] = small.policyVerdicts ?? [];
    assert.match(verdict?.messages.allow[0] ?? '', /^plan of terraform \d/);
    assert.deepEqual(verdict?.messages.warn, []);
    const log = await wholeLog(client, deploymentId);
    assert.match(log, /"policyData": \{\n {4}"most": 100/);
    assert.match(log, /"\(sensitive\)"/);
    assert.ok(!log.includes('planted-secret'));

    const huge = await untilStatus(client, (await resize(id, 200)).id);
    assert.deepEqual(
      [huge.status, huge.error?.message],
      ['CANCELLED', 'Approval policy "size" denies the plan: terraform_data.it is too large: 200'],
    );

    const large = await resize(id, 50);
    const waiting = await untilStatus(client, large.id, 'WAITING_FOR_USER');
    assert.deepEqual(waiting.policyVerdicts?.[0]?.messages.pending, ['large ones need an approval']);
    const [evaluator] = evaluators();
    process.kill(Number(evaluator), 'SIGKILL');
    await client.call('approveDeployment', { params: { id: large.id } });
    const ended = await untilEnd(client, large.id);
    assert.deepEqual(
      ended.policyVerdicts?.map(({ round, decision }) => [round, decision]),
      [
        [1, 'pending'],
        [2, 'none'],
      ],
    );
  });

  test('drift, dry runs and plans of pull requests are not checked', async () => {
    const { path: repository } = await makeRepository(folder, 'unchecked', { 'main.tf': code });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository,
      name: 'unchecked',
      preventAutoDeploy: true,
      configurationChanges: [
        { name: 'token', value: 'x', type: 1 },
        { name: 'size', value: '200', type: 1 },
      ],
    });
    assert.ok(deploymentId);
    for (const deploymentType of ['prPlan', 'dryRun'] as const) {
      assert.equal((await deployAndEnd(client, id, { deploymentType })).policyVerdicts, undefined);
    }
  });

  test('data that cannot be read fails the run', async () => {
    const { path: repository } = await makeRepository(folder, 'no-data', { 'main.tf': code });
    const { deploymentId } = await createEnvironment(client, home, {
      repository,
      name: 'no data',
      configurationChanges: [
        { name: 'token', value: 'x', type: 1 },
        { name: 'ENVARIUM_POLICY_DATA_PATH', value: '../limits.json', type: 0 },
      ],
    });
    const { error } = await untilEnd(client, deploymentId, 'FAILURE');
    assert.match(error?.message ?? '', /^Failed to load dynamic policy data: /);
  });

  test('a server that is killed while policies are evaluated leaves the check to the next one', async () => {
    const slow = `package envarium
allow contains "slow" if count([x | some x in numbers.range(1, 3000000); x > 0]) > 0`;
    await policies.commit({ 'size.rego': slow });
    const { path: repository } = await makeRepository(folder, 'killed', { 'main.tf': code });
    const { deploymentId } = await createEnvironment(client, home, {
      repository,
      name: 'killed',
      configurationChanges: [{ name: 'token', value: 'x', type: 1 }],
    });
    await until('the check', async () => {
      const steps = await client.call('listSteps', { params: { deploymentLogId: deploymentId } });
      return steps.find(({ name, status }) => name === 'policy:check' && status === 'IN_PROGRESS');
    });
    await service.kill();
    await until('the end of every opa', () => evaluators().length === 0);
    service = await startService({ folder, settings });
    client = service.client;
    const ended = await untilEnd(client, deploymentId);
    assert.deepEqual(
      ended.policyVerdicts?.map(({ decision }) => decision),
      ['allow'],
    );
    await service.stop();
    await until('the end of every opa', () => evaluators().length === 0);
  });
});
