import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { environmentId, fakeEnvironment, runAgainst } from '../../testing/fake-service.ts';

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

const shown = '019366a0-0000';
const other = fakeEnvironment({ id: `${shown}-7000-9000-000000000009`, name: 'other' });

test('the beginning of an id, as a table shows it, finds an environment', async () => {
  const found = await runAgainst(['environment', 'show', shown, '--json'], {
    'GET /environments': (request, response) =>
      void response.end(
        JSON.stringify(request.url?.includes(`searchText=${shown}`) ? [fakeEnvironment()] : []),
      ),
  });
  assert.equal(found.status, 0, found.stderr);
  assert.equal((JSON.parse(found.stdout) as { id: string }).id, environmentId);
});

test('the beginning of several ids is refused with the candidates, and an exact name wins', async () => {
  const replies = (environments: readonly object[]) => ({
    'GET /environments': (request: IncomingMessage, response: ServerResponse) =>
      void response.end(
        JSON.stringify(request.url?.includes('searchText=') ? [fakeEnvironment(), other] : environments),
      ),
    'GET /projects': [],
  });
  const { status, stderr, seen } = await runAgainst(['destroy', shown], replies([]));
  assert.equal(status, 2);
  assert.match(stderr, /2 environments have an id that begins with "019366a0-0000"\. Use more of it:/);
  assert.match(stderr, /^ {2}019366a0-0000-7000-9000-000000000009 {2}project/m);
  assert.ok(seen.every(({ call }) => call.startsWith('GET')));
  const exact = await runAgainst(
    ['environment', 'show', shown, '--json'],
    replies([fakeEnvironment({ name: shown })]),
  );
  assert.equal((JSON.parse(exact.stdout) as { id: string }).id, environmentId);
});

test('the beginning of an id finds a project', async () => {
  const { status, stdout, stderr } = await runAgainst(['project', 'show', '019366A1', '--json'], {
    'GET /organizations': [{ id: 'o1', name: 'O' }],
    'GET /projects': [
      { id: '019366a1-0000-7000-8000-000000000001', name: 'Shop', hierarchy: 'Shop' },
      { id: '019366a2-0000-7000-8000-000000000001', name: 'Blog', hierarchy: 'Blog' },
    ],
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Shop/);
});

test('a deployment needs its whole id, and the error says where it is shown', async () => {
  const { status, stderr } = await runAgainst(['logs', shown], {});
  assert.equal(status, 2);
  assert.match(stderr, /only the beginning of an id: "envarium deployments list"/);
});
