import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPrivateKey } from '#guards/read-private-key.ts';
import { testAgent } from '../../../testing/agent.ts';
import { startTests } from '../../../testing/start.ts';

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
}) as string;
const hasKeygen = (() => {
  try {
    execFileSync('ssh-keygen', ['-?'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
})();
const needsKeygen = { skip: hasKeygen ? false : 'needs ssh-keygen (package "openssh-client")' };

function makeKey(...options: string[]): { privateKey: string; publicKey: string } {
  const folder = mkdtempSync(join(tmpdir(), 'key-'));
  try {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-C', 'test', '-f', join(folder, 'key'), ...options]);
    return {
      privateKey: readFileSync(join(folder, 'key'), 'utf8'),
      publicKey: readFileSync(join(folder, 'key.pub'), 'utf8'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const tests = await startTests({
  ENVARIUM_GIT_KNOWN_HOSTS: 'git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9fXkbR',
});
const { app, organizationId, ok, refused, sql, add, createBody, createEnvironment } = tests;
const create = (name: string, value = pem) => add('SshKey', name, { value });

test('a key is listed but never shown, can be replaced, and reaches its runs with the known hosts', async () => {
  const key = await create('deploy', `\r\n${pem.replaceAll('\n', '\r\n')}  `);
  assert.deepEqual(
    [key.name, key.organizationId, key.value, key.userId, key.user.user_id],
    ['deploy', organizationId, '********', 'admin', 'admin'],
  );
  assert.deepEqual(await ok('listSshKeys', { query: { organizationId } }), [key]);
  const agent = await testAgent(app);
  const repository = 'git@git.example.com:team/code.git';
  await createEnvironment({ repository, sshKeys: [{ id: key.id, name: 'deploy' }] });
  const job = await agent.claim();
  assert.deepEqual(job.source.ssh?.keys, [pem]);
  assert.match(job.source.ssh?.knownHosts ?? '', /^git\.example\.com .*\n(.*\n)*github\.com /);
  assert.ok(job.secrets.includes(pem));
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'sec1',
    format: 'pem',
  }) as string;
  const replaced = await ok('updateSshKey', { id: key.id, body: { value: other } });
  assert.deepEqual([replaced.id, replaced.name, replaced.value], [key.id, 'deploy', '********']);
  await createEnvironment({ repository, sshKeys: [{ id: key.id }] });
  assert.deepEqual((await agent.claim()).source.ssh?.keys, [other]);
  const used = await ok('getSshKey', { id: key.id });
  assert.deepEqual(
    used.usedBy.map(({ type, name }) => `${type} ${name}`),
    ['environment network', 'environment network'],
  );
  assert.match(
    (await refused('deleteSshKey', 409, { id: key.id })).message,
    /^SSH key "deploy" is used by the environment "network" and the environment "network"/,
  );
  await sql("update environment set status = 'DESTROY_IN_PROGRESS'");
  assert.deepEqual(await ok('deleteSshKey', { id: key.id }), { id: key.id });
  await refused('updateSshKey', 404, { id: key.id, body: { value: pem } });
});

test('an environment without SSH gets neither keys nor hosts', async () => {
  const agent = await testAgent(app);
  await createEnvironment();
  assert.equal((await agent.claim()).source.ssh, undefined);
});

test('a name is unique in an organization', async () => {
  await create('twice');
  await refused('createSshKey', 409, /"twice"/, { body: { organizationId, name: 'twice', value: pem } });
});

test('deleted keys and those of other organizations cannot be used', async () => {
  const { id: gone } = await create('gone');
  await ok('deleteSshKey', { id: gone });
  const { id: known } = await create('known');
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await ok('createSshKey', {
    body: { organizationId: elsewhere, name: 'theirs', value: pem },
  });
  for (const id of [gone, foreign.id, 'no-uuid']) {
    const body = createBody({ sshKeys: [{ id: known }, { id }] });
    assert.match(
      (await refused('createEnvironmentWithoutTemplate', 400, { body })).message,
      /^\/body\/sshKeys\/1\/id does not match an SSH key/,
    );
  }
});

test('a value that is not a private key is refused with advice, and never repeated', async () => {
  const encrypted = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const bad: [string, RegExp][] = [
    ['garbage-of-no-key', /not a complete private key/],
    [pem.slice(0, 600), /not a complete private key/],
    [pem.replace(/\n[^\n]{64}\n/, '\n'), /cannot be read/],
    [encrypted.privateKey, /passphrase/],
    [encrypted.publicKey, /is a public key/],
    ['ssh-ed25519 AAAAC3Nza me@host', /is a public key/],
    ['PuTTY-User-Key-File-3: ssh-ed25519', /PuTTY/],
    [pem.replaceAll('\n', '\\n'), /real line breaks/],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', /truncated or damaged/],
  ];
  for (const [value, reason] of bad) {
    const { message } = await refused('createSshKey', 400, { body: { organizationId, name: 'bad', value } });
    assert.match(message, /^\/body\/value /);
    assert.match(message, reason);
    assert.doesNotMatch(message, /garbage-of-no-key/);
  }
});

test('an OpenSSH key is accepted, but not with a passphrase, truncated or damaged', needsKeygen, () => {
  const { privateKey } = makeKey('-N', '');
  assert.deepEqual(readPrivateKey(privateKey.trim()), { key: privateKey });
  const refusal = (value: string) => {
    const reading = readPrivateKey(value);
    return 'refusal' in reading ? reading.refusal : 'taken';
  };
  assert.match(refusal(makeKey('-N', 'secret words').privateKey), /passphrase/);
  const lines = privateKey.trim().split('\n');
  assert.match(refusal([...lines.slice(0, 3), lines.at(-1)].join('\n')), /truncated or damaged/);
});
