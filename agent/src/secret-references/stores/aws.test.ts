import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { type AwsServer, startAwsServer, withAwsServer } from '../../../testing/secret-stores/aws-server.ts';
import { openAws } from './aws.ts';

const needed = withAwsServer();
let server: AwsServer | undefined;

before(async () => {
  if (needed.skip !== false) return;
  server = await startAwsServer();
  Object.assign(process.env, server.environment);
  const [parameters, secrets] = [new SSMClient({}), new SecretsManagerClient({})];
  await parameters.send(
    new PutParameterCommand({ Name: '/app/password', Value: 'of-parameter', Type: 'SecureString' }),
  );
  await parameters.send(new PutParameterCommand({ Name: 'plain', Value: 'plain-parameter', Type: 'String' }));
  await secrets.send(
    new CreateSecretCommand({ Name: 'database', SecretString: '{"user":"app","password":"of-secret"}' }),
  );
  await secrets.send(new CreateSecretCommand({ Name: '/begins/with-slash', SecretString: 'slash-secret' }));
  await secrets.send(new CreateSecretCommand({ Name: 'bytes', SecretBinary: Uint8Array.of(0xff, 0xfe, 0) }));
  await secrets.send(
    new CreateSecretCommand({ Name: 'text-bytes', SecretBinary: Buffer.from('written as bytes') }),
  );
  await new SecretsManagerClient({ region: 'us-east-2' }).send(
    new CreateSecretCommand({ Name: 'elsewhere', SecretString: 'in-ohio' }),
  );
});
after(() => server?.[Symbol.asyncDispose]());

const read = (name: string) => openAws().read(name, AbortSignal.timeout(20_000));

test('parameters and secrets are read, whichever of the two a name belongs to', needed, async () => {
  assert.deepEqual(await read('/app/password'), { text: 'of-parameter' });
  assert.deepEqual(await read('/app/password:1'), { text: 'of-parameter' });
  assert.deepEqual(await read('plain'), { text: 'plain-parameter' });
  assert.deepEqual(await read('database'), { text: '{"user":"app","password":"of-secret"}' });
  assert.deepEqual(await read('/begins/with-slash'), { text: 'slash-secret' });
});

test('a field of a JSON secret is read by its key', needed, async () => {
  assert.deepEqual(await read('database#password'), { text: 'of-secret' });
  await assert.rejects(read('database#other'), /no field "other"/);
  await assert.rejects(read('plain#key'), /the secret is not JSON, so that it has no field "key"/);
});

test('binary secrets are refused unless they are text', needed, async () => {
  assert.deepEqual(await read('text-bytes'), { text: 'written as bytes' });
  await assert.rejects(read('bytes'), /the secret is binary/);
});

test('an unknown name is refused with the region that was searched', needed, async () => {
  await assert.rejects(
    read('unknown'),
    /Secrets Manager has no such name in region eu-west-1, and .*Parameter Store has no/,
  );
  await assert.rejects(read('elsewhere'), /has no such name in region eu-west-1/);
  await assert.rejects(
    read('arn:aws:ssm:eu-west-1:123456789012:parameter/none'),
    /Parameter Store has no such name in region eu-west-1$/,
  );
});

test('the region of an ARN is used', needed, async () => {
  const { ARN } = await new SecretsManagerClient({ region: 'us-east-2' }).send(
    new CreateSecretCommand({ Name: 'by-arn', SecretString: 'found-by-arn' }),
  );
  assert.deepEqual(await read(ARN ?? ''), { text: 'found-by-arn' });
});

test('without region, credentials or a server, the reason says which', needed, async (t) => {
  const { AWS_REGION, AWS_ENDPOINT_URL } = process.env;
  t.after(() => Object.assign(process.env, { AWS_REGION, AWS_ENDPOINT_URL }));
  process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:9';
  await assert.rejects(read('/app/password'), /Parameter Store cannot be read in region eu-west-1/);
  delete process.env.AWS_REGION;
  await assert.rejects(read('/app/password'), /AWS_REGION is not set for the agent/);
});

test('a name of another form is refused', needed, async () => {
  for (const name of ['', '#key', 'a b', 'a\nb', 'x'.repeat(3000)])
    await assert.rejects(read(name), /must have the form/);
});

test('a web page in the place of an answer is named', async () => {
  const environment = { ...process.env };
  const page = createServer((_, response) =>
    response.writeHead(403, { 'content-type': 'text/html' }).end('<html><title>Blocked</title></html>'),
  );
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const { port } = page.address() as AddressInfo;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
  });
  try {
    await assert.rejects(
      openAws().read('/app/password', new AbortController().signal),
      /^SecretProblem: AWS Systems Manager Parameter Store: a web page was answered instead of AWS \(status 403, "Blocked"\)/,
    );
  } finally {
    process.env = environment;
    page.close();
  }
});
