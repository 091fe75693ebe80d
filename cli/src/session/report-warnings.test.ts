import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentId, fakeEnvironment, runAgainst } from '../../testing/fake-service.ts';

test('each warning of the service is printed once, on a line of its own on standard error', async () => {
  const warned = (reply: object) => (_: unknown, response: import('node:http').ServerResponse) =>
    response
      .setHeader('x-envarium-warning', 'continuousDeployment has no effect, yet. | Second sentence.')
      .end(JSON.stringify(reply));
  const { status, stdout, stderr } = await runAgainst(
    ['environment', 'update', 'web', '--continuous-deployment', '--json'],
    {
      'GET /environments': (request, response) => void warned([fakeEnvironment()])(request, response),
      [`PUT /environments/${environmentId}`]: (request, response) =>
        void warned(fakeEnvironment())(request, response),
    },
  );
  assert.equal(status, 0, stderr);
  assert.equal(stderr, 'Warning: continuousDeployment has no effect, yet.\nWarning: Second sentence.\n');
  assert.equal((JSON.parse(stdout) as { id: string }).id, environmentId);
});
