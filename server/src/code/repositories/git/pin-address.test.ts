/** Addresses from which the service reads repositories. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { gitEnvironment } from '#guards/git/git-environment.ts';
import { skipUnlessRequired } from '../../../../../tools/toolbox/places.ts';
import { testApp } from '../../../../testing/app.ts';
import { innerService } from '../../../../testing/git-repository.ts';
import { fetchedFrom } from './fetch-commit.ts';
import { listRevisions } from './open-repository.ts';
import { pinAddress } from './pin-address.ts';
import { gitProgram } from './run-git.ts';

const inner = await innerService();
const { port } = inner;

const closed = await testApp();
const open = await testApp({ ENVARIUM_GIT_NETWORKS: '127.0.0.0/8' });
const sourceOf = (repository: string) => ({
  repository,
  httpHosts: [],
  localPaths: [],
  ssh: { keys: [], knownHosts: '' },
});

async function failure({ context }: typeof closed, repository: string): Promise<string> {
  const reading = listRevisions(context, sourceOf(repository) as Parameters<typeof listRevisions>[1]);
  const error = await reading.then(
    () => assert.fail(`${repository} was read`),
    (error: Error) => error,
  );
  return error.message.replace(repository, '<repository>');
}

const withoutSsh = spawnSync('ssh', ['-V']).status !== 0 && skipUnlessRequired('needs ssh').skip;
const addresses = (host: string) => [
  `https://${host}:${port}/code.git`,
  `ssh://git@${host}:${port}/code.git`,
];

test('the service does not connect to private networks, by name or by address', async () => {
  const inside = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1'];
  for (const repository of inside.flatMap(addresses))
    assert.match(
      await failure(closed, repository),
      /cannot be reached by the service: check its address/,
      repository,
    );
  assert.equal(inner.connections(), 0);
});

test('what is closed, does not exist, or does not answer gets one message', async (t) => {
  const dead = createServer().listen(0, '127.0.0.1');
  await once(dead, 'listening');
  const unused = (dead.address() as AddressInfo).port;
  dead.close();
  const messages = await Promise.all([
    failure(closed, `https://127.0.0.1:${port}/code.git`),
    failure(closed, 'https://nowhere.invalid/code.git'),
    failure(open, `https://127.0.0.1:${unused}/code.git`),
  ]);
  assert.equal(new Set(messages).size, 1, messages.join('\n'));
  await t.test('also over ssh', { skip: withoutSsh }, async () => {
    assert.equal(await failure(open, `ssh://git@127.0.0.1:${unused}/code.git`), messages[0]);
  });
});

for (const [index, skip] of [false, withoutSsh].entries()) {
  const repository = addresses('localhost')[index] ?? '';
  test(`networks that the operator names are read: ${new URL(repository).protocol}`, { skip }, async () => {
    const before = inner.connections();
    await failure(open, repository);
    assert.ok(inner.connections() > before);
  });
}

test('git gets the addresses that were checked, and follows no redirect', async () => {
  const source = sourceOf('https://localhost:8443/code.git') as Parameters<typeof fetchedFrom>[0];
  const connection = { isProxied: false, program: gitProgram() };
  const { access } = await pinAddress(open.context.settings, fetchedFrom(source, undefined), connection);
  assert.ok(access.kind === 'web');
  assert.match(access.resolved ?? '', /^localhost:8443:.*127\.0\.0\.1/);
  const environment = gitEnvironment({
    configurationFile: '/nowhere',
    home: '/nowhere',
    path: '/usr/bin',
    protocols: 'https',
    followsRedirects: false,
    url: access.url,
    resolved: access.resolved,
  });
  const values = Object.values(environment);
  assert.ok(values.includes('http.curloptResolve') && values.includes('http.followRedirects'));
});
