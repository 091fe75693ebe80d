import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ReplayServer, startReplayServer } from '../../../testing/secret-stores/replay-server.ts';
import { openGcp } from './gcp.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keyFile = join(tmpdir(), `gcp-key-${randomUUID()}.json`);
const token = {
  status: 200,
  body: { access_token: 'ya29.recorded', expires_in: 3599, token_type: 'Bearer' },
};
const denial = {
  status: 403,
  body: {
    error: {
      code: 403,
      message: "Permission 'secretmanager.versions.access' denied",
      status: 'PERMISSION_DENIED',
    },
  },
};
const missing = {
  status: 404,
  body: { error: { code: 404, message: 'Secret [x] not found', status: 'NOT_FOUND' } },
};

function version(name: string, content: string | Buffer) {
  const data = Buffer.from(content).toString('base64');
  return {
    status: 200,
    body: { name: `projects/100/secrets/${name}/versions/3`, payload: { data, dataCrc32c: '1' } },
  };
}

const at = (path: string) => `GET /v1/projects/${path}:access`;
let server: ReplayServer;

before(async () => {
  server = await startReplayServer({
    'POST /token': token,
    'GET /computeMetadata/v1/instance/service-accounts/default/token': token,
    [at('own/secrets/db/versions/latest')]: version('db', '{"password":"recorded-password"}'),
    [at('own/secrets/text/versions/latest')]: version('text', 'größer €'),
    [at('other/secrets/db/versions/2')]: version('db', 'second version'),
    [at('own/secrets/bytes/versions/latest')]: version('bytes', Buffer.from([0xff, 0, 1])),
    [at('own/secrets/closed/versions/latest')]: denial,
    [at('own/secrets/none/versions/latest')]: missing,
    [at('own/secrets/busy/versions/latest')]: { status: 502, body: '<html>recorded-password</html>' },
  });
  const key = {
    type: 'service_account',
    client_email: 'agent@own.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${server.address}/token`,
  };
  await writeFile(keyFile, JSON.stringify(key));
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(keyFile, { force: true });
});

function read(
  name: string,
  environment: Record<string, string> = { GOOGLE_APPLICATION_CREDENTIALS: keyFile },
) {
  const settings = {
    gcpProject: 'own',
    gcpSecretsAddress: server.address,
    vaultAddress: undefined,
    vaultTokenFile: undefined,
    azureVaultAddress: '',
  };
  return openGcp({ settings, environment }).read(name, AbortSignal.timeout(10_000));
}

test('the latest version, another one, a field and a text of several bytes per character are read', async () => {
  assert.deepEqual(await read('db'), { text: '{"password":"recorded-password"}' });
  assert.deepEqual(await read('db#password'), { text: 'recorded-password' });
  assert.deepEqual(await read('projects/other/secrets/db/versions/2'), { text: 'second version' });
  assert.deepEqual(await read('text'), { text: 'größer €' });
});

test('a service account proves itself with a signed statement, and the token goes to the store', async () => {
  const from = server.requests.length;
  await read('text');
  const [exchange, access] = server.requests.slice(from);
  const [head = '', claims = '', signature = ''] = (exchange?.form.get('assertion') ?? '').split('.');
  assert.ok(
    verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      Buffer.from(signature, 'base64url'),
    ),
  );
  const { iss, aud, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    [iss, aud, Number(exp) - Number(iat)],
    ['agent@own.iam.gserviceaccount.com', `${server.address}/token`, 600],
  );
  assert.equal(access?.headers['authorization'], 'Bearer ya29.recorded');
});

test('without a key file, the machine is the identity', async () => {
  const from = server.requests.length;
  const host = { GCE_METADATA_HOST: new URL(server.address).host };
  assert.deepEqual(await read('text', host), { text: 'größer €' });
  assert.equal(server.requests[from]?.headers['metadata-flavor'], 'Google');
});

test('what cannot be read is refused with a reason', async () => {
  await assert.rejects(read('none'), /has no such secret/);
  await assert.rejects(read('closed'), /needs the role roles\/secretmanager.secretAccessor/);
  await assert.rejects(read('bytes'), /the secret is binary/);
  await assert.rejects(read('busy'), { message: 'Google Secret Manager answered with status 502' });
  await assert.rejects(
    read('text', { GOOGLE_APPLICATION_CREDENTIALS: `${keyFile}-none` }),
    /cannot be read \(ENOENT\)/,
  );
  for (const name of [
    '',
    'a/b',
    'a:destroy',
    'projects/x/../secrets/a',
    'projects/x/secrets/a/versions/1/..',
    'a?b',
  ])
    await assert.rejects(read(name), /the reference must have the form/);
});
