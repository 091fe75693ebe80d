import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { agentSettings } from '#settings/agent.ts';
import { readProgramSettings } from '#settings/settings.ts';
import { startVaultServer, type VaultServer, vaultToken } from '../../testing/secret-stores/vault-server.ts';
import { referenceResolver } from './resolve-references.ts';

const tokenFile = join(tmpdir(), `vault-token-${randomUUID()}`);
let server: VaultServer;

before(async () => {
  server = await startVaultServer();
  await writeFile(tokenFile, vaultToken);
  server.putV2('app', { password: 'planted-secret', zero: 'a\0b' });
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(tokenFile, { force: true });
});

const never = new AbortController().signal;

function variable(name: string, value: string, more: Partial<JobVariable> = {}): JobVariable {
  return { name, value, isSensitive: false, scope: 'PROJECT', ...more };
}

function resolve(variables: Partial<Job['variables']>, settings: Record<string, string> = {}): Promise<Job> {
  const job = {
    organizationId: 'organization-1',
    projectId: 'project-1',
    environmentId: 'environment-1',
    variables: { environment: [], terraform: [], ...variables },
    secrets: ['of-the-job'],
    limits: { runSeconds: 3600 },
  } as unknown as Job;
  const resolver = referenceResolver({
    settings: readProgramSettings(agentSettings, {
      ENVARIUM_SECRET_REFERENCES: 'vault:*',
      ENVARIUM_VAULT_ADDRESS: server.address,
      ENVARIUM_VAULT_TOKEN_FILE: tokenFile,
      ...settings,
    }),
    environment: {},
  });
  return resolver(job, never);
}

test('a value that is a reference as a whole is replaced, masked, and keeps its text', async () => {
  const job = await resolve({
    environment: [variable('PASSWORD', '${vault:secret/app.password@}')],
    terraform: [variable('password', '${vault:secret/app.password@}', { format: 'HCL' })],
  });
  const { environment, terraform } = job.variables;
  for (const one of [...environment, ...terraform]) {
    assert.equal(one.value, 'planted-secret');
    assert.equal(one.reference, '${vault:secret/app.password@}');
    assert.equal(one.isSensitive, true);
  }
  assert.deepEqual(job.secrets, ['of-the-job', 'planted-secret']);
  assert.deepEqual(job.resolution, { failures: [], warnings: [] });
});

test('other values stay as they are, and a reference inside other text is warned about', async () => {
  const untouched = [
    '',
    'text',
    '${ENVARIUM_PROJECT_ID}',
    '${oci:ocid1.secret}',
    '${ssm}',
    '$${ssm:a}',
    '${other:x}',
  ];
  const values = untouched.map((value, index) => variable(`V${index}`, value));
  const job = await resolve({ environment: values });
  assert.deepEqual(job.variables.environment, values);
  const inside = await resolve({
    environment: [variable('URL', 'postgres://${ssm:a}@host', { isSensitive: true })],
  });
  assert.equal(inside.variables.environment[0]?.value, 'postgres://${ssm:a}@host');
  assert.deepEqual(inside.resolution?.warnings, [
    'Variable "URL" (scope PROJECT) contains a reference to a secret store inside other text: only a reference that is the whole value is resolved',
  ]);
});

test('a value from another environment is text, even where another variable has the same reference', async () => {
  const value = '${vault:secret/app.password@}';
  const literal = variable('FROM_OUTPUT', value, { isLiteral: true });
  const job = await resolve({ environment: [literal, variable('PASSWORD', value)] });
  assert.deepEqual(job.variables.environment[0], literal);
  assert.equal(job.variables.environment[1]?.value, 'planted-secret');
});

test('a store that is not switched on fails with variable, scope and setting', async () => {
  const job = await resolve({
    environment: [variable('A', '${ssm:/a}'), variable('B', '${gcp:b}', { isSensitive: true })],
  });
  assert.deepEqual(job.resolution?.failures, [
    'Variable "A" (scope PROJECT): ${ssm:/a} cannot be read: this agent does not read from ssm; add ssm:* to its setting ENVARIUM_SECRET_REFERENCES to allow it',
    'Variable "B" (scope PROJECT): the secret that it refers to cannot be read: this agent does not read from gcp; add gcp:* to its setting ENVARIUM_SECRET_REFERENCES to allow it',
  ]);
  assert.equal(job.variables.environment[0]?.value, '${ssm:/a}');
});

test('patterns allow names for one project, and no others', async () => {
  const allowed = { ENVARIUM_SECRET_REFERENCES: 'vault:secret/{projectId}/*, vault:secret/*-public.key@' };
  server.putV2('project-1/db', { key: 'own-secret' });
  server.putV2('project-2/db', { key: 'other-secret' });
  server.putV2('app-public', { key: 'public-secret' });
  const names = [
    'project-1/db.key@',
    'project-2/db.key@',
    'app-public.key@',
    'project-10/db.key@',
    'project-1/../app.password',
  ];
  const job = await resolve(
    { environment: names.map((name) => variable(name, `\${vault:secret/${name}}`)) },
    allowed,
  );
  const found = job.variables.environment.map(({ value }) => value);
  assert.deepEqual([found[0], found[2]], ['own-secret', 'public-secret']);
  const failures = job.resolution?.failures ?? [];
  assert.equal(failures.length, 3);
  assert.match(
    failures[0] ?? '',
    /project-2.*no pattern in ENVARIUM_SECRET_REFERENCES of the agent allows it/,
  );
  assert.match(failures[2] ?? '', /an empty segment or an unusual character/);
});

test('patterns for Vault compare path, key and namespace apart', async () => {
  server.putV2('apps/db', { public: 'public-secret', password: 'other-secret' });
  server.putV2('apps/db', { public: 'of-the-team', password: 'other-of-the-team' }, 'team');
  server.putV2('apps/v1.2/db', { key: 'dotted-secret' });
  server.putV2('apps/v1', { '2/key': 'slash-secret' });
  const readable = async (pattern: string) => {
    const names = [
      'db.public',
      'db.password',
      'db.public@team',
      'db.password@team',
      'v1.2/db.key',
      'v1.2/key',
    ];
    const job = await resolve(
      { environment: names.map((name) => variable(name, `\${vault:secret/apps/${name}}`)) },
      { ENVARIUM_SECRET_REFERENCES: `vault:${pattern}` },
    );
    const failures = job.resolution?.failures ?? [];
    assert.ok(
      failures.every((one) => /no pattern in ENVARIUM_SECRET_REFERENCES/.test(one)),
      String(failures),
    );
    return job.variables.environment.flatMap(({ name, isSensitive }) => (isSensitive ? [name] : []));
  };
  const here = ['db.public', 'db.password', 'v1.2/db.key', 'v1.2/key'];
  assert.deepEqual(await readable('secret/apps/*'), here);
  assert.deepEqual(await readable('*'), here);
  assert.deepEqual(await readable('secret/*/db*'), ['db.public', 'db.password', 'v1.2/db.key']);
  assert.deepEqual(await readable('secret/apps/*.public'), ['db.public']);
  assert.deepEqual(await readable('secret/apps/*.public@*'), ['db.public', 'db.public@team']);
  assert.deepEqual(await readable('secret/apps/db@team'), ['db.public@team', 'db.password@team']);
  assert.deepEqual(await readable('*team'), []);
  assert.deepEqual(await readable('secret/apps/v1.2/*'), ['v1.2/db.key']);
});

test('a store that hangs is given up after the time of the setting, for all references together', async () => {
  server.isSilent = true;
  const began = performance.now();
  const values = Array.from({ length: 20 }, (_, index) => variable(`V${index}`, `\${vault:kv/${index}.key}`));
  const job = await resolve({ environment: values }, { ENVARIUM_SECRET_REFERENCES_TIMEOUT_SECONDS: '1' });
  server.isSilent = false;
  assert.ok(performance.now() - began < 3_000);
  assert.equal(job.resolution?.failures.length, 20);
  assert.match(
    job.resolution?.failures[19] ?? '',
    /no answer within 1 s \(ENVARIUM_SECRET_REFERENCES_TIMEOUT_SECONDS\)/,
  );
});

test('no part of a secret is in a failure', async () => {
  const job = await resolve({ environment: [variable('ZERO', '${vault:secret/app.zero}')] });
  assert.match(job.resolution?.failures[0] ?? '', /the secret contains a NUL character$/);
  assert.doesNotMatch(JSON.stringify(job), /a\\u0000b/);
});

test('a lease that is shorter than the run may be is warned about', async () => {
  const job = await resolve({ environment: [variable('DB', '${vault:database/creds/app.password}')] });
  assert.match(job.resolution?.warnings[0] ?? '', /lends the secret for 60 s, and this run may take 3600 s/);
});

test('malformed patterns stop the start and name the setting', () => {
  for (const value of ['ssm', 'other:*', 'ssm:', 'vault:{project}/*'])
    assert.throws(
      () => readProgramSettings(agentSettings, { ENVARIUM_SECRET_REFERENCES: value }),
      /ENVARIUM_SECRET_REFERENCES must be patterns such as/,
    );
});
