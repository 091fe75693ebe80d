/**
 * Waiting work outlives the service: unapproved plans, queues, and their inputs.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { withoutTerraform } from './programs.ts';
import { MortalService } from './recovery/mortal-service.ts';
import { approveAndEnd, createEnvironment, deploy, untilEnd, untilStatus } from './runs.ts';
import { makeRepository, type Repository } from './service.ts';

const code = (word: string) =>
  `variable "value" { type = string }\nresource "terraform_data" "it" { input = "${word} \${var.value}" }\noutput "it" { value = terraform_data.it.output }\n`;

describe('a plan that waits', { skip: withoutTerraform }, () => {
  const mortal = new MortalService();
  let source: Repository;
  before(async () => {
    source = await makeRepository(mortal.folder, 'waiting', { 'main.tf': code('planned') });
  });

  test('a waiting plan is applied unchanged after a restart, even if code and variables have changed', async () => {
    const { id, deploymentId } = await createEnvironment(mortal.client, mortal.home, {
      repository: source.path,
      requiresApproval: true,
      configurationChanges: [{ name: 'value', value: 'secret-then', type: 1, isSensitive: true }],
    });
    const planned = await untilStatus(mortal.client, deploymentId, 'WAITING_FOR_USER');
    const queued = await deploy(mortal.client, id, {
      configurationChanges: [{ name: 'value', value: 'secret-now', type: 1, isSensitive: true }],
    });
    await source.commit({ 'main.tf': code('later') });
    await mortal.restart();
    const found = await mortal.client.call('getDeployment', { params: { id: deploymentId } });
    assert.deepEqual(
      [found.status, found.planHash, found.waitingFor?.kind],
      ['WAITING_FOR_USER', planned.planHash, 'approval'],
    );
    const done = await approveAndEnd(mortal.client, deploymentId);
    const state = await mortal.client.bytes('getStateContent', { params: { id: done.stateVersionId ?? '' } });
    assert.match(Buffer.from(state).toString(), /planned secret-then/);
    await approveAndEnd(mortal.client, queued.id);
    const [current] = await mortal.client.call('listStateVersions', { params: { id } });
    assert.match(
      Buffer.from(
        await mortal.client.bytes('getStateContent', { params: { id: current?.id ?? '' } }),
      ).toString(),
      /later secret-now/,
    );
  });

  test('a waiting plan survives a killed service, and can be cancelled afterwards', async () => {
    const { id, deploymentId } = await createEnvironment(mortal.client, mortal.home, {
      repository: source.path,
      requiresApproval: true,
      configurationChanges: [{ name: 'value', value: 'x', type: 1 }],
    });
    await untilStatus(mortal.client, deploymentId, 'WAITING_FOR_USER');
    await mortal.kill('server');
    await mortal.client.call('cancelDeployment', { params: { id: deploymentId } });
    await untilEnd(mortal.client, deploymentId, 'CANCELLED');
    await approveAndEnd(mortal.client, (await deploy(mortal.client, id)).id);
    assert.equal((await mortal.client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });
});
