import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeEnvironment, runAgainst } from './testing/fake-service.ts';

test('an ambiguous name lists the candidates with id, project and status, and how to choose', async () => {
  const { status, stderr, seen } = await runAgainst(['deploy', 'web'], {
    'GET /environments': [
      fakeEnvironment({ id: 'e1', projectId: 'p1', status: 'ACTIVE' }),
      fakeEnvironment({ id: 'e2', projectId: 'p2', status: 'FAILED' }),
    ],
    'GET /projects': [
      { id: 'p1', name: 'Shop' },
      { id: 'p2', name: 'Blog' },
    ],
  });
  assert.equal(status, 2);
  assert.match(stderr, /2 environments are named "web"\. Use an id instead of the name:/);
  assert.match(stderr, /^ {2}e1 {2}project Shop, ACTIVE$/m);
  assert.match(stderr, /^ {2}e2 {2}project Blog, FAILED$/m);
  assert.ok(seen.every(({ call }) => call.startsWith('GET')));
});
