import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentId, fakeDeployment, runAgainst } from '../testing/fake-service.ts';

const output = {
  token: { value: '*****', sensitive: true, type: 'string' },
  plain: { value: 'x', sensitive: false, type: 'string' },
};
const replies = {
  [`GET /environments/deployments/${deploymentId}`]: fakeDeployment({ output, stateVersionId: 's1' }),
  'GET /state-versions/s1/content': { outputs: { token: { value: 'the real value', sensitive: true } } },
};

test('outputs --name of a sensitive output is an error that names the flag and the right', async () => {
  const { status, stdout, stderr } = await runAgainst(['outputs', deploymentId, '--name', 'token'], replies);
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /sensitive: --show-sensitive .* READ_STATE/);
});

test('outputs --name --show-sensitive prints the value from the state', async () => {
  const args = ['outputs', deploymentId, '--show-sensitive'];
  const { status, stdout, stderr } = await runAgainst([...args, '--name', 'token'], replies);
  assert.deepEqual([status, stdout], [0, 'the real value\n'], stderr);
  assert.equal((await runAgainst(args, replies)).status, 2, 'it requires --name');
});

test('outputs --show-sensitive says so if the service does not keep the state', async () => {
  const { status, stderr } = await runAgainst(
    ['outputs', deploymentId, '--name', 'token', '--show-sensitive'],
    { [`GET /environments/deployments/${deploymentId}`]: fakeDeployment({ output }) },
  );
  assert.equal(status, 2);
  assert.match(stderr, /does not keep the state/);
});
