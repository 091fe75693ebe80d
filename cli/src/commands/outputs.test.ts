import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentId, fakeDeployment, runAgainst } from '../../testing/fake-service.ts';

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

test('outputs of several units are shown with the path of their unit, and named by it', async () => {
  const byUnit = [
    { moduleName: 'live/vpc', output: { id: { value: 'vpc-1', sensitive: false, type: 'string' } } },
    { moduleName: 'live/app', output },
  ];
  const units = {
    [`GET /environments/deployments/${deploymentId}`]: fakeDeployment({
      output: byUnit,
      stateVersionId: 's1',
    }),
    'GET /state-versions/s1/content': {
      units: { 'live/app': { outputs: { token: { value: 'the real value', sensitive: true } } } },
    },
  };
  const all = await runAgainst(['outputs', deploymentId], units);
  assert.match(all.stdout, /live\/app\.plain +x\n.*live\/app\.token.*\n.*live\/vpc\.id +vpc-1\n/);
  const one = await runAgainst(['outputs', deploymentId, '--name', 'live/vpc.id'], units);
  assert.equal(one.stdout, 'vpc-1\n');
  const args = ['outputs', deploymentId, '--name', 'live/app.token', '--show-sensitive'];
  assert.equal((await runAgainst(args, units)).stdout, 'the real value\n');
  const json = await runAgainst(['outputs', deploymentId, '--json'], units);
  assert.deepEqual(JSON.parse(json.stdout), byUnit, 'programs get what the service sends');
});
