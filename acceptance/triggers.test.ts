/** Consequences of deployments, with the real tool and a service that is killed in between. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { withoutTerraform } from './programs.ts';
import { MortalService } from './recovery/mortal-service.ts';
import { createEnvironment, deploy, until, untilEnd } from './runs.ts';
import { makeRepository, type Repository } from './service.ts';

const code = (word: string) => `resource "terraform_data" "it" { input = "${word}" }\n`;

describe('what follows from deployments', { skip: withoutTerraform }, () => {
  const mortal = new MortalService();
  let source: Repository;
  before(async () => {
    source = await makeRepository(mortal.folder, 'code', { 'main.tf': code('first') });
  });

  /** An active environment. */
  async function createActive(name: string): Promise<string> {
    const { id, deploymentId } = await createEnvironment(mortal.client, mortal.home, {
      name,
      repository: source.path,
      requiresApproval: false,
    });
    await untilEnd(mortal.client, deploymentId);
    return id;
  }

  const causedBy = async (id: string, cause: string) =>
    (await mortal.client.call('listDeployments', { params: { id } })).filter(
      (each) => each.causedBy === cause,
    );
  /** Waits until there is one. @returns its id */
  const untilCaused = (id: string, cause: string) =>
    until('the deployment that follows', async () => (await causedBy(id, cause))[0]?.id);

  test('environments downstream are deployed once, though the service is killed after the success', async () => {
    const [upstream, downstream] = [await createActive('network'), await createActive('app')];
    await mortal.client.call('setDownstream', {
      params: { id: upstream },
      body: { downstreamEnvironmentIds: [downstream] },
    });
    const { id: cause } = await deploy(mortal.client, upstream);
    await untilEnd(mortal.client, cause);
    await mortal.kill('server');
    const followed = await untilCaused(downstream, cause);
    const ended = await untilEnd(mortal.client, followed);
    assert.deepEqual(
      [ended.status, ended.triggerName, ended.upstreamEnvironmentId],
      ['SUCCESS', 'workflow', upstream],
    );
    assert.equal((await causedBy(downstream, cause)).length, 1);
  });

  test('drift is remediated by the newest code, once, though the service is killed after the check', async () => {
    const id = await createActive('dns');
    await mortal.client.call('updateDriftSchedule', {
      params: { id },
      body: { enabled: false, autoDriftRemediation: 'CODE_TO_CLOUD' },
    });
    const commit = await source.commit({ 'main.tf': code('second') });
    const { id: check } = await deploy(mortal.client, id, { deploymentType: 'driftDetection' });
    assert.equal((await untilEnd(mortal.client, check)).driftDetected, true);
    await mortal.kill('server');
    const ended = await untilEnd(mortal.client, await untilCaused(id, check));
    assert.deepEqual(
      [ended.status, ended.trigger, ended.gitMetadata?.commit, ended.planSummary?.changed],
      ['SUCCESS', 'driftRemediation', commit, 1],
    );
    assert.equal((await causedBy(id, check)).length, 1);
    assert.equal((await mortal.client.call('getEnvironment', { params: { id } })).driftStatus, 'OK');
    const { remediation } = await mortal.client.call('getDeployment', { params: { id: check } });
    assert.deepEqual(remediation, { strategy: 'CODE_TO_CLOUD', deploymentId: ended.id });
  });
});
