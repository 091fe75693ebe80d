import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApiDocument } from '#contract/documents/openapi.ts';
import { startTests } from '../../../testing/start.ts';

const { app, call, createBody, createIdle } = await startTests();
const name = 'x-envarium-warning';
const pushes =
  'continuousDeployment is stored but has no effect yet: pushes to the repository do not start deployments.';
const plans = 'pullRequestPlanDeployments is stored but has no effect yet: pull requests do not start plans.';

test('a reply warns about each option that is turned on and has no effect yet', async () => {
  const { id } = await createIdle();
  const params = { id };
  const both = { continuousDeployment: true, pullRequestPlanDeployments: true };
  const created = await call('createEnvironmentWithoutTemplate', {
    body: createBody({ ...both, preventAutoDeploy: true }),
  });
  assert.equal(created.headers[name], `${pushes} | ${plans}`);
  const updated = await call('updateEnvironment', { params, body: { continuousDeployment: true } });
  assert.equal(updated.headers[name], pushes);
  const inside = { continuousDeployment: true, preventAutoDeploy: true };
  const again = await call('createEnvironmentWithoutTemplate', { body: createBody(inside) });
  assert.equal(again.headers[name], pushes);
});

test('of a policy, only what pushes and pull requests would do is without effect', async () => {
  const projectId = app.projectId;
  const all = { includeCostEstimation: true, skipRedundantDeployments: true, outputsAsInputsEnabled: true };
  const changed = await call('updatePolicy', { body: { projectId, ...all } });
  assert.deepEqual([changed.statusCode, changed.headers[name]], [200, undefined]);
  const forges = await call('updatePolicy', { body: { projectId, continuousDeploymentDefault: true } });
  assert.match(
    String(forges.headers[name]),
    /^continuousDeploymentDefault is stored but has no effect yet: /,
  );
});

test('flags of an organization that nothing reads yet are answered with a warning, and enableOidc without', async () => {
  const params = { id: app.organizationId };
  const change = (body: object) => call('updateOrganizationPolicies', { params, body });
  const flags = await change({ disablePrComments: true, enableOidc: true });
  assert.equal(
    flags.headers[name],
    'disablePrComments is stored but has no effect yet: no comments are written on pull requests.',
  );
  assert.equal((await change({ disablePrComments: false, enableOidc: false })).headers[name], undefined);
});

test('a reply does not warn about options that are off, nor about a request that is refused', async () => {
  const off = { continuousDeployment: false, pullRequestPlanDeployments: false, preventAutoDeploy: true };
  const created = await call('createEnvironmentWithoutTemplate', { body: createBody(off) });
  assert.deepEqual([created.statusCode, created.headers[name]], [200, undefined]);
  const refused = await call('createEnvironmentWithoutTemplate', {
    body: createBody({ continuousDeployment: true, path: '..' }),
  });
  assert.deepEqual([refused.statusCode, refused.headers[name]], [400, undefined]);
});

test('the description of the API says of operations with such options what the header is about', () => {
  const { paths } = openApiDocument({ version: '1' }) as {
    paths: Record<
      string,
      Record<string, { responses: { 200: { headers: Record<string, { $ref: string }> } } }>
    >;
  };
  const header = (path: string, method: string) => paths[path]?.[method]?.responses[200].headers[name]?.$ref;
  const ofOptions = '#/components/headers/WarningOfOptions';
  assert.equal(header('/environments/without-template', 'post'), ofOptions);
  assert.equal(header('/environments/{id}', 'put'), ofOptions);
  assert.equal(header('/environments/{id}/ttl', 'put'), '#/components/headers/Warning');
});
