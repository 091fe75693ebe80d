import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentId, fakeEnvironment, runAgainst } from '../testing/fake-service.ts';
import { warningsOf } from './report-warnings.ts';

test('each warning of the service is printed once, on standard error', async () => {
  const warned = (reply: object) => (_: unknown, response: import('node:http').ServerResponse) =>
    response
      .setHeader('x-envarium-warning', encodeURIComponent('continuousDeployment has no effect, yet'))
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
  assert.equal(stderr, 'Warning: continuousDeployment has no effect, yet\n');
  assert.equal((JSON.parse(stdout) as { id: string }).id, environmentId);
});

test('warnings are percent-encoded texts separated by commas, or one plain text', () => {
  assert.deepEqual(warningsOf(null), []);
  assert.deepEqual(warningsOf('a%20b, c%2C'), ['a b', 'c,']);
  assert.deepEqual(warningsOf('plain text, with a comma'), ['plain text, with a comma']);
  assert.deepEqual(warningsOf('100%'), ['100%']);
});
