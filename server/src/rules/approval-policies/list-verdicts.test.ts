import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { insertVerdicts } from '../../rows/approval-policies/verdict-store.ts';

const { app, organizationId, projectId, ok, keyFor, createActive } = await startAgentTests();

test('a policy has its newest verdicts, for those who may see the environments', async () => {
  const path = 'efs-encryption-required';
  const body = { organizationId, name: 'files', repository: catalogueRepository, path };
  const { id } = await ok('createApprovalPolicy', { body });
  const environment = await createActive({ name: 'web' });
  const deploymentId = environment.latestDeploymentLogId ?? '';
  const messages = { deny: [], pending: ['look'], allow: [], warn: [] };
  const verdictOf = (round: number, decision: 'pending' | 'allow') => ({
    ...{ deployment_id: deploymentId, round, policy_id: id, policy_name: 'files', decision },
    ...{ repository: catalogueRepository, revision: '', path, milliseconds: 3 },
    ...{ messages: JSON.stringify(messages), created_at: new Date(Date.now() + round * 1000) },
  });
  await insertVerdicts(app.context.db, [verdictOf(1, 'pending'), verdictOf(2, 'allow')]);
  const params = { id };
  const [newest, older] = await ok('listPolicyVerdicts', { params });
  assert.deepEqual([newest?.round, newest?.decision, older?.round], [2, 'allow', 1]);
  assert.deepEqual(older?.messages, messages);
  assert.deepEqual(
    [newest?.environmentName, newest?.environmentId, newest?.deploymentId, newest?.deploymentType],
    ['web', environment.id, deploymentId, 'deploy'],
  );
  const page = await ok('listPolicyVerdicts', { params, query: { limit: '1', offset: '1' } });
  assert.deepEqual(fieldOf(page, 'round'), [1]);
  const member = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  assert.deepEqual(await ok('listPolicyVerdicts', { params, as: member }), []);
  const viewer = await keyFor(['VIEW_PROJECT', 'VIEW_ENVIRONMENT'], { projectId }, ['VIEW_ORGANIZATION']);
  assert.equal((await ok('listPolicyVerdicts', { params, as: viewer })).length, 2);
});
