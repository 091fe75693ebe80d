/** Effects of a project's policy on real runs, and its commands. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UpdatePolicyBody } from '#contract/project-policies/operations.ts';
import type { LimitsCheck, Policy } from '#contract/project-policies/shapes.ts';
import { commandLine } from '../command-line.ts';
import { withoutTerraform } from '../programs.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  destroy,
  type Home,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from '../runs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const configuration = (output: string) => `resource "terraform_data" "one" {}
output "zone" { value = "${output}" }
`;

const service = await joinOneService();
const { client, home } = service;

describe('policies of projects', () => {
  const { envarium, good, json } = commandLine(() => service);

  async function projectWith(name: string, policy: Omit<UpdatePolicyBody, 'projectId'>): Promise<Home> {
    const { organizationId } = home;
    const { id: projectId } = await client.call('createProject', { body: { organizationId, name } });
    await client.call('updatePolicy', { body: { projectId, ...policy } });
    return { organizationId, projectId };
  }

  test('a deploy whose plan is empty ends after it, asks no one, and keeps outputs and resources; changed outputs are changes', {
    skip: withoutTerraform,
    timeout: 120_000,
  }, async () => {
    const inside = await projectWith('quiet', { skipApplyWhenPlanIsEmpty: true });
    const { path: repository, commit } = await makeRepository(service.folder, 'quiet', {
      'main.tf': configuration('north'),
    });
    const { id, deploymentId } = await createEnvironment(client, inside, { repository });
    assert.equal((await untilEnd(client, deploymentId)).status, 'SUCCESS');
    await commit({ 'main.tf': `${configuration('north')}# no change\n` });
    const request = { params: { id }, body: { userRequiresApproval: true } };
    const again = await client.call('deployEnvironment', request);
    const ended = await untilEnd(client, again.id);
    assert.deepEqual([ended.status, ended.isSkippedApply], ['SUCCESS', true]);
    assert.deepEqual(
      [ended.output?.['zone'], ended.resources?.length],
      [{ value: 'north', type: 'string', sensitive: false }, 1],
    );
    assert.doesNotMatch(await wholeLog(client, again.id), /Apply complete/);
    const steps = await client.call('listSteps', { params: { deploymentLogId: again.id } });
    assert.deepEqual(
      steps.filter(({ status }) => status !== 'SUCCESS').map(({ name, status }) => `${name} ${status}`),
      [
        'approval:wait SKIPPED',
        'apply:prepare SKIPPED',
        'tf:apply SKIPPED',
        'tf:output SKIPPED',
        'state:store SKIPPED',
      ],
    );
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
    await commit({ 'main.tf': configuration('south') });
    const changed = await client.call('deployEnvironment', request);
    assert.equal((await untilStatus(client, changed.id, 'WAITING_FOR_USER')).status, 'WAITING_FOR_USER');
  });

  test('forceRemoteBackend stores the state of code that names a backend of its own', {
    skip: withoutTerraform,
    timeout: 120_000,
  }, async () => {
    const inside = await projectWith('central', { forceRemoteBackend: true });
    const { path: repository } = await makeRepository(service.folder, 'central', {
      'main.tf': 'terraform {\n  backend "inmem" {}\n}\nresource "terraform_data" "one" {}\n',
    });
    const { id, deploymentId } = await createEnvironment(client, inside, { repository });
    assert.equal((await untilEnd(client, deploymentId)).status, 'SUCCESS');
    const versions = await client.call('listStateVersions', { params: { id } });
    assert.equal(versions.length, 1);
  });

  test('an expired environment is destroyed with the newest code where its policy forces that', {
    skip: withoutTerraform,
    timeout: 120_000,
  }, async () => {
    const inside = await projectWith('fresh', { forceCheckoutOnTtlDestroy: true });
    const { path: repository, commit } = await makeRepository(service.folder, 'fresh', {
      'main.tf': configuration('north'),
    });
    const { id, deploymentId } = await createEnvironment(client, inside, { repository });
    await untilEnd(client, deploymentId);
    const newest = await commit({ 'main.tf': configuration('south') });
    const value = new Date(Date.now() + 1500).toISOString();
    await client.call('updateEnvironmentTtl', { params: { id }, body: { type: 'DATE', value } });
    const destroyed = AbortSignal.timeout(60_000);
    const input = { params: { id: inside.organizationId }, signal: destroyed };
    for await (const event of client.stream('streamOrganization', input))
      if (event.event === 'deployment' && event.data.type === 'destroy' && event.data.status === 'SUCCESS')
        break;
    const [last] = await client.call('listDeployments', { params: { id } });
    assert.equal(last?.gitMetadata?.commit, newest);
  });

  test('limits, defaults, skipped deploys, remediation and forbidden destroys hold for real runs', {
    skip: withoutTerraform,
    timeout: 180_000,
  }, async () => {
    const policy = {
      ...{ numberOfEnvironments: 5, numberOfEnvironmentsTotal: 1, maxTtl: '1-d', defaultTtl: '6-h' },
      ...{ requiresApprovalDefault: true, skipRedundantDeployments: true, continuousDeploymentDefault: true },
      ...{ runPullRequestPlanDefault: true, vcsPrCommentsEnabledDefault: true },
      ...{ driftDetectionEnabled: true, driftDetectionCron: '0 4 1 1 *' },
      autoDriftRemediation: 'CODE_TO_CLOUD',
    } as const;
    const inside = await projectWith('full', policy);
    const { path: repository, commit } = await makeRepository(service.folder, 'full', {
      'main.tf': configuration('north'),
    });
    const request = { repository, requiresApproval: undefined };
    const { id, deploymentId } = await createEnvironment(client, inside, request);
    await approveAndEnd(client, deploymentId);
    const environment = await client.call('getEnvironment', { params: { id } });
    const { continuousDeployment, pullRequestPlanDeployments, vcsPrCommentsEnabled } = environment;
    assert.deepEqual(
      [continuousDeployment, pullRequestPlanDeployments, vcsPrCommentsEnabled],
      [true, true, true],
    );
    const { createdAt = '', lifespanEndAt } = environment;
    assert.equal(Date.parse(lifespanEndAt ?? '') - Date.parse(createdAt), 6 * 3_600_000);
    await assert.rejects(createEnvironment(client, inside, request), /numberOfEnvironmentsTotal/);

    const newest = await commit({
      'main.tf': `${configuration('south')}resource "terraform_data" "two" {}\n`,
    });
    const body = { deploymentType: 'driftDetection' } as const;
    const check = await deploy(client, id, body);
    assert.equal((await untilEnd(client, check.id)).driftDetected, true);
    const repair = await until('the deploy that repairs the drift', async () =>
      (await client.call('listDeployments', { params: { id } })).find(
        ({ causedBy }) => causedBy === check.id,
      ),
    );
    const repaired = await approveAndEnd(client, repair.id ?? '');
    assert.deepEqual([repaired.trigger, repaired.gitMetadata?.commit], ['driftRemediation', newest]);

    const start = () => deploy(client, id);
    const [waiting, redundant, last] = [await start(), await start(), await start()];
    await untilStatus(client, waiting.id, 'WAITING_FOR_USER');
    await client.call('cancelDeployment', { params: { id: waiting.id } });
    const skipped = await untilEnd(client, redundant.id, 'SKIPPED');
    assert.equal(skipped.skippedFor, last.id);
    await approveAndEnd(client, last.id);

    const { projectId } = inside;
    const put = (changes: object) =>
      client.call('updatePolicy', { body: { projectId, ...policy, ...changes } });
    await put({ disableDestroyEnvironments: true });
    assert.equal((await client.call('getEnvironment', { params: { id } })).lifespanEndAt, null);
    await assert.rejects(destroy(client, id), /disableDestroyEnvironments/);
    await put({});
    assert.equal((await approveAndEnd(client, (await destroy(client, id)).id)).resourceCount, 0);
    assert.ok((await createEnvironment(client, inside, request)).id, 'a destroyed one makes room');
  });

  test('commands show a policy with the origin of each setting, change parts of it, and show its limits', async () => {
    const { projectId } = await projectWith('told', {});
    await good`policies set told --max-ttl inherit --default-ttl inherit`;
    await good`organization policies --max-ttl 3d`;
    const shown = await good`policies show told`;
    assert.match(shown, /maxTtl +3-d +organization/);
    assert.match(shown, /requiresApprovalDefault +no +project/);
    assert.match(shown, /numberOfEnvironmentsTotal +no limit +default/);
    await good`organization policies --max-ttl infinite`;
    const policy =
      await json<Policy>`policies set told --number-of-environments-total 0 --skip-apply-when-plan-is-empty
        --max-ttl 2w --default-ttl 12h --drift-detection-cron ${'0 4 * * *'}`;
    assert.deepEqual(
      [policy.projectId, policy.numberOfEnvironmentsTotal, policy.skipApplyWhenPlanIsEmpty, policy.maxTtl],
      [projectId, 0, true, '2-w'],
    );
    const after = await json<Policy>`policies set told --no-drift-detection-cron`;
    assert.deepEqual(
      [
        after.driftDetectionEnabled,
        after.driftDetectionCron,
        after.defaultTtl,
        after.skipApplyWhenPlanIsEmpty,
      ],
      [false, '', '12-h', true],
    );
    const { organizationId } = home;
    const above = await client.call('createProject', { body: { organizationId, name: 'above' } });
    await client.call('moveProject', { params: { id: projectId }, body: { targetProjectId: above.id } });
    await good`policies set above --self-approval-forbidden`;
    assert.match(await good`policies show told`, /selfApprovalForbidden +yes +above/);
    assert.match(
      await good`policies set told --no-self-approval-forbidden`,
      /selfApprovalForbidden +no +project/,
    );
    assert.match(await good`policies set told --self-approval-as-above`, /selfApprovalForbidden +yes +above/);
    assert.equal((await json<LimitsCheck>`policies limits told`).warnings.total, true);
    assert.match(await good`policies limits told`, /Active environments: +0 \(limit reached\)/);
    for (const [args, message] of [
      [['--max-ttl', 'forever'], /--max-ttl must be hours, days, weeks or months .* inherit, not "forever"/],
      [['--number-of-environments', '-1'], /--number-of-environments must be a whole number or none/],
      [['--default-ttl', '3w'], /--default-ttl 3-w is longer than maxTtl 2-w/],
      [['--drift-detection-cron', '0 0 31 2 *'], /names a time that never comes/],
      [[], /Specify at least one setting/],
    ] as const) {
      const { status, stderr } = await envarium`policies set told ${args}`;
      assert.equal(status, 2, args.join(' '));
      assert.match(stderr, message);
    }
  });
});
