import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify } from 'jose';
import type { Job } from '#protocol/messages/job.ts';
import { freePort } from '../../../../tools/suite/free-port.ts';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import { createEnvironment } from '../../../testing/environment.ts';
import { startTests } from '../../../testing/start.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import { rotateKeys } from './rotate-keys.ts';

// Tokens name the address before the service listens.
const port = await freePort();
const issuer = `http://127.0.0.1:${port}`;
const { app, organizationId, projectId, forgetWork } = await startTests({ ENVARIUM_BASE_URL: `${issuer}/` });
await app.app.listen({ host: '127.0.0.1', port });
const agent = await testAgent(app);
const roleArn = 'arn:aws:iam::123456789012:role/deployer';

async function claimed(more: object = {}) {
  const environment = await createEnvironment(app, more);
  const job = await agent.claim();
  await forgetWork();
  return { environment, job };
}

async function assigned(type: 'AWS_OIDC' | 'AZURE_OIDC' | 'GCP_OIDC' | 'VAULT_OIDC', value: object) {
  const body = { organizationId, name: type, type, value };
  const { id } = await ok(app, 'createCredential', { body });
  const params = { credentialId: id, projectId };
  await ok(app, 'assignCredential', { params });
  return async () => {
    await ok(app, 'unassignCredential', { params });
    await ok(app, 'deleteCredential', { id });
  };
}

interface Discovery {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly claims_supported: readonly string[];
}

/** As clouds do it: by what the issuer of the token publishes. */
async function verified(token: string, audience: string) {
  const reply = await fetch(`${issuer}/.well-known/openid-configuration`);
  const discovery = (await reply.json()) as Discovery;
  assert.equal(reply.headers.get('cache-control'), 'public, max-age=3600');
  const keys = createRemoteJWKSet(new URL(discovery.jwks_uri));
  const { payload, protectedHeader } = await jwtVerify(token, keys, { issuer: discovery.issuer, audience });
  assert.equal(protectedHeader.alg, 'RS256');
  for (const name of Object.keys(payload)) assert.ok(discovery.claims_supported.includes(name), name);
  return payload;
}

test('a run gets a token about itself, which a standard library verifies by the published keys', async () => {
  const remove = await assigned('AWS_OIDC', { roleArn, tokenFormat: 'v2' });
  const { environment, job } = await claimed();
  const token = job.credentials?.[0]?.token ?? '';
  const payload = await verified(token, 'sts.amazonaws.com');
  const { iat, nbf, exp, jti, ...rest } = payload;
  assert.deepEqual(rest, {
    iss: issuer,
    sub: `organization:${organizationId}:project:${projectId}:environment:${environment.id}:type:deploy:phase:plan`,
    aud: 'sts.amazonaws.com',
    organization_id: organizationId,
    project_id: projectId,
    project_path: [projectId],
    environment_id: environment.id,
    template_id: environment.blueprintId,
    deployment_id: job.deploymentId,
    deployment_type: 'deploy',
    phase: 'plan',
  });
  assert.ok((exp ?? 0) - (iat ?? 0) >= job.limits.runSeconds, 'valid for the whole phase');
  assert.ok((exp ?? 0) - (iat ?? 0) <= 86_400);
  assert.ok((nbf ?? 0) < (iat ?? 0) && jti);
  assert.ok(job.secrets.includes(token), 'masked in logs');
  await remove();
});

test('the subject of the format v1 is the one that the service tells', async () => {
  const remove = await assigned('AZURE_OIDC', {
    clientId: organizationId,
    subscriptionId: organizationId,
    tenantId: organizationId,
  });
  const { job } = await claimed();
  const { sub } = await verified(job.credentials?.[0]?.token ?? '', 'api://AzureADTokenExchange');
  const { statusCode, body, headers } = await app.app.inject({
    url: `/api/api-keys/oidc-sub?organizationId=${organizationId}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${app.admin.id}:${app.admin.secret}`).toString('base64')}`,
    },
  });
  assert.deepEqual([statusCode, body], [200, sub]);
  assert.match(String(headers['content-type']), /^text\/plain/);
  await remove();
});

test('each cloud gets the audience that it expects', async () => {
  const pool = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/e';
  const configuration = {
    type: 'external_account',
    audience: pool,
    token_url: 'https://sts.googleapis.com/v1/token',
  };
  const removeGcp = await assigned('GCP_OIDC', {
    credentialConfigurationFileContent: JSON.stringify(configuration),
  });
  const removeVault = await assigned('VAULT_OIDC', {
    address: 'https://vault.example:8200',
    jwtAuthBackendPath: 'jwt',
    roleName: 'deployer',
  });
  const { credentials = [] } = (await claimed()).job;
  assert.deepEqual(
    credentials.map(({ token = '' }) => decodeJwt(token).aud),
    [`https:${pool}`, 'https://vault.example:8200'],
  );
  await removeGcp();
  await removeVault();
});

test('ENVARIUM_OIDC_TOKEN is there where the organization wants it, and masked', async () => {
  const shown = async ({ deploymentId }: Job) => {
    const { customServiceEnvironmentVariables } = await ok(app, 'getDeployment', { id: deploymentId });
    return customServiceEnvironmentVariables ?? {};
  };
  const without = (await claimed()).job;
  assert.equal(without.systemVariables['ENVARIUM_OIDC_TOKEN'], undefined);
  assert.equal((await shown(without)).oidcToken, undefined);
  const params = { id: organizationId };
  await ok(app, 'updateOrganizationPolicies', { params, body: { enableOidc: true } });
  const { job } = await claimed();
  const token = job.systemVariables['ENVARIUM_OIDC_TOKEN'] ?? '';
  const payload = await verified(token, issuer);
  assert.equal(payload.sub, `organization:${organizationId}`);
  assert.ok(job.secrets.includes(token));
  const { oidcToken, ...others } = await shown(job);
  assert.equal(oidcToken, sensitiveMask);
  assert.equal(JSON.stringify(others).includes(token), false);
  const deployRequest = { customServiceEnvironmentVariables: { ...others, oidcToken } };
  const again = (await claimed({ deployRequest })).job.systemVariables['ENVARIUM_OIDC_TOKEN'] ?? '';
  assert.equal((await verified(again, issuer)).sub, payload.sub, 'a mask that is sent back changes nothing');
  await ok(app, 'updateOrganizationPolicies', { params, body: { enableOidc: false } });
});

test('keys are replaced: tokens of the old key are accepted, and the old key leaves with its last token', async () => {
  const remove = await assigned('AWS_OIDC', { roleArn });
  const audience = 'sts.amazonaws.com';
  const published = async () => {
    const { keys } = (await (await fetch(`${issuer}/.well-known/jwks.json`)).json()) as { keys: object[] };
    return keys;
  };
  const kid = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;
  const tokenNow = async () => (await claimed()).job.credentials?.[0]?.token ?? '';
  const first = await tokenNow();
  app.advance(29 * 86_400);
  await rotateKeys(app.context);
  await rotateKeys(app.context);
  assert.equal((await published()).length, 2, 'the next key is published before it signs');
  assert.equal(kid(await tokenNow()), kid(first));
  app.advance(86_400 + 60);
  const second = await tokenNow();
  assert.notEqual(kid(second), kid(first));
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
  const currentDate = new Date(app.context.now());
  await jwtVerify(second, keys, { issuer, audience, currentDate });
  await assert.rejects(jwtVerify(first, keys, { issuer, audience, currentDate }), errors.JWTExpired);
  app.advance(2 * 86_400);
  await rotateKeys(app.context);
  assert.equal((await published()).length, 1);
  await assert.rejects(
    jwtVerify(first, createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))),
    errors.JWKSNoMatchingKey,
  );
  for (const key of await published())
    assert.deepEqual(Object.keys(key).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  await remove();
});

test('a new key begins a day after it was published, even if that is late', async () => {
  const { context, database } = await testApp();
  const now = new Date('2030-01-31T00:00:00Z');
  /** When a new key starts to sign, and which of the others are left. */
  const rotated = async (...keys: readonly (readonly [id: string, signsFrom: string])[]) => {
    await database.pool.query('delete from oidc_key');
    for (const key of keys)
      await database.pool.query(
        "insert into oidc_key (id, public_key, sealed_private_key, created_at, signs_from) values ($1, '{}', '', now(), $2)",
        [...key],
      );
    await rotateKeys({ ...context, now: () => now });
    const { rows } = await database.pool.query<{ id: string; signs_from: Date }>(
      'select id, signs_from from oidc_key order by id',
    );
    const isOld = ({ id }: { readonly id: string }) => keys.some(([known]) => known === id);
    const made = rows.filter((row) => !isOld(row)).map((row) => row.signs_from.toISOString());
    return { made, left: rows.filter(isOld).map(({ id }) => id) };
  };
  assert.deepEqual(await rotated(), { made: [now.toISOString()], left: [] });
  assert.deepEqual(await rotated(['a', '2030-01-20T00:00:00Z']), { made: [], left: ['a'] });
  const late = ['2030-02-01T00:00:00.000Z'];
  assert.deepEqual(await rotated(['a', '2030-01-02T00:00:00Z']), { made: late, left: ['a'] });
  assert.deepEqual(await rotated(['b', '2029-06-01T00:00:00Z'], ['a', '2029-05-01T00:00:00Z']), {
    made: late,
    left: ['b'],
  });
  assert.deepEqual(await rotated(['b', '2030-02-01T00:00:00Z'], ['a', '2030-01-02T00:00:00Z']), {
    made: [],
    left: ['a', 'b'],
  });
});

test('without a public address, nothing is issued, and runs learn why', async () => {
  const hidden = await testApp();
  const { organizationId, projectId } = hidden;
  for (const path of ['openid-configuration', 'jwks.json']) {
    const { statusCode, body } = await hidden.app.inject({ url: `/.well-known/${path}` });
    assert.equal(statusCode, 404);
    assert.match(body, /ENVARIUM_BASE_URL/);
  }
  const params = { id: organizationId };
  await ok(hidden, 'updateOrganizationPolicies', { params, body: { enableOidc: true } });
  const body = { organizationId, name: 'aws', type: 'AWS_OIDC', value: { roleArn } } as const;
  const { id: credentialId } = await ok(hidden, 'createCredential', { body });
  await ok(hidden, 'assignCredential', { params: { credentialId, projectId } });
  const other = await testAgent(hidden);
  await createEnvironment(hidden);
  const job = await other.claim();
  assert.match(job.credentials?.[0]?.problem ?? '', /ENVARIUM_BASE_URL/);
  assert.equal(job.systemVariables['ENVARIUM_OIDC_TOKEN'], undefined);
});
