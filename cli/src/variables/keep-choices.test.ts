import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  deploymentId,
  environmentId,
  fakeDeployment,
  fakeEnvironment,
  runAgainst,
} from '../../testing/fake-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'envarium-cli-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'web.tfvars');
writeFileSync(file, 'version = "1.30"\nsize = "big"\ncount = 2\n');

const deploy = `POST /environments/${environmentId}/deployments`;
const replies = {
  'GET /environments': [fakeEnvironment()],
  'GET /configuration': [
    { name: 'version', type: 1, schema: { format: 'JSON' } },
    { name: 'size', type: 1, schema: { type: 'string', enum: ['small', 'big'] } },
    { name: 'kind', type: 1, schema: { format: 'HCL' } },
  ],
  [deploy]: fakeDeployment({ status: 'IN_PROGRESS' }),
  [`GET /environments/deployments/${deploymentId}`]: fakeDeployment(),
};

/** The variables that a call of `deploy` sends. */
async function sent(...args: string[]): Promise<unknown> {
  const { seen, stderr } = await runAgainst(['deploy', 'web', ...args], replies);
  const body = seen.find(({ call }) => call === deploy)?.body;
  assert.ok(body, stderr);
  return (body as { configurationChanges?: unknown }).configurationChanges;
}

test('quoted texts of a file are sent as texts, with the choices that the variable allows', async () => {
  assert.deepEqual(await sent('--var-file', file, '--text-var', 'kind=1.10', '--var', 'count=3'), [
    { name: 'count', value: '3', type: 1 },
    { name: 'kind', value: '1.10', type: 1, schema: { type: 'string' } },
    { name: 'version', value: '1.30', type: 1, schema: { type: 'string' } },
    { name: 'size', value: 'big', type: 1, schema: { type: 'string', enum: ['small', 'big'] } },
  ]);
});

test('variables that keep their format are sent without a look at what is stored', async () => {
  const { seen } = await runAgainst(['deploy', 'web', '--var', 'count=3'], replies);
  assert.ok(seen.some(({ call }) => call === deploy));
  assert.ok(seen.every(({ call }) => call !== 'GET /configuration'));
});

test('the choices are those of the template that the environment is switched to', async () => {
  let requestedUrl = '';
  await runAgainst(['deploy', 'web', '--template', 'other', '--var-file', file], {
    ...replies,
    'GET /blueprints': [{ id: 't2', name: 'other' }],
    'GET /configuration': ({ url = '' }, response) => {
      requestedUrl = url;
      response.end('[]');
    },
  });
  assert.match(requestedUrl, /[?&]blueprintId=t2(&|$)/);
});

test('a set that is edited keeps the choices of its variables', async () => {
  const set = { id: 's1', name: 'shared' };
  const { seen, stderr } = await runAgainst(['set', 'edit', 'shared', '--var-file', file], {
    ...replies,
    'GET /organizations': [{ id: 'o1', name: 'Envarium' }],
    'GET /configuration-sets': [set],
    'GET /configuration': [
      { id: 'v1', name: 'size', type: 1, schema: { type: 'string', enum: ['small', 'big'] } },
    ],
    'PUT /configuration-sets/s1': set,
  });
  const body = seen.find(({ call }) => call === 'PUT /configuration-sets/s1')?.body as {
    configurationPropertiesChanges?: readonly { name: string; id?: string; schema?: unknown }[];
  };
  assert.ok(body, stderr);
  assert.deepEqual(
    body.configurationPropertiesChanges?.find(({ name }) => name === 'size'),
    { id: 'v1', name: 'size', value: 'big', type: 1, schema: { type: 'string', enum: ['small', 'big'] } },
  );
});
