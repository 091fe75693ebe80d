import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Diagnostic } from '#contract/deployments/diagnostics.ts';
import { covers } from '#contract/documents/coverage.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { agent, ok, createEnvironment, deploymentOf } = await startAgentTests();

const check: Diagnostic = {
  severity: 'check',
  step: 'tf:plan',
  text: 'Warning: Check block assertion failed',
};
const warning: Diagnostic = { severity: 'warning', step: 'tf:plan', text: 'Warning: Deprecated' };
const error: Diagnostic = { severity: 'error', step: 'tf:apply', text: 'Error: no' };

test('a deployment shows what its tool reported in both phases, errors first; lists do not', async () => {
  covers('Deployment', 'diagnostics');
  covers('Diagnostic', 'severity', 'step', 'text');
  const { id, latestDeploymentLogId } = await createEnvironment();
  const deploymentId = latestDeploymentLogId ?? '';
  await agent.plan({ diagnostics: [check, warning] });
  assert.deepEqual((await deploymentOf(deploymentId)).diagnostics, [check, warning]);
  await ok('approveDeployment', { id: deploymentId });
  const apply = await agent.claim();
  await agent.finish(apply, {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    error: { message: 'Error: no' },
    // Some warnings are in both phases.
    diagnostics: [error, { ...warning, step: 'tf:apply' }],
  });
  const ended = await deploymentOf(deploymentId);
  assert.equal(ended.status, 'FAILURE');
  assert.deepEqual(ended.diagnostics, [error, check, warning]);
  const [listed] = await ok('listDeployments', { id });
  assert.deepEqual([listed?.id, listed?.diagnostics], [deploymentId, undefined]);
});
