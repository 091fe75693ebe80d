import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ReplayServer, startReplayServer } from '../../../testing/secret-stores/replay-server.ts';
import { openAzure } from './azure.ts';

const tokenFile = join(tmpdir(), `azure-token-${randomUUID()}`);
const token = { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: 'eyJ.recorded' } };
const denial = {
  status: 403,
  body: {
    error: {
      code: 'Forbidden',
      message: 'Caller is not authorized',
      innererror: { code: 'ForbiddenByRbac' },
    },
  },
};

const of = (vault: string, name: string) => `GET /${vault}/secrets/${name}?api-version=7.4`;
const found = (value: string) => ({
  status: 200,
  body: {
    value,
    id: 'https://own-vault.vault.azure.net/secrets/x/1',
    attributes: { enabled: true, created: 1 },
  },
});
const machine =
  '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fvault.azure.net';
let server: ReplayServer;

before(async () => {
  server = await startReplayServer({
    'POST /tenant-1/oauth2/v2.0/token': token,
    'POST /tenant-2/oauth2/v2.0/token': {
      status: 401,
      body: { error: 'invalid_client', error_description: 'AADSTS7000215' },
    },
    [`GET ${machine}`]: token,
    [of('own-vault', 'text')]: found('recorded-value'),
    [of('own-vault', 'json')]: found('{"user":"app"}'),
    [of('own-vault', 'closed')]: denial,
  });
  await writeFile(tokenFile, 'federated-token\n');
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(tokenFile, { force: true });
});

const application = { AZURE_TENANT_ID: 'tenant-1', AZURE_CLIENT_ID: 'client-1' };

function read(
  name: string,
  environment: Record<string, string> = { ...application, AZURE_CLIENT_SECRET: 'client-secret' },
) {
  const settings = {
    azureVaultAddress: `${server.address}/{vault}`,
    gcpProject: undefined,
    gcpSecretsAddress: '',
    vaultAddress: undefined,
    vaultTokenFile: undefined,
  };
  const here = { AZURE_AUTHORITY_HOST: server.address, AZURE_POD_IDENTITY_AUTHORITY_HOST: server.address };
  return openAzure({ settings, environment: { ...here, ...environment } }).read(
    name,
    AbortSignal.timeout(10_000),
  );
}

test('a secret and a field of it are read with the token of the application', async () => {
  const from = server.requests.length;
  assert.deepEqual(await read('text@own-vault'), { text: 'recorded-value' });
  assert.deepEqual(await read('json@own-vault#user'), { text: 'app' });
  const [exchange, access] = server.requests.slice(from);
  assert.deepEqual(Object.fromEntries(exchange?.form ?? []), {
    grant_type: 'client_credentials',
    client_id: 'client-1',
    scope: 'https://vault.azure.net/.default',
    client_secret: 'client-secret',
  });
  assert.equal(access?.headers['authorization'], 'Bearer eyJ.recorded');
});

test('a workload proves itself with its federated token, a machine with its managed identity', async () => {
  const from = server.requests.length;
  assert.deepEqual(await read('text@own-vault', { ...application, AZURE_FEDERATED_TOKEN_FILE: tokenFile }), {
    text: 'recorded-value',
  });
  assert.equal(server.requests[from]?.form.get('client_assertion'), 'federated-token');
  assert.deepEqual(await read('text@own-vault', {}), { text: 'recorded-value' });
  assert.equal(server.requests[from + 2]?.headers['metadata'], 'true');
});

test('what cannot be read is refused with a reason', async () => {
  await assert.rejects(read('none@own-vault'), /the key vault has no such secret/);
  await assert.rejects(read('closed@own-vault'), /Key Vault Secrets User/);
  await assert.rejects(
    read('text@own-vault', { ...application, AZURE_TENANT_ID: 'tenant-2', AZURE_CLIENT_SECRET: 'x' }),
    /issued no token to the agent \(status 401\)/,
  );
  await assert.rejects(read('text@own-vault', { AZURE_CLIENT_SECRET: 'x' }), /AZURE_TENANT_ID is not set/);
  await assert.rejects(
    read('text@own-vault', { ...application, AZURE_FEDERATED_TOKEN_FILE: `${tokenFile}-none` }),
    /cannot be read \(ENOENT\)/,
  );
  // The name of a vault becomes a part of a host: nothing else may.
  for (const name of [
    '',
    'text',
    'text@',
    'text@own.example.com/',
    'text@a/b',
    'te/xt@own-vault',
    'text@own-vault@other',
  ])
    await assert.rejects(read(name), /the reference must have the form/);
});
