import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ExactNumber } from '#contract/schema/exact-json.ts';
import {
  startVaultServer,
  type VaultServer,
  vaultToken,
} from '../../../testing/secret-stores/vault-server.ts';
import { fieldOf, type SecretStore } from './secret-store.ts';
import { openVault } from './vault.ts';

const tokenFile = join(tmpdir(), `vault-token-${randomUUID()}`);
let server: VaultServer;

before(async () => {
  server = await startVaultServer();
  await writeFile(tokenFile, `${vaultToken}\n`);
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(tokenFile, { force: true });
});

function open(changes: { vaultAddress?: string; vaultTokenFile?: string } = {}): SecretStore {
  const settings = {
    vaultAddress: server.address,
    vaultTokenFile: tokenFile,
    gcpProject: undefined,
    gcpSecretsAddress: '',
    azureVaultAddress: '',
    ...changes,
  };
  return openVault({ settings, environment: {} });
}

const read = (name: string, store = open()) => store.read(name, AbortSignal.timeout(5_000));

test('both versions of the key-value engine are read by the path of the command line', async () => {
  server.putV1('apps/one', { password: 'first-version', port: 5432, nested: { a: 1 } });
  server.putV2('apps/two', { password: 'second-version' });
  assert.deepEqual(await read('kv/apps/one.password'), { text: 'first-version' });
  assert.deepEqual(await read('kv/apps/one.port@'), { text: '5432' });
  assert.deepEqual(await read('kv/apps/one.nested'), { text: '{"a":1}' });
  assert.deepEqual(await read('secret/apps/two.password'), { text: 'second-version' });
  assert.deepEqual(await read('secret/data/apps/two.password'), { text: 'second-version' });
});

test('numbers keep every digit', async () => {
  const large = new ExactNumber('12345678901234567890');
  server.putV2('numbers', { large, rate: new ExactNumber('1.10'), nested: { large } });
  assert.deepEqual(await read('secret/numbers.large'), { text: '12345678901234567890' });
  assert.deepEqual(await read('secret/numbers.rate'), { text: '1.10' });
  assert.deepEqual(await read('secret/numbers.nested'), { text: '{"large":12345678901234567890}' });
  assert.equal(fieldOf('{"account": 12345678901234567890, "rate": 1.10}', 'account'), '12345678901234567890');
  assert.equal(fieldOf('{"account": 12345678901234567890, "rate": 1.10}', 'rate'), '1.10');
  assert.throws(() => fieldOf('12345678901234567890', 'text'), /has no field "text"/);
});

test('a token that may not look up mounts reads version 2 by the path of the HTTP interface', async () => {
  server.putV2('apps/three', { password: 'third' });
  server.denied.add('sys/internal/ui/mounts/secret/data/apps/three');
  assert.deepEqual(await read('secret/data/apps/three.password'), { text: 'third' });
});

test('the namespace is sent, and separates secrets', async () => {
  server.putV2('shared', { key: 'of-the-team' }, 'org/team-a');
  assert.deepEqual(await read('secret/shared.key@org/team-a'), { text: 'of-the-team' });
  await assert.rejects(read('secret/shared.key@org/team-b'), /has no secret at this path/);
});

test('a path is read once per run, so that the parts of a lent credential belong together', async () => {
  const store = open();
  const [username, password] = await Promise.all([
    read('database/creds/app.username', store),
    read('database/creds/app.password', store),
  ]);
  assert.equal(username.leaseSeconds, 60);
  assert.equal(username.text.replace('v-token-', ''), password.text.replace('lent-password-', ''));
  assert.notEqual((await read('database/creds/app.username')).text, username.text);
});

test('what cannot be read is refused with a reason', async () => {
  server.putV2('gone', { key: 'value' });
  server.deleteV2('gone');
  server.putV2('closed', { key: 'value' });
  server.denied.add('secret/data/closed');
  await assert.rejects(read('secret/gone.key'), /or its version was deleted/);
  await assert.rejects(read('secret/apps/two.other'), /no field "other"/);
  await assert.rejects(read('secret/apps/two.__proto__'), /no field "__proto__"/);
  await assert.rejects(read('secret/closed.key'), /its policies do not allow/);
  for (const name of [
    '',
    'secret',
    'secret/../sys/raw.key',
    '/secret/a.key',
    'secret//a.key',
    'secret/a?b.key',
  ])
    await assert.rejects(
      read(name),
      /the reference must have the form|an empty segment or an unusual character/,
    );
  await assert.rejects(read('secret/a.key@x\r\ny'), /the namespace of the reference/);
});

test('a sealed Vault, a wrong token, a missing file and a missing address have reasons of their own', async () => {
  server.isSealed = true;
  await assert.rejects(read('kv/apps/one.password'), /Vault is sealed/);
  server.isSealed = false;
  await writeFile(tokenFile, 'hvs.old');
  await assert.rejects(read('kv/apps/one.password'), /ENVARIUM_VAULT_TOKEN_FILE has expired/);
  await writeFile(tokenFile, vaultToken);
  await assert.rejects(
    read('kv/a.b', open({ vaultTokenFile: `${tokenFile}-none` })),
    /cannot be read \(ENOENT\)/,
  );
  await assert.rejects(
    read('kv/a.b', open({ vaultAddress: 'http://127.0.0.1:9' })),
    /the connection was refused|cannot be reached/,
  );
  const store = openVault({
    settings: {
      vaultAddress: undefined,
      vaultTokenFile: undefined,
      gcpProject: undefined,
      gcpSecretsAddress: '',
      azureVaultAddress: '',
    },
    environment: {},
  });
  await assert.rejects(read('kv/a.b', store), /ENVARIUM_VAULT_ADDRESS is not set/);
});

test('a Vault that does not answer ends with the reason of the signal', async () => {
  server.isSilent = true;
  await assert.rejects(open().read('kv/apps/one.password', AbortSignal.timeout(200)), {
    name: 'TimeoutError',
  });
  server.isSilent = false;
});
