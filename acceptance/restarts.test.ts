/**
 * Waiting work outlives the service: unapproved plans, queues, and their inputs.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { findProgram } from './programs.ts';
import { approveAndEnd, createEnvironment, type Home, homeOf, untilEnd, untilStatus } from './runs.ts';
import {
  makeRepository,
  type Repository,
  type RunningService,
  scratchFolder,
  startService,
} from './service.ts';

const code = (word: string) =>
  `variable "value" { type = string }\nresource "terraform_data" "it" { input = "${word} \${var.value}" }\noutput "it" { value = terraform_data.it.output }\n`;

describe('a plan that waits', {
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
      settings: { ENVARIUM_LOG_LEVEL: 'warn', ENVARIUM_BOOTSTRAP_API_SECRET: 'restarts'.repeat(8) },
    });
    client = service.client;
  };

  before(async () => {
    folder = await scratchFolder();
    await start();
    home = await homeOf(client);
    source = await makeRepository(folder, 'waiting', { 'main.tf': code('planned') });
  });
  after(() => service?.[Symbol.asyncDispose]());

  test('a waiting plan is applied unchanged after a restart, even if code and variables have changed', async () => {
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: source.path,
      requiresApproval: true,
      configurationChanges: [{ name: 'value', value: 'secret-then', type: 1, isSensitive: true }],
    });
    const planned = await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    const queued = await client.call('deployEnvironment', {
      params: { id },
      body: { configurationChanges: [{ name: 'value', value: 'secret-now', type: 1, isSensitive: true }] },
    });
    await source.commit({ 'main.tf': code('later') });
    await service.stop();
    await start();
    const found = await client.call('getDeployment', { params: { id: deploymentId } });
    assert.deepEqual(
      [found.status, found.planHash, found.waitingFor?.kind],
      ['WAITING_FOR_USER', planned.planHash, 'approval'],
    );
    const done = await approveAndEnd(client, deploymentId);
    const state = await client.bytes('getStateContent', { params: { id: done.stateVersionId ?? '' } });
    assert.match(Buffer.from(state).toString(), /planned secret-then/);
    await approveAndEnd(client, queued.id);
    const [current] = await client.call('listStateVersions', { params: { id } });
    assert.match(
      Buffer.from(await client.bytes('getStateContent', { params: { id: current?.id ?? '' } })).toString(),
      /later secret-now/,
    );
  });

  test('a waiting plan survives a killed service, and can be cancelled afterwards', async () => {
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: source.path,
      requiresApproval: true,
      configurationChanges: [{ name: 'value', value: 'x', type: 1 }],
    });
    await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    await service.kill();
    await start();
    await client.call('cancelDeployment', { params: { id: deploymentId } });
    await untilEnd(client, deploymentId, 'CANCELLED');
    await approveAndEnd(client, (await client.call('deployEnvironment', { params: { id } })).id);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  });
});
