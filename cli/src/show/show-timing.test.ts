import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentId, runAgainst } from '../../testing/fake-service.ts';

const nothing = { toolMilliseconds: 0, gitMilliseconds: 0, waitingMilliseconds: 0, ownMilliseconds: 0 };
const timeline = {
  deploymentLogId: deploymentId,
  ...nothing,
  milliseconds: 90_215,
  toolMilliseconds: 200,
  waitingMilliseconds: 90_000,
  ownMilliseconds: 15,
  phases: [
    {
      phase: 'plan',
      run: 'plan',
      step: 'tf:plan',
      ...nothing,
      milliseconds: 215,
      toolMilliseconds: 200,
      ownMilliseconds: 15,
    },
    { phase: 'approval', ...nothing, milliseconds: 90_000, waitingMilliseconds: 90_000 },
  ],
  commands: [],
};
const replies = { [`GET /environments/deployments/${deploymentId}/timeline`]: timeline };

test('the timing of a deployment is a table of its phases with the total', async () => {
  const { status, stdout } = await runAgainst(['deployments', 'show', deploymentId, '--timing'], replies);
  assert.equal(status, 0);
  assert.match(stdout, /^plan +plan +tf:plan +215 ms +200 ms +15 ms$/m);
  assert.match(stdout, /^ +approval +1 min 30 s +1 min 30 s$/m);
  assert.match(stdout, /^ +total +1 min 30 s +200 ms +1 min 30 s +15 ms$/m);
});

test('the timing of a deployment as JSON is the reply of the service', async () => {
  const { stdout } = await runAgainst(['deployments', 'show', deploymentId, '--timing', '--json'], replies);
  assert.deepEqual(JSON.parse(stdout), timeline);
});
