import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentOf } from './declaration.ts';
import { identityEnvironment, secretStoreSettings } from './secret-stores.ts';
import { readProgramSettings } from './settings.ts';

const environment = {
  PATH: '/bin',
  HOME: '/home/service',
  AWS_REGION: 'eu-west-1',
  AZURE_CLIENT_ID: 'client',
  GOOGLE_APPLICATION_CREDENTIALS: '/key.json',
  DATABASE_PASSWORD: 'other',
};

test('an agent gets the identity for the stores that it may read from, and no other', () => {
  const names = (stores: readonly ('ssm' | 'vault' | 'gcp' | 'azure')[]) =>
    Object.keys(
      identityEnvironment(
        environment,
        stores.map((store) => ({ store, pattern: '*' })),
      ),
    );
  assert.deepEqual(names([]), []);
  assert.deepEqual(names(['vault']), []);
  assert.deepEqual(names(['ssm']), ['HOME', 'AWS_REGION']);
  const addresses = { AWS_ENDPOINT_URL_EKS: 'http://a', AZURE_AUTHORITY_HOST: 'http://b' };
  assert.deepEqual(identityEnvironment(addresses, []), addresses);
  assert.deepEqual(names(['gcp', 'azure']), ['AZURE_CLIENT_ID', 'GOOGLE_APPLICATION_CREDENTIALS']);
});

test('the settings of stores are handed on as they were read', () => {
  const environment = {
    ENVARIUM_SECRET_REFERENCES: 'ssm:/a/*,vault:apps/{projectId}/*',
    ENVARIUM_SECRET_REFERENCES_TIMEOUT_SECONDS: '5',
    ENVARIUM_GCP_SECRETS_ADDRESS: 'https://secrets.example.com',
    ENVARIUM_AZURE_VAULT_ADDRESS: 'https://{vault}.vault.azure.cn',
  };
  const values = readProgramSettings(secretStoreSettings, environment);
  assert.deepEqual(environmentOf(secretStoreSettings, values), environment);
});

test('the address of vaults must contain their name once', () => {
  for (const value of ['https://vault.azure.net', 'ftp://{vault}.x', 'https://{vault}.{vault}.x'])
    assert.throws(
      () => readProgramSettings(secretStoreSettings, { ENVARIUM_AZURE_VAULT_ADDRESS: value }),
      /ENVARIUM_AZURE_VAULT_ADDRESS must be/,
    );
});
