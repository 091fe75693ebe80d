/** Consequences of deployments, with the real tool and a service that is killed in between. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { findProgram } from './programs.ts';
import { createEnvironment, type Home, homeOf, until, untilEnd } from './runs.ts';
import {
  makeRepository,
  type Repository,
  type RunningService,
  scratchFolder,
  startService,
} from './service.ts';

const code = (word: string) => `resource "terraform_data" "it" { input = "${word}" }\n`;

describe('what follows from deployments', {
  skip: (await findProgram('terraform')) ? false : 'terraform is not on the PATH',
}, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let source: Repository;

  const start = async () => {
    service = await startService({
      folder,
      settings: { ENVARIUM_LOG_LEVEL: 'warn', ENVARIUM_BOOTSTRAP_API_SECRET: 'triggers'.repeat(8) },
    });
    client = service.client;
  };

  before(async () => {
    folder = await scratchFolder();
    await start();
    home = await homeOf(client);
    source = await makeRepository(folder, 'code', { 'main.tf': code('first') });
  });
  after(() => service?.[Symbol.asyncDispose]());

  /** An active environment. */
  async function createActive(name: string): Promise<string> {
    const { id, deploymentId } = await createEnvironment(client, home, {
      name,
      repository: source.path,
      requiresApproval: false,
    });
    await untilEnd(client, deploymentId);
    return id;
  }

  const causedBy = async (id: string, cause: string) =>
    (await client.call('listDeployments', { params: { id } })).filter((each) => each.causedBy === cause);
  /** Waits until there is one. @returns its id */
  const untilCaused = (id: string, cause: string) =>
    until('the deployment that follows', async () => (await causedBy(id, cause))[0]?.id);

  test('environments downstream are deployed once, though the service is killed after the success', async () => {
    const [upstream, downstream] = [await createActive('network'), await createActive('app')];
    await client.call('setDownstream', {
      params: { id: upstream },
      body: { downstreamEnvironmentIds: [downstream] },
    });
    const { id: cause } = await client.call('deployEnvironment', { params: { id: upstream } });
    await untilEnd(client, cause);
    await service.kill();
    await start();
    const followed = await untilCaused(downstream, cause);
    const ended = await untilEnd(client, followed);
    assert.deepEqual(
      [ended.status, ended.triggerName, ended.upstreamEnvironmentId],
      ['SUCCESS', 'workflow', upstream],
    );
    assert.equal((await causedBy(downstream, cause)).length, 1);
  });

  test('drift is remediated by the newest code, once, though the service is killed after the check', async () => {
    const id = await createActive('dns');
    await client.call('updateDriftSchedule', {
      params: { id },
      body: { enabled: false, autoDriftRemediation: 'CODE_TO_CLOUD' },
    });
    const commit = await source.commit({ 'main.tf': code('second') });
    const { id: check } = await client.call('deployEnvironment', {
      params: { id },
      body: { deploymentType: 'driftDetection' },
    });
    assert.equal((await untilEnd(client, check)).driftDetected, true);
    await service.kill();
    await start();
    const ended = await untilEnd(client, await untilCaused(id, check));
    assert.deepEqual(
      [ended.status, ended.trigger, ended.gitMetadata?.commit, ended.planSummary?.changed],
      ['SUCCESS', 'driftRemediation', commit, 1],
    );
    assert.equal((await causedBy(id, check)).length, 1);
    assert.equal((await client.call('getEnvironment', { params: { id } })).driftStatus, 'OK');
    const { remediation } = await client.call('getDeployment', { params: { id: check } });
    assert.deepEqual(remediation, { strategy: 'CODE_TO_CLOUD', deploymentId: ended.id });
  });
});
