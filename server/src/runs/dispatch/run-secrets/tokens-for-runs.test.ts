import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../../../../testing/agent.ts';
import { testApp } from '../../../../testing/app.ts';
import { ok } from '../../../../testing/client.ts';
import { createActive, deploy, deploymentOf } from '../../../../testing/environment.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';

test('plans of code that no one has reviewed get no tokens if the installation denies them', async () => {
  const app = await testApp({ ENVARIUM_UNREVIEWED_CODE_TOKENS: 'none' });
  const { organizationId } = app;
  const create = (name: string, body: object) =>
    ok(app, 'createGitToken', { body: { organizationId, name, value: `value-of-${name}`, ...body } });
  const own = await create('repository', {});
  await create('modules', { hosts: ['git.example'] });
  await create('registry', { type: 'REGISTRY', hosts: ['registry.example'] });
  const agent = await testAgent(app);
  const environment = await createActive(app, agent, { tokenId: own.id });
  const claim = async (deploymentType: string) => {
    await deploy(app, environment.id, { deploymentType });
    const job = await agent.claim();
    const { customServiceEnvironmentVariables: shown } = await deploymentOf(app, job.deploymentId);
    const exported = job.systemVariables['ENVARIUM_VCS_ACCESS_TOKEN'];
    assert.equal(shown?.vcsAccessToken, exported === undefined ? undefined : sensitiveMask, deploymentType);
    const finishedAt = new Date().toISOString();
    await agent.finish(job, { result: 'failed', finishedAt, failedCommand: 'x', error: { message: 'x' } });
    return job;
  };
  const reviewed = await claim('dryRun');
  assert.equal(reviewed.source.hostCredentials?.length, 1);
  assert.equal(reviewed.registryCredentials?.length, 1);
  assert.equal(reviewed.systemVariables['ENVARIUM_VCS_ACCESS_TOKEN'], 'value-of-repository');
  assert.equal(reviewed.source.areCredentialsForCheckoutOnly, undefined);
  const unreviewed = await claim('prPlan');
  assert.deepEqual(
    [unreviewed.source.hostCredentials, unreviewed.registryCredentials],
    [undefined, undefined],
  );
  assert.equal(unreviewed.systemVariables['ENVARIUM_VCS_ACCESS_TOKEN'], undefined);
  assert.equal(unreviewed.source.credentials?.password, 'value-of-repository', 'for the checkout');
  assert.equal(unreviewed.source.areCredentialsForCheckoutOnly, true);
});
